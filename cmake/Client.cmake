# SPDX-License-Identifier: Apache-2.0
# The client library for other programs: client/ -> lib/libfathom-client.a, installed with its
# header, a CMake package (find_package(fathom-client)) and the Python module.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(fathom_add_client)
  add_library(fathom_client_library STATIC ${CMAKE_SOURCE_DIR}/client/src/client.cpp)
  set_target_properties(fathom_client_library PROPERTIES
    OUTPUT_NAME fathom-client EXPORT_NAME fathom-client POSITION_INDEPENDENT_CODE ON
    ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  target_compile_features(fathom_client_library PUBLIC cxx_std_17)
  target_compile_options(fathom_client_library PRIVATE -Wall -Wextra ${FATHOM_PREFIX_MAPS})
  target_include_directories(fathom_client_library PUBLIC
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/client/include> $<INSTALL_INTERFACE:include>)
  add_dependencies(fathom fathom_client_library)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/fathom-client)
  install(TARGETS fathom_client_library EXPORT fathom-client COMPONENT client
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/client/include/ DESTINATION include COMPONENT client)
  install(FILES ${CMAKE_SOURCE_DIR}/client/python/fathom_client.py
    DESTINATION share/fathom/python COMPONENT client)
  install(EXPORT fathom-client NAMESPACE fathom:: DESTINATION ${package} COMPONENT client
    FILE fathom-client-config.cmake)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/fathom-client-config-version.cmake
    COMPATIBILITY SameMajorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/fathom-client-config-version.cmake DESTINATION ${package}
    COMPONENT client)
endfunction()
