# Runs at install time: the licence of each package that a copied library, or a header compiled into
# ours, came from.
set(packages nlohmann-json3-dev libcli11-dev)
file(GLOB libraries RELATIVE ${CMAKE_INSTALL_PREFIX}/lib ${CMAKE_INSTALL_PREFIX}/lib/*.so*)
foreach(library IN LISTS libraries)
  execute_process(COMMAND dpkg-query --search "*-linux-gnu/${library}"
    OUTPUT_VARIABLE owner ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    string(REGEX MATCH "^[^:]+" package "${owner}")
    list(APPEND packages ${package})
  endif()
endforeach()
list(REMOVE_DUPLICATES packages)
foreach(package IN LISTS packages)
  if(EXISTS /usr/share/doc/${package}/copyright)
    file(INSTALL /usr/share/doc/${package}/copyright
      DESTINATION ${CMAKE_INSTALL_PREFIX}/share/doc/assay/licenses RENAME ${package})
  endif()
endforeach()
