# SPDX-License-Identifier: Apache-2.0
# tests/LAYER/**.cpp -> test_LAYER; tests/workloads/NAME.{c,cpp} -> workloads/NAME;
# tests/workloads/shared/NAME.c -> workloads/libNAME.so; bench/NAME.cpp -> bench/NAME.

find_package(GTest)
find_package(benchmark QUIET)
include(CheckCSourceCompiles)
include(GoogleTest)

function(fathom_add_tests)
  if(NOT GTest_FOUND)
    message(STATUS "GoogleTest is absent (tools/setup test): no unit tests")
    return()
  endif()
  # The one file that knows where it was compiled: all others are alike in every clone, for ccache.
  add_library(fathom_test_support STATIC ${CMAKE_SOURCE_DIR}/tests/support/folders.cpp)
  target_include_directories(fathom_test_support PUBLIC ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(fathom_test_support PRIVATE
    FATHOM_SOURCE_DIR="${CMAKE_SOURCE_DIR}" FATHOM_BUILD_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(fathom_test_support PRIVATE fathom_flags)
  foreach(layer IN LISTS FATHOM_LAYERS)
    set(dir ${CMAKE_SOURCE_DIR}/tests/${layer})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cpp)
    if(NOT sources)
      continue()
    endif()
    set(target test_${layer})
    add_executable(${target} ${sources})
    fathom_compile_in_batches(${target})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(${target} PRIVATE fathom_test_support fathom_${layer} GTest::gtest
      GTest::gmock GTest::gtest_main)
    if(FATHOM_SANITIZE)  # what is tested stays optimised; instrumented tests compile faster so
      target_compile_options(${target} PRIVATE -O0)
      # Parts of simdjson that nobody calls would want its library, which is opened at run time.
      set_source_files_properties(${CMAKE_SOURCE_DIR}/tests/hub/routes_test.cpp PROPERTIES COMPILE_OPTIONS -O1)
    endif()
    foreach(part fathom fathom_spawn fathom_inject fathom_workloads)
      if(TARGET ${part})
        add_dependencies(${target} ${part})
      endif()
    endforeach()
    gtest_discover_tests(${target}
      DISCOVERY_MODE PRE_TEST
      DISCOVERY_TIMEOUT 120
      TEST_PREFIX ${layer}.
      PROPERTIES LABELS ${layer} TIMEOUT 300)
  endforeach()
endfunction()

# Workloads are measured, not tested: no sanitizer, no warnings of the dev preset.
function(fathom_add_workloads)
  set(dir ${CMAKE_SOURCE_DIR}/tests/workloads)
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.c ${dir}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_custom_target(fathom_workloads)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(workload_${name} ${source})
    set_target_properties(workload_${name} PROPERTIES
      OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/workloads)
    target_compile_definitions(workload_${name} PRIVATE _GNU_SOURCE)
    target_compile_options(workload_${name} PRIVATE -O2 -fomit-frame-pointer -Wall -Wextra
      -pthread)
    target_link_options(workload_${name} PRIVATE -pthread)
    target_link_libraries(workload_${name} PRIVATE m ${CMAKE_DL_LIBS})
    add_dependencies(fathom_workloads workload_${name})
  endforeach()
  file(GLOB shared CONFIGURE_DEPENDS ${dir}/shared/*.c)
  foreach(source IN LISTS shared)
    get_filename_component(name ${source} NAME_WE)
    add_library(workload_${name} MODULE ${source})
    set_target_properties(workload_${name} PROPERTIES
      OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/workloads)
    target_compile_options(workload_${name} PRIVATE -O2 -Wall -Wextra)
    add_dependencies(fathom_workloads workload_${name})
  endforeach()
  fathom_add_cuda_workloads()
  foreach(name io_known io_processes io_signals)
    fathom_add_workload_variant(${name} asan -fsanitize=address)
    fathom_add_workload_variant(${name} ubsan -fsanitize=undefined)
    fathom_add_workload_variant(${name} static -static)
  endforeach()
endfunction()

# workloads/cuda/: a libcuda.so.1 of our own, and programs that use it.
function(fathom_add_cuda_workloads)
  set(dir ${CMAKE_SOURCE_DIR}/tests/workloads/cuda)
  add_library(workload_fake_driver SHARED ${dir}/fake_driver.c)
  set_target_properties(workload_fake_driver PROPERTIES OUTPUT_NAME cuda SOVERSION 1)
  target_link_options(workload_fake_driver PRIVATE -Wl,-Bsymbolic) # as the real one: it calls itself
  # The same with tables of another kind, which only the loader reads.
  add_library(workload_fake_driver_old SHARED ${dir}/fake_driver.c)
  set_target_properties(workload_fake_driver_old PROPERTIES OUTPUT_NAME cuda SOVERSION 1)
  target_link_options(workload_fake_driver_old PRIVATE -Wl,-Bsymbolic -Wl,--hash-style=sysv)
  add_library(workload_fake_nvml SHARED ${dir}/fake_nvml.c)
  set_target_properties(workload_fake_nvml PROPERTIES OUTPUT_NAME nvidia-ml SOVERSION 1)
  add_library(workload_fake_cupti SHARED ${dir}/fake_cupti.c)
  set_target_properties(workload_fake_cupti PROPERTIES OUTPUT_NAME cupti SOVERSION 13)
  add_library(workload_next SHARED ${dir}/next.c)
  set_target_properties(workload_next PROPERTIES OUTPUT_NAME next)
  add_executable(workload_cuda_known ${dir}/cuda_known.c)
  add_executable(workload_cuda_known_direct ${dir}/cuda_known.c)
  target_compile_definitions(workload_cuda_known_direct PRIVATE DIRECT)
  target_link_libraries(workload_cuda_known_direct PRIVATE workload_fake_driver)
  set_target_properties(workload_cuda_known PROPERTIES OUTPUT_NAME cuda_known)
  set_target_properties(workload_cuda_known_direct PROPERTIES OUTPUT_NAME cuda_known_direct)
  add_library(workload_fake_libraries SHARED ${dir}/fake_libraries.c)
  target_link_libraries(workload_fake_libraries PRIVATE workload_fake_driver)
  add_executable(workload_library_calls ${dir}/library_calls.c)
  set_target_properties(workload_library_calls PROPERTIES OUTPUT_NAME library_calls)
  target_link_libraries(workload_library_calls PRIVATE workload_fake_libraries workload_fake_driver)
  foreach(target fake_driver fake_driver_old fake_nvml fake_cupti next cuda_known cuda_known_direct
                 fake_libraries library_calls)
    set_target_properties(workload_${target} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/workloads/cuda
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/workloads/cuda)
    target_compile_definitions(workload_${target} PRIVATE _GNU_SOURCE)
    target_compile_options(workload_${target} PRIVATE -O2 -Wall -Wextra -pthread -Wno-strict-prototypes)
    target_link_options(workload_${target} PRIVATE -pthread)
    target_link_libraries(workload_${target} PRIVATE ${CMAKE_DL_LIBS})
    add_dependencies(fathom_workloads workload_${target})
  endforeach()
  set_target_properties(workload_fake_driver_old PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/workloads/cuda/old)
endfunction()

# workloads/NAME_VARIANT: the same with more flags, where the compiler can do it.
function(fathom_add_workload_variant name variant)
  set(CMAKE_REQUIRED_FLAGS ${ARGN})
  set(CMAKE_REQUIRED_LINK_OPTIONS ${ARGN})
  check_c_source_compiles("int main(void) { return 0; }" FATHOM_WORKLOAD_${variant})
  if(NOT FATHOM_WORKLOAD_${variant})
    return()
  endif()
  set(target workload_${name}_${variant})
  add_executable(${target} ${CMAKE_SOURCE_DIR}/tests/workloads/${name}.c)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name}_${variant} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/workloads)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_compile_options(${target} PRIVATE -O1 -Wall -Wextra -pthread ${ARGN})
  target_link_options(${target} PRIVATE -pthread ${ARGN})
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(fathom_workloads ${target})
endfunction()

function(fathom_add_benchmarks)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.cpp)
  add_custom_target(fathom_benchmarks)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(bench_${name} ${source})
    set_target_properties(bench_${name} PROPERTIES
      OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    target_link_libraries(bench_${name} PRIVATE fathom_cli)
    add_dependencies(fathom_benchmarks bench_${name})
    if(benchmark_FOUND)
      target_link_libraries(bench_${name} PRIVATE benchmark::benchmark)
    endif()
  endforeach()
endfunction()
