// SPDX-License-Identifier: Apache-2.0
#include "base/simdjson.h"

#include <dlfcn.h>
#include <simdjson.h>

#include <cstring>

namespace fathom {
namespace {

using Active = simdjson::internal::atomic_ptr<const simdjson::implementation>;
using GetActive = Active& (*)();

// What get_active_implementation() is called in the library.
constexpr const char* kSymbol = "_ZN8simdjson25get_active_implementationEv";

GetActive find() {
  void* library = dlopen(FATHOM_SIMDJSON_NAME, RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == nullptr ? nullptr : dlsym(library, kSymbol);
  GetActive function = nullptr;
  static_assert(sizeof function == sizeof symbol);
  std::memcpy(&function, &symbol, sizeof function);
  return function;
}

GetActive loaded() {
  static const GetActive function = find();
  return function;
}

}  // namespace

Status load_simdjson() {
  if (loaded() != nullptr) return {};
  return Error{Code::kUnsupported, FATHOM_SIMDJSON_NAME " is not installed",
               "apt-get install libsimdjson14, or its equivalent"};
}

}  // namespace fathom

namespace simdjson {

internal::atomic_ptr<const implementation>& get_active_implementation() {
  CHECK(fathom::loaded() != nullptr);
  return fathom::loaded()();
}

}  // namespace simdjson
