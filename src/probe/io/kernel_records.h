// SPDX-License-Identifier: Apache-2.0
// Makes counters and spans of what the kernel half sends. Calls on files outside the path prefixes
// are counted without their file, so that totals are exact. Belongs to the recorder's thread, with
// the stream it writes to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "probe/io/file_names.h"
#include "sink/record_stream.h"
#include "spool/known_names.h"
#include "wire/calls.h"

namespace fathom {

// What a number of the kernel half stands for.
struct KernelFunction {
  std::string layer, name;
  bool has_bytes = false;
  bool has_time = true;  // false: a moment, not a call
};

struct KernelRecordSettings {
  int64_t slice_base_ns = 0, interval_ns = 0;
  bool times = true;
  std::vector<std::string> path_prefixes;  // calls on other files have no details; empty: all have
  std::vector<std::string> own_prefixes;   // files of Fathom: calls on them are not counted
};

class KernelRecords {
 public:
  KernelRecords(RecordStream& out, std::vector<KernelFunction> functions,
                KernelRecordSettings settings);

  FileNames& files() { return files_; }
  // One record of a ring. False: its file has no name yet, and it should come again later;
  // `last`: it will not.
  bool take(std::span<const std::byte> record, bool last);

  // A traced call with its stack, and what is to be said of that.
  void take_stacked(const WireTracedCall& call, StackId stack, DetailId detail);
  // Writes the sums of traced calls on files outside the path prefixes.
  void flush();

  [[nodiscard]] int64_t calls() const { return calls_; }
  [[nodiscard]] int64_t damaged() const { return damaged_; }
  // Of files of Fathom.
  [[nodiscard]] int64_t left_out() const { return left_out_; }

 private:
  enum class Kept : uint8_t { kDetails, kCount, kNothing };
  struct KnownName {
    StringId id{};
    Kept kept = Kept::kDetails;
  };
  struct FunctionIds {
    StringId layer{}, name{};
  };
  void take_one(const WireOneCall& call);
  void take_sum(const WireSumOfCalls& sum);
  void take_traced(const WireTracedCall& call, StackId stack = {}, DetailId detail = {});
  void count_traced(const WireTracedCall& call);
  KnownName& name_of(uint32_t file);
  [[nodiscard]] Kept kept_of(const std::string& name) const;
  Kept kept_of(uint32_t file);
  Counter counter_of(const WireCallHead& head, uint32_t slice);
  void add(Counter& counter, const KernelFunction& function, uint64_t time_ns, uint64_t self_ns,
           uint64_t bytes, std::span<const int64_t> latency, bool timed = true);

  RecordStream& out_;
  std::vector<KernelFunction> functions_;
  KernelRecordSettings settings_;
  FileNames files_;
  // Ids of the stream's names, until it renews them.
  std::vector<FunctionIds> function_ids_;
  std::unordered_map<uint32_t, KnownName> file_ids_;
  KnownNames names_;
  // Traced calls without details, by pid, tid, function and slice.
  std::map<std::tuple<uint32_t, uint32_t, uint16_t, uint32_t>, WireSumOfCalls> counted_;
  int64_t calls_ = 0, damaged_ = 0, left_out_ = 0;
};

}  // namespace fathom
