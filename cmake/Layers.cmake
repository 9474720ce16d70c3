# SPDX-License-Identifier: Apache-2.0
# One static library per folder named in src/LAYERS, each linked to all those on lower lines, and
# bin/fathom on top. Folders that are missing or hold only headers cost nothing.

add_library(fathom_common INTERFACE)
target_link_libraries(fathom_common INTERFACE fathom_flags fathom_deps)
target_include_directories(fathom_common INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_include_directories(fathom_common SYSTEM INTERFACE ${FATHOM_GEN})

# fathom_add_layer(NAME LOWER...): the library fathom_NAME.
function(fathom_add_layer name)
  set(dir ${CMAKE_SOURCE_DIR}/src/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cpp)
  file(GLOB_RECURSE bpf CONFIGURE_DEPENDS ${dir}/*.bpf.c)
  list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/src/cli/main.cpp)
  if(FATHOM_FUZZ)  # clang 14 has no coroutines for libstdc++, and no fuzzer serves
    foreach(network IN ITEMS server connection rejected_connection legacy_client)
      list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/src/hub/${network}.cpp)
    endforeach()
  endif()
  list(TRANSFORM ARGN PREPEND fathom_ OUTPUT_VARIABLE lower)
  list(REVERSE lower)
  if(NOT sources)
    add_library(fathom_${name} INTERFACE)
    target_link_libraries(fathom_${name} INTERFACE ${lower} fathom_common)
    return()
  endif()
  add_library(fathom_${name} STATIC ${sources})
  fathom_compile_in_batches(fathom_${name})
  target_link_libraries(fathom_${name} PUBLIC ${lower} fathom_common)
  # libiberty.h declares a basename() that differs from the one of <cstring>. The files of probes define
  # names that others define, too: LostRecord, Process, kRingBytes.
  set(alone symbol/demangle.cpp)
  foreach(stem counters/counter_set counters/thread_counts event_rings exec/exec_program io/call_stacks
      io/coverage io/io_probe io/kernel_calls io/program_watch io/ring_per_cpu resources/mpi_rank
      resources/perf_tasks resources/proc_tasks resources/resources_probe resources/throttle_reader
      resources/tree_poll simulate/simulate_probe stack_builder stacks/examine stacks/perf_samples)
    list(APPEND alone probe/${stem}.cpp)
  endforeach()
  list(TRANSFORM alone PREPEND ${CMAKE_SOURCE_DIR}/src/)
  set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  foreach(source IN LISTS bpf)
    fathom_add_bpf(fathom_${name} ${source})
  endforeach()
endfunction()

# Sets FATHOM_LAYERS to the names in order. wire and inject are no libraries of the program.
function(fathom_add_layers)
  set(layers_file ${CMAKE_SOURCE_DIR}/src/LAYERS)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${layers_file})
  file(STRINGS ${layers_file} lines REGEX "^[^#]")
  set(lower "")
  foreach(line IN LISTS lines)
    separate_arguments(names UNIX_COMMAND "${line}")
    list(REMOVE_ITEM names wire inject)
    if(FATHOM_FUZZ)  # no fuzzer needs them, and they are two fifths of the work
      list(REMOVE_ITEM names report cli)
    endif()
    foreach(name IN LISTS names)
      fathom_add_layer(${name} ${lower})
    endforeach()
    list(APPEND lower ${names})
  endforeach()
  set(FATHOM_LAYERS ${lower} PARENT_SCOPE)
endfunction()

function(fathom_add_program)
  set(main ${CMAKE_SOURCE_DIR}/src/cli/main.cpp)
  file(GLOB found CONFIGURE_DEPENDS ${main})
  if(NOT found)
    message(STATUS "src/cli/main.cpp is absent: no program")
    return()
  endif()
  add_executable(fathom ${main})
  target_link_libraries(fathom PRIVATE fathom_cli)
  file(MAKE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  if(FATHOM_STATIC_RUNTIME)
    target_link_options(fathom PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  # The commands of seed 001 are links to the program, which looks at the name it is called by.
  foreach(name profiling-server profiling-controller profiling-client benchmark-client)
    file(CREATE_LINK fathom ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name} SYMBOLIC)
  endforeach()
  foreach(part fathom_spawn fathom_hold fathom_inject)
    if(TARGET ${part})
      add_dependencies(fathom ${part})
    endif()
  endforeach()
endfunction()
