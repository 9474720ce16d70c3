# SPDX-License-Identifier: Apache-2.0
# What runs in or before somebody else's process. None of it sees our libraries or sanitizers.

# src/launch/spawner/*.c -> lib/fathom-spawn, src/launch/holder/*.c -> lib/fathom-hold: static and
# tiny, so that a target's peak memory does not start from the recorder's, and any image can run it.
function(fathom_add_spawner)
  fathom_add_static(fathom_spawn fathom-spawn spawner)
  fathom_add_static(fathom_hold fathom-hold holder)
endfunction()

function(fathom_add_static target name folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/launch/${folder}/*.c)
  if(NOT sources)
    return()
  endif()
  add_executable(${target} ${sources})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_compile_options(${target} PRIVATE -Os -Wall -Wextra -Wshadow
    -ffunction-sections -fdata-sections -fPIE ${FATHOM_HARDENING} $<$<BOOL:${FATHOM_WERROR}>:-Werror>)
  target_link_options(${target} PRIVATE -static-pie -Wl,--gc-sections -s ${FATHOM_HARDENED_LINK})
endfunction()

# src/inject/FAMILY/ with src/inject/core/ -> lib/libfathom-FAMILY.so, loadable into any process. A
# family with a file EXTENDS, which names another, becomes lib/libfathom-OTHER-FAMILY.so of both.
function(fathom_add_inject)
  file(GLOB python CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/inject/python/*.py)
  foreach(file IN LISTS python)
    get_filename_component(name ${file} NAME)
    configure_file(${file} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/fathom-python/${name} COPYONLY)
  endforeach()
  set(dir ${CMAKE_SOURCE_DIR}/src/inject)
  file(GLOB_RECURSE core CONFIGURE_DEPENDS ${dir}/core/*.c ${dir}/core/*.cpp ${dir}/core/*.S)
  file(GLOB families CONFIGURE_DEPENDS LIST_DIRECTORIES true ${dir}/*)
  foreach(family_dir IN LISTS families)
    get_filename_component(family ${family_dir} NAME)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS
      ${family_dir}/*.c ${family_dir}/*.cpp ${family_dir}/*.S)
    if(family STREQUAL "core" OR NOT sources)
      continue()
    endif()
    set(name fathom-${family})
    set(extended "")
    if(EXISTS ${family_dir}/EXTENDS)
      file(STRINGS ${family_dir}/EXTENDS extended)
      file(GLOB_RECURSE more CONFIGURE_DEPENDS ${dir}/${extended}/*.c ${dir}/${extended}/*.S)
      list(APPEND sources ${more})
      set(name fathom-${extended}-${family})
    endif()
    # No vectors: fields written one by one and read together stall a call for some 4 ns.
    set(target fathom_inject_${family})
    add_library(${target} SHARED ${core} ${sources})
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME ${name}
      LINKER_LANGUAGE C
      SKIP_BUILD_RPATH ON
      C_VISIBILITY_PRESET hidden
      CXX_VISIBILITY_PRESET hidden)
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE _LARGEFILE64_SOURCE)
    target_compile_options(${target} PRIVATE -O2 -Wall -Wextra -Wshadow -Wno-nonnull-compare
      -U_FORTIFY_SOURCE -fno-stack-protector ${FATHOM_BRANCH_PROTECTION}
      -ftls-model=initial-exec -fno-tree-slp-vectorize ${FATHOM_PREFIX_MAPS}
      $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions$<SEMICOLON>-fno-rtti>
      $<$<BOOL:${FATHOM_WERROR}>:-Werror>)
    target_link_options(${target} PRIVATE -Wl,-z,defs ${FATHOM_HARDENED_LINK})
    if(family STREQUAL "io" OR extended STREQUAL "io")
      # Where the kernel's half looks on, every call that the loader makes is to be about the
      # library's file: none for memory without one (.bss), none to close it to writing later (RELRO).
      target_link_options(${target} PRIVATE -Wl,-z,norelro -Wl,-T,${dir}/core/no_bss.ld)
      set_target_properties(${target} PROPERTIES LINK_DEPENDS ${dir}/core/no_bss.ld)
    endif()
    if(family STREQUAL "cuda")
      # It calls dlsym, which goes by who called it: a jump there would be the program's call.
      target_compile_options(${target} PRIVATE -fno-optimize-sibling-calls)
      # The name that users of seed 002 know.
      add_custom_command(TARGET ${target} POST_BUILD COMMAND ${CMAKE_COMMAND} -E create_symlink
        $<TARGET_FILE_NAME:${target}> $<TARGET_FILE_DIR:${target}>/libpfinterpose.so)
    endif()
    if(NOT TARGET fathom_inject)
      add_custom_target(fathom_inject)
    endif()
    add_dependencies(fathom_inject ${target})
  endforeach()
endfunction()
