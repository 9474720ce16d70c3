// SPDX-License-Identifier: Apache-2.0
// Names of kernel addresses for a run. The kernel needs some 50 ms to write its list, so the list
// is kept as a file for the boot and the set of modules it belongs to (off unless a folder is
// given), and read from the kernel only when the file is missing or does not know an address for
// sure: BPF programs and trampolines come and go. The file tells where the kernel lies in memory,
// so it is our user's alone; nothing is kept where the kernel hides it. Belongs to one thread.
#pragma once

#include <optional>
#include <string>

#include "symbol/kernel_symbols.h"

namespace fathom {

class KernelNames {
 public:
  // Where things are; tests have their own.
  struct Places {
    std::string symbols = "/proc/kallsyms";
    std::string modules = "/proc/modules";
    std::string boot_id = "/proc/sys/kernel/random/boot_id";
  };

  explicit KernelNames(std::string folder = {}) : folder_(std::move(folder)) {}
  KernelNames(std::string folder, Places places)
      : folder_(std::move(folder)), places_(std::move(places)) {}

  // Views until the next call.
  std::optional<KernelSymbol> find(uint64_t address);

  // Why there are no names; nothing if there are, or none was asked for.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] bool from_file() const { return from_file_; }

 private:
  void load();
  void read_list();
  [[nodiscard]] Result<std::string> key() const;
  void store(const std::string& key) const;
  void drop_others(const std::string& name) const;

  std::string folder_;
  Places places_;
  std::optional<KernelSymbols> symbols_;
  std::optional<Error> error_;
  bool from_file_ = false;  // symbols_ lacks what comes and goes
};

}  // namespace fathom
