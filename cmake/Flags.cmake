# Compiler flags every target shares, as the interface library `assay_flags`.
add_library(assay_flags INTERFACE)
target_include_directories(assay_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(assay_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wcast-align -Wnull-dereference -Wdouble-promotion -Werror
  # Contraction would round the random fillers differently on machines with and without FMA.
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these inside libstdc++ and fmt themselves once they are inlined (bugs 105329, 105651).
  target_compile_options(assay_flags INTERFACE
    -Wno-restrict -Wno-null-dereference -Wno-maybe-uninitialized -Wno-array-bounds
    -Wno-stringop-overflow -Wno-dangling-reference)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(assay_flags INTERFACE -march=x86-64-v2)
endif()
if(ASSAY_SANITIZE)
  target_compile_options(assay_flags INTERFACE
    -fsanitize=${ASSAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(assay_flags INTERFACE -fsanitize=${ASSAY_SANITIZE})
endif()
target_link_options(assay_flags INTERFACE -Wl,--as-needed)

# Only ./test builds sanitized code, from nothing each time in CI, and a third of that went into
# parsing these. Release stays without, so that every file proves that it includes what it uses.
set(precompiled <algorithm> <functional> <map> <optional> <string> <vector>
  <fmt/format.h> "${CMAKE_SOURCE_DIR}/src/base/json.h")
