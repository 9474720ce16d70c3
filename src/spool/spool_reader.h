// SPDX-License-Identifier: Apache-2.0
// Reads one spool (wire/spool.h, docs/formats/spool.md) while the target goes on writing it, or
// after it was killed. Believes nothing: the file is read, never mapped, and every number is
// checked before it is used; what does not fit is counted as damage and left out. Belongs to one
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "spool/tick_clock.h"
#include "wire/spool.h"

namespace fathom {

// What is common to a call and to many.
struct SpoolOrigin {
  int64_t pid = 0, tid = 0;
  std::string_view call;
  std::string_view file;       // empty: none
  uint64_t pid_namespace = 0;  // whose ids these are; 0: ours
};

struct SpoolCall {
  SpoolOrigin origin;
  int64_t start_ns = 0, duration_ns = 0, self_ns = 0;
  int64_t value = 0;  // bytes if has_bytes, else what was returned
  int32_t error = 0;  // errno, if failed
  bool has_bytes = false, failed = false, abandoned = false;
};

struct SpoolCell {
  SpoolOrigin origin;
  int64_t slice_ns = 0, slice_length_ns = 0;
  int64_t count = 0, time_ns = 0, self_ns = 0, bytes = 0, errors = 0;
  bool has_bytes = false;
  bool has_times = true;  // else calls were only counted
  std::span<const int64_t> latency;
};

class SpoolListener {
 public:
  virtual ~SpoolListener() = default;
  virtual void on_call(const SpoolCall& call) = 0;
  virtual void on_cell(const SpoolCell& cell) = 0;
};

class SpoolReader {
 public:
  // kInvalid: it is no spool, or one of another version. kCorrupt: not whole (yet).
  static Result<std::unique_ptr<SpoolReader>> open(const std::string& path);
  static Result<std::unique_ptr<SpoolReader>> open(Fd file, const std::string& path);

  // Whether somebody still has it open or mapped, so that more may come.
  [[nodiscard]] bool is_in_use() const;
  // Delivers what is new and final; with `all` also what may still change, as its writers are gone
  // or nobody waits for them any longer. Chunks that were read go back to the target.
  void drain(const TickClock& clock, bool all, SpoolListener& listener);

  [[nodiscard]] const SpoolHeader& header() const { return header_; }
  [[nodiscard]] int64_t lost() const;       // calls for which the target had no space
  [[nodiscard]] int64_t sandboxed() const;  // calls of threads under seccomp: not recorded
  [[nodiscard]] int64_t damaged() const { return damaged_; }  // malformed records and chunks
  // The header was overwritten after it had been read: newer records may be missing.
  [[nodiscard]] bool has_damaged_header() const { return has_damaged_header_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Area {
    uint32_t number = 0;  // of its first chunk
    uint64_t place = 0, limit = 0;
    int64_t pid = 0, tid = 0;
    uint64_t base_ticks = 0;  // of the chunk that is being read
  };

  SpoolReader(Fd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Status read_head();
  bool refresh();
  bool read_at(uint64_t at, void* to, size_t bytes) const;
  [[nodiscard]] uint64_t chunk_at(uint32_t number) const;
  void find_areas();
  bool set_limit(Area& area, bool all);
  [[nodiscard]] bool has_ended(const SpoolArea& area) const;
  void read_names();
  bool read_names_of(uint32_t number);
  void walk(Area& area, const TickClock& clock, SpoolListener& listener);
  bool go_on(Area& area, const SpoolChunk& chunk);
  void deliver(Area& area, const SpoolRecord& head, const uint8_t* record, const TickClock& clock,
               SpoolListener& listener);
  bool deliver_small(const Area& area, const SpoolRecord& head, const uint8_t* record,
                     const TickClock& clock, SpoolListener& listener);
  bool deliver_cell(const Area& area, const SpoolRecord& head, const uint8_t* record,
                    const TickClock& clock, SpoolListener& listener);
  bool fill_origin(const Area& area, const SpoolRecord& head, uint32_t file, SpoolOrigin& to);
  void give_back(uint32_t chunk);

  Fd file_;
  std::string path_;
  SpoolHeader header_{};
  bool here_ = true;  // its processes are known here by the same numbers
  std::vector<std::string> calls_;
  std::unordered_map<uint32_t, std::string> files_;
  std::unordered_map<uint32_t, uint32_t> names_read_;  // bytes, by chunk
  std::vector<uint32_t> names_open_;                   // chunks where names may still come
  std::unordered_map<uint32_t, Area> areas_;           // by chunk
  std::vector<uint8_t> buffer_;
  int64_t damaged_ = 0;
  bool has_damaged_header_ = false;
};

}  // namespace fathom
