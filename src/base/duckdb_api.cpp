// SPDX-License-Identifier: Apache-2.0
#include "base/duckdb_api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace fathom {
namespace {

constexpr const char* kHint =
    "put libduckdb.so (1.4 or newer) where the linker finds it, or name it: "
    "FATHOM_DUCKDB=/path/libduckdb.so";

std::string beside_program() {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? std::string() : (program.parent_path() / "../lib/libduckdb.so").string();
}

Result<DuckApi> find_duck_api() {
  if (const char* named = std::getenv("FATHOM_DUCKDB"); named != nullptr && *named != '\0') {
    return load_duck_api(named);
  }
  std::error_code ignored;
  const std::string beside = beside_program();
  if (!beside.empty() && std::filesystem::exists(beside, ignored)) return load_duck_api(beside);
  return load_duck_api("libduckdb.so");
}

const Result<DuckApi>& the_api() {
  static const Result<DuckApi> api = find_duck_api();
  return api;
}

}  // namespace

Result<DuckApi> load_duck_api(const std::string& path) {
  // Local: its symbols must not stand in for anybody else's. Never closed: it has threads of its
  // own.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return Error{Code::kUnsupported, std::string("DuckDB is needed and cannot be loaded: ") + why,
                 kHint};
  }
  DuckApi api;
  const char* missing = nullptr;
#define FATHOM_DUCKDB_FIND(name)                                                    \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, "duckdb_" #name)); \
  if (api.name == nullptr) missing = "duckdb_" #name;
  FATHOM_DUCKDB_FUNCTIONS(FATHOM_DUCKDB_FIND)
#undef FATHOM_DUCKDB_FIND
  if (missing != nullptr) {
    return Error{Code::kUnsupported, path + " is too old a DuckDB: it has no " + missing, kHint};
  }
  return api;
}

Result<const DuckApi*> duck_api() {
  const Result<DuckApi>& api = the_api();
  if (!api.ok()) return api.error();
  return &api.value();
}

const DuckApi& loaded_duck_api() {
  CHECK(the_api().ok());
  return the_api().value();
}

}  // namespace fathom
