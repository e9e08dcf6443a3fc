# What a user runs, and `cmake --install` of it: a folder that works from any path on a Linux with
# nothing but glibc. Every module under backends/ joins without a line here.
#   bin/assay  lib/libassay.so.0 and the libraries needed  lib/assay/*.so  share/assay (data)  LICENSE
set(modules)
get_property(backends DIRECTORY ${CMAKE_SOURCE_DIR}/backends PROPERTY SUBDIRECTORIES)
foreach(backend IN LISTS backends)
  get_property(targets DIRECTORY ${backend} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "MODULE_LIBRARY")
      list(APPEND modules ${target})
    endif()
  endforeach()
endforeach()

add_custom_target(program DEPENDS assay ${modules})

# A copied library that needs another copied one has no path of its own. It is found by the path of
# what loaded it, which only the older tag, DT_RPATH, hands down.
foreach(target IN LISTS modules ITEMS assay assay_core)
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endforeach()
set_target_properties(assay PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
set_target_properties(assay_core PROPERTIES INSTALL_RPATH "$ORIGIN")
if(modules)
  set_target_properties(${modules} PROPERTIES INSTALL_RPATH "$ORIGIN/..:$ORIGIN")
  install(TARGETS ${modules} RUNTIME_DEPENDENCY_SET needed LIBRARY DESTINATION lib/assay)
endif()
install(TARGETS assay assay_core RUNTIME_DEPENDENCY_SET needed
  RUNTIME DESTINATION bin LIBRARY DESTINATION lib NAMELINK_SKIP)

# oneDNN is opened at run time, so no binary names it: the module's own library path finds it.
find_library(DNNL_LIBRARY dnnl REQUIRED)
file(READ_SYMLINK ${DNNL_LIBRARY} dnnl_soname)
cmake_path(GET dnnl_soname FILENAME dnnl_soname)
file(REAL_PATH ${DNNL_LIBRARY} dnnl_file)
add_library(dnnl SHARED IMPORTED)
set_target_properties(dnnl PROPERTIES IMPORTED_LOCATION ${dnnl_file})
install(IMPORTED_RUNTIME_ARTIFACTS dnnl RUNTIME_DEPENDENCY_SET needed LIBRARY DESTINATION lib)
cmake_path(GET dnnl_file FILENAME dnnl_name)
if(NOT dnnl_name STREQUAL dnnl_soname)
  install(CODE "
    set(lib \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib\")
    file(RENAME \"\${lib}/${dnnl_name}\" \"\${lib}/${dnnl_soname}\")")
endif()

install(RUNTIME_DEPENDENCY_SET needed DESTINATION lib
  PRE_EXCLUDE_REGEXES "^(libc|libm|libmvec|libdl|libpthread|librt|libresolv|libutil|ld-linux.*)\\.so")
install(DIRECTORY data/ DESTINATION share/assay)
install(FILES LICENSE DESTINATION .)
install(SCRIPT cmake/DistLicenses.cmake)
