# SPDX-License-Identifier: Apache-2.0
# Third-party code (target fathom_deps). Archives are preferred to shared objects: the program
# starts faster and needs less of the machine it is copied to.

find_package(Threads REQUIRED)

# fathom_find(VARIABLE NAME HEADER): an archive if the development package has one.
function(fathom_find variable name header)
  find_library(${variable} NAMES lib${name}.a ${name})
  find_path(${variable}_INCLUDE ${header})
  if(NOT ${variable} OR NOT ${variable}_INCLUDE)
    message(FATAL_ERROR "${name} (${header}) is missing: run tools/setup build")
  endif()
  mark_as_advanced(${variable} ${variable}_INCLUDE)
endfunction()

function(fathom_find_header variable header)
  find_path(${variable} ${header})
  if(NOT ${variable})
    message(FATAL_ERROR "${header} is missing: run tools/setup build")
  endif()
  mark_as_advanced(${variable})
endfunction()

fathom_find_header(FMT_INCLUDE fmt/core.h)
fathom_find(XXHASH xxhash xxhash.h)
fathom_find(BPF bpf bpf/libbpf.h)
fathom_find(ELF elf libelf.h)
fathom_find(ZSTD zstd zstd.h)
fathom_find(Z z zlib.h)
fathom_find(LZMA lzma lzma.h)
fathom_find(IBERTY iberty libiberty/demangle.h)
fathom_find(PFM pfm perfmon/pfmlib_perf_event.h)
fathom_find(SQLITE sqlite3 sqlite3.h)
fathom_find(HIREDIS hiredis hiredis/hiredis.h)
fathom_find(YAML yaml yaml.h)
fathom_find_header(BOOST boost/beast/http.hpp)
fathom_find_header(LIBDW elfutils/libdw.h)  # opened at run time
fathom_find_header(SIMDJSON simdjson.h)     # opened at run time, that of this header's version
find_library(SIMDJSON_LIBRARY NAMES libsimdjson.so REQUIRED)
get_filename_component(simdjson_file ${SIMDJSON_LIBRARY} REALPATH)
string(REGEX MATCH "libsimdjson\\.so\\.[0-9]+" FATHOM_SIMDJSON_NAME ${simdjson_file})
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/simdjson.cpp PROPERTIES
  COMPILE_DEFINITIONS FATHOM_SIMDJSON_NAME="${FATHOM_SIMDJSON_NAME}")
fathom_find_header(CLI11 CLI/CLI.hpp)
fathom_find_header(PROTOZERO protozero/pbf_reader.hpp)

# fmt: an archive, else our own from the headers where we know how, else headers everywhere.
find_library(FMT_ARCHIVE NAMES libfmt.a)
file(STRINGS ${FMT_INCLUDE}/fmt/core.h fmt_version REGEX "define FMT_VERSION")
add_library(fathom_fmt INTERFACE)
if(FMT_ARCHIVE)
  target_link_libraries(fathom_fmt INTERFACE ${FMT_ARCHIVE})
elseif(fmt_version MATCHES " 90[0-9][0-9][0-9]$")
  add_library(fathom_fmt_archive STATIC ${CMAKE_SOURCE_DIR}/cmake/fmt.cpp)
  target_compile_options(fathom_fmt_archive PRIVATE ${FATHOM_PREFIX_MAPS})
  target_link_libraries(fathom_fmt INTERFACE fathom_fmt_archive)
else()
  target_compile_definitions(fathom_fmt INTERFACE FMT_HEADER_ONLY)
endif()

add_library(fathom_deps INTERFACE)
target_link_libraries(fathom_deps INTERFACE
  fathom_fmt ${XXHASH} ${BPF} ${ELF} ${ZSTD} ${Z} ${LZMA} ${IBERTY} ${PFM} ${SQLITE} ${HIREDIS} ${YAML} m Threads::Threads ${CMAKE_DL_LIBS})

# DuckDB is opened at run time by those commands that need it; only its header is used here.
set(duckdb_deps ${CMAKE_SOURCE_DIR}/build/deps/duckdb)
find_path(DUCKDB_INCLUDE duckdb.h HINTS ${duckdb_deps})
find_library(DUCKDB_LIBRARY NAMES libduckdb.so HINTS ${duckdb_deps})
if(NOT DUCKDB_INCLUDE OR NOT DUCKDB_LIBRARY)
  message(FATAL_ERROR "DuckDB (duckdb.h, libduckdb.so) is missing: run tools/setup build")
endif()
target_include_directories(fathom_deps SYSTEM INTERFACE ${DUCKDB_INCLUDE})
file(MAKE_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(duckdb_link ${DUCKDB_LIBRARY})
cmake_path(IS_PREFIX CMAKE_SOURCE_DIR ${DUCKDB_LIBRARY} duckdb_is_ours)
if(duckdb_is_ours)
  file(RELATIVE_PATH duckdb_link ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${DUCKDB_LIBRARY})
endif()
file(CREATE_LINK ${duckdb_link} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libduckdb.so SYMBOLIC)
