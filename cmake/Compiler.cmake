# SPDX-License-Identifier: Apache-2.0
# Warnings, sanitizers and linking of our own code (target fathom_flags), and ccache.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the checkout, so that a second clone finds what the first compiled.
  set(launcher env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

# Names of files as seen from the checkout, in messages and debug information, however ccache or CMake
# spelled them. GCC tries the last map first.
file(RELATIVE_PATH up ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
string(REGEX REPLACE "/$" "" up "${up}")
set(FATHOM_PREFIX_MAPS -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${up}/=
  -ffile-prefix-map=${CMAKE_BINARY_DIR}=.)

add_library(fathom_flags INTERFACE)
set(cxx $<COMPILE_LANGUAGE:CXX>)
target_compile_options(fathom_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow $<${cxx}:-Wconversion>
  ${FATHOM_PREFIX_MAPS}
  $<$<BOOL:${FATHOM_WERROR}>:-Werror>)
target_link_options(fathom_flags INTERFACE -Wl,--as-needed)

# Programs read files of other users: they are position-independent, with a stack protector, checked
# functions of the C library and addresses that cannot be written after the start. docs/design/0012 has the
# costs, and what of it the libraries in the target cannot have.
set(FATHOM_HARDENING -fstack-protector-strong)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(FATHOM_BRANCH_PROTECTION -fcf-protection)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(FATHOM_BRANCH_PROTECTION -mbranch-protection=standard)
endif()
list(APPEND FATHOM_HARDENING ${FATHOM_BRANCH_PROTECTION}
  $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
set(FATHOM_HARDENED_LINK -Wl,-z,relro -Wl,-z,now)
if(NOT FATHOM_SANITIZE)  # a sanitizer checks all of this itself
  target_compile_options(fathom_flags INTERFACE -fPIE ${FATHOM_HARDENING})
  target_link_options(fathom_flags INTERFACE -pie ${FATHOM_HARDENED_LINK})
endif()
target_compile_definitions(fathom_flags INTERFACE
  _GNU_SOURCE FATHOM_VERSION="${PROJECT_VERSION}")

if(FATHOM_SANITIZE)
  set(sanitize -fsanitize=${FATHOM_SANITIZE} -fno-sanitize-recover=all)
  target_compile_options(fathom_flags INTERFACE ${sanitize} -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # it warns of its own instrumentation
    target_compile_options(fathom_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
  target_link_options(fathom_flags INTERFACE ${sanitize})
  if(FATHOM_FUZZ)
    target_compile_options(fathom_flags INTERFACE -fsanitize=fuzzer-no-link)
  endif()
endif()

# fathom_compile_in_batches(TARGET): compiles up to eight files of the target as one. Most of the time of
# compiling a file goes to the headers that it shares with its neighbors. FATHOM_UNITY=OFF compiles each
# file alone, which shows a missing include and is quicker while one file is edited.
function(fathom_compile_in_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${FATHOM_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()
