// SPDX-License-Identifier: Apache-2.0
// Finds the Module of a mapping, so that thousands of processes share one libc: by what the file
// is (device, inode, size, time of its last change: inodes are used again), and by build id where
// containers have copies. Bounded in modules and in open files. Belongs to one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "symbol/module.h"

namespace fathom {

// A mapping of code, as an event or /proc/PID/maps tells of it.
struct MapEvent {
  int64_t pid = 0;
  uint64_t start = 0, length = 0;
  uint64_t file_offset = 0;
  uint64_t device = 0, inode = 0;  // 0: not known
  std::string path;                // "//anon" or empty: no file
  int64_t time_ns = 0;
};

class ModuleCache {
 public:
  struct Limits {
    size_t modules = 4096;
    size_t open_files = 256;
    size_t symbol_bytes = size_t{48} << 20;  // of tables that no mapping needs any more
  };
  struct Counts {
    int64_t opened = 0, reused = 0, unreadable = 0, debug_files = 0, shared_by_build_id = 0;
  };

  ModuleCache() = default;
  explicit ModuleCache(const Limits& limits) : limits_(limits) {}

  // Debug files stay open, for their lines; modules found from now on.
  void keep_debug_files() { keeps_debug_ = true; }

  // Never null: a file that cannot be opened or read is a module too, of kind kUnreadable.
  ModulePtr find(const MapEvent& event);

  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] size_t size() const { return by_identity_.size(); }
  [[nodiscard]] size_t open_files() const { return open_.size(); }

 private:
  // device, inode, size, seconds and nanoseconds of the last change.
  using Identity = std::tuple<uint64_t, uint64_t, int64_t, int64_t, int64_t>;
  using Hint = std::tuple<uint64_t, uint64_t, std::string>;  // as the event says
  struct Kept {
    ModulePtr module;
    uint64_t used = 0;
  };

  ModulePtr special(const std::string& label, ModuleKind kind);
  ModulePtr vdso();
  ModulePtr unreadable(const std::string& path, Error error);
  Result<Fd> locate(const MapEvent& event) const;
  ModulePtr of_file(const MapEvent& event, const Fd& found);
  ModulePtr open(const MapEvent& event, const Fd& found);
  void look_for_debug_file(int64_t pid, Module& module);
  void share_symbols(Module& module);
  void keep_within_limits();

  Limits limits_;
  Counts counts_;
  uint32_t next_id_ = 1;
  uint64_t clock_ = 0;
  bool keeps_debug_ = false;
  std::map<Identity, Kept> by_identity_;
  std::map<Hint, std::weak_ptr<Module>> by_hint_;
  std::map<std::pair<std::string, uint64_t>, std::weak_ptr<Module>> by_build_id_;  // id and size
  std::unordered_map<std::string, ModulePtr> specials_, unreadables_;
  std::deque<std::weak_ptr<Module>> open_;  // with a descriptor, oldest first
};

}  // namespace fathom
