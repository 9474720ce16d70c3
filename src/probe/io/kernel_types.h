// SPDX-License-Identifier: Apache-2.0
// The functions and tracepoints of the running kernel and its modules, from their type information:
// what a program can be attached to, and where in its arguments a file stands. Belongs to one
// thread; answers stay valid while it lives.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "probe/io/probe_set.h"
#include "wire/calls.h"

struct btf;

namespace fathom {

// A place in the kernel.
struct KernelPlace {
  uint32_t type = 0;   // its number in the type information, for the kernel
  int module_fd = 0;   // 0: of the kernel itself
  std::string module;  // empty: of the kernel itself
  uint8_t arguments = 0;
  WireHookFile file = kHookNoFile;
  uint8_t file_argument = 0;
  WireHookResult result = kResultNone;
};

class KernelTypes {
 public:
  // kUnsupported where the kernel has no type information.
  static Result<std::unique_ptr<KernelTypes>> load();
  ~KernelTypes();
  KernelTypes(const KernelTypes&) = delete;
  KernelTypes& operator=(const KernelTypes&) = delete;

  // nullptr: there is none of that name.
  [[nodiscard]] const KernelPlace* function(const std::string& name) const;
  [[nodiscard]] const KernelPlace* tracepoint(const std::string& name) const;
  // By name, in its order. A tracepoint also fits as GROUP:NAME, where the kernel tells groups.
  [[nodiscard]] std::vector<std::string> functions_like(const NamePattern& pattern) const;
  [[nodiscard]] std::vector<std::string> tracepoints_like(const NamePattern& pattern) const;

 private:
  struct Source {
    btf* types = nullptr;
    std::string module;
    Fd fd;
  };
  struct Found {
    size_t source = 0;
    uint32_t type = 0;
  };
  KernelTypes() = default;
  void add_modules();
  [[nodiscard]] uint32_t first_of(size_t source) const;
  void index_tracepoints(size_t source);
  void index_functions() const;
  const KernelPlace* place(const std::string& name, bool is_function) const;

  using Index = std::unordered_map<std::string_view, Found>;
  std::vector<Source> sources_;
  Index tracepoints_;
  mutable Index functions_;  // of which there are many: filled when the first is looked up
  mutable std::map<std::pair<std::string, bool>, KernelPlace> places_;
};

}  // namespace fathom
