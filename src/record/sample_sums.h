// SPDX-License-Identifier: Apache-2.0
// The samples of recordings added up: one row per thread, event and stack, so that a million
// samples cost a report no more than their distinct stacks. Frames are told apart by symbol, module
// and kind, and by their source lines if asked for; build ids are left out. A journal is added up
// frame by frame, tables by SQL. Memory is bounded: beyond a number of call paths, samples of
// further ones are added up as one. Owned and used by one thread.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_index.h"
#include "record/recording.h"

namespace fathom {

struct SampleSum {
  ThreadId thread{};
  uint32_t stack = 0;  // place in SampleSums::stacks; 0: none was taken
  StringId event{};
  StringId unwind{};  // why the stack does not plainly reach the root; kNone: it does
  uint32_t rate_hz = 0;
  int64_t time_ns = 0;  // of one of them
  int64_t weight = 0;
  int64_t samples = 0;
  double squares = 0;  // of each sample's weight, added up
};

// The function that stands for Fathom's own code in a target's stacks.
constexpr std::string_view kOwnFrame = "[fathom]";

// The key in a sample's detail that says how its stack ended.
constexpr std::string_view kUnwindKey = "unwind";

constexpr std::string_view kOtherPaths = "[other call paths]";

struct SampleRange {
  int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;  // monotonic; from <= time < to
  bool each_time = false;                          // samples of different times stay apart
  bool lines = false;                              // frames of different source lines, too
  std::function<std::string(std::string_view)> module_name = {};  // of a module; unset: as it is
};

class SampleSums {
 public:
  struct Node {
    uint32_t parent = 0;  // the caller
    FrameId frame{};
  };

  static constexpr size_t kMaxPaths = 4 << 20;
  explicit SampleSums(size_t max_paths = kMaxPaths) : max_paths_(max_paths) {}

  // May be called for several recordings, whose sums add up unless next_source() stands between.
  Status add(const Recording& recording, const SampleRange& range = {});
  // What comes from now on stays apart from what was before.
  void next_source();

  // What the ids stand for.
  [[nodiscard]] const Dictionary& names() const { return names_.dictionary(); }
  [[nodiscard]] std::string_view text(StringId id) const { return names_.text(id); }
  // Element 0 is "none"; a parent comes before its children.
  [[nodiscard]] const std::vector<Node>& stacks() const { return stacks_; }
  [[nodiscard]] const std::vector<SampleSum>& sums() const { return sums_; }
  // Samples whose call path was one too many; they are in the sums, below the frame kOtherPaths.
  [[nodiscard]] int64_t samples_of_other_paths() const { return other_samples_; }
  // Those of one source, from 0.
  [[nodiscard]] std::span<const SampleSum> sums_of(size_t source) const;

  // For the readers.
  Interner& interner() { return names_; }
  FrameId frame(const Frame& frame) { return names_.frame(frame); }
  uint32_t stack(uint32_t parent, FrameId frame);
  // The same for all of a dictionary at once, of which `frames` are the frames here: many times as
  // fast, since the memory that one needs is fetched while others are looked at.
  std::vector<uint32_t> stacks(const Dictionary& from, std::span<const FrameId> frames);
  void add_sum(const SampleSum& sum, bool each_time);
  // Says that a sample of that stack will be added soon.
  void expect(uint32_t stack) const { sum_index_.prefetch(last_key_, stack); }

 private:
  Interner names_;
  uint32_t stack_of(uint64_t hash, uint32_t parent, FrameId frame);

  size_t max_paths_;
  uint32_t other_paths_ = 0;  // place in stacks_; 0: all had room
  int64_t other_samples_ = 0;
  std::vector<Node> stacks_{{}};
  std::vector<uint64_t> stack_hashes_{0};  // of the frames from the root on
  std::vector<SampleSum> sums_;
  FlatIndex stack_index_;  // by hash
  // Each stage numbers the one before together with one more part of the key.
  PairIndex thread_event_, unwind_, rate_, sum_index_;
  std::vector<size_t> starts_{0};  // of each source's sums
  // What samples have in common is mostly what the one before them had.
  struct Common {
    ThreadId thread{};
    StringId event{}, unwind{};
    uint32_t rate_hz = 0;
    bool operator==(const Common&) const = default;
  };
  Common last_;
  uint32_t last_key_ = 0;  // 0: there was none

  uint32_t key_of(const Common& common);
};

// The same for a folder of tables.
Status add_sample_tables(const Recording& recording, const SampleRange& range, SampleSums& sums);

}  // namespace fathom
