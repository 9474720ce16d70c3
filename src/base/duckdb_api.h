// SPDX-License-Identifier: Apache-2.0
// The functions of DuckDB's C interface that are in use, as one table filled by dlopen. libduckdb
// is 62 MB: it is never linked, so that programs start fast and run where it is absent. Any thread.
#pragma once

#include <duckdb.h>

#include <string>

#include "base/result.h"

// clang-format off
#define FATHOM_DUCKDB_FUNCTIONS(X)                                                              \
  X(open_ext) X(close) X(connect) X(disconnect) X(free) X(library_version) X(vector_size)       \
  X(create_config) X(set_config) X(destroy_config)                                              \
  X(query) X(destroy_result) X(result_error) X(column_count) X(column_name) X(column_type)      \
  X(column_logical_type) X(fetch_chunk) X(result_return_type)                                   \
  X(extract_statements) X(extract_statements_error) X(prepare_extracted_statement)              \
  X(destroy_extracted) X(prepare_error) X(destroy_prepare) X(execute_prepared_streaming)        \
  X(prepared_statement_type)                                                                    \
  X(destroy_data_chunk) X(data_chunk_get_size) X(data_chunk_set_size) X(data_chunk_get_vector)  \
  X(data_chunk_get_column_count)                                                                \
  X(vector_get_data) X(vector_get_validity) X(vector_ensure_validity_writable)                  \
  X(vector_assign_string_element_len) X(list_vector_get_child) X(list_vector_reserve)           \
  X(list_vector_set_size)                                                                       \
  X(create_logical_type) X(create_list_type) X(destroy_logical_type) X(get_type_id)             \
  X(list_type_child_type) X(decimal_scale) X(decimal_internal_type)                             \
  X(create_table_function) X(destroy_table_function) X(register_table_function)                 \
  X(table_function_set_name) X(table_function_add_parameter) X(table_function_set_extra_info)   \
  X(table_function_set_bind) X(table_function_set_init) X(table_function_set_local_init)        \
  X(table_function_set_function) X(table_function_supports_projection_pushdown)                 \
  X(bind_get_extra_info) X(bind_get_parameter) X(bind_add_result_column) X(bind_set_bind_data)  \
  X(bind_set_cardinality) X(bind_set_error) X(get_int64) X(destroy_value)                       \
  X(init_get_bind_data) X(init_get_column_count) X(init_get_column_index) X(init_set_init_data) \
  X(init_set_max_threads) X(init_set_error)                                                     \
  X(function_get_bind_data) X(function_get_init_data) X(function_get_local_init_data)           \
  X(function_set_error)
// clang-format on

namespace fathom {

struct DuckApi {
#define FATHOM_DUCKDB_MEMBER(name) decltype(&::duckdb_##name) name = nullptr;
  FATHOM_DUCKDB_FUNCTIONS(FATHOM_DUCKDB_MEMBER)
#undef FATHOM_DUCKDB_MEMBER
};

// Opens one library file and finds all functions; kUnsupported where the file or a function is
// missing.
Result<DuckApi> load_duck_api(const std::string& path);

// The library named by $FATHOM_DUCKDB, else ../lib/libduckdb.so beside the program, else the
// system's. Found once and kept; a failure is kept as well.
Result<const DuckApi*> duck_api();

// The same, for code that can only run with the library loaded.
const DuckApi& loaded_duck_api();

}  // namespace fathom
