# SPDX-License-Identifier: Apache-2.0
# tests/fuzz/NAME_fuzz.cpp -> fuzz/NAME_fuzz, a libFuzzer program. Target fuzzers builds them all.

function(fathom_add_fuzzers)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "FATHOM_FUZZ needs clang: use the preset fuzz")
  endif()
  add_custom_target(fuzzers)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*_fuzz.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    target_link_libraries(${name} PRIVATE fathom_hub)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name})
  endforeach()
endfunction()
