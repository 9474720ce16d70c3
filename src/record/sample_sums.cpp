// SPDX-License-Identifier: Apache-2.0
#include "record/sample_sums.h"

#include <algorithm>

#include "record/batch_names.h"

namespace fathom {
namespace {

double square(int64_t weight) { return static_cast<double>(weight) * static_cast<double>(weight); }

// One frame of a journal: each of its ids is translated at most once, whatever the number of
// samples.
class BatchSums {
 public:
  BatchSums(const Batch& batch, SampleSums& sums, const SampleRange& range)
      : from_(batch.dictionary),
        sums_(sums),
        names_(from_, sums.interner()),
        details_(from_.details.size(), kUnset) {
    std::vector<FrameId> frames;
    for (const Frame& frame : from_.frames) {
      Frame kept{.symbol = names_.string(frame.symbol),
                 .module = range.module_name
                               ? sums.interner().string(range.module_name(from_.text(frame.module)))
                               : names_.string(frame.module),
                 .kind = frame.kind};
      if (range.lines && frame.file != StringId::kNone) {
        kept.file = names_.string(frame.file);
        kept.line = frame.line;
      }
      frames.push_back(sums.frame(kept));
    }
    stacks_ = sums.stacks(from_, frames);
  }

  void add(std::span<const Sample> samples, const SampleRange& range) {
    constexpr size_t kAhead = 16;
    for (size_t i = 0; i < samples.size(); ++i) {
      if (i + kAhead < samples.size()) sums_.expect(stacks_[index_of(samples[i + kAhead].stack)]);
      add(samples[i], range);
    }
  }

 private:
  static constexpr StringId kUnset{UINT32_MAX};

  void add(const Sample& sample, const SampleRange& range) {
    if (sample.time_ns < range.from_ns || sample.time_ns >= range.to_ns) return;
    sums_.add_sum({.thread = names_.thread(sample.thread),
                   .stack = stacks_[index_of(sample.stack)],
                   .event = names_.string(sample.event),
                   .unwind = unwind(sample.detail),
                   .rate_hz = static_cast<uint32_t>(sample.rate_hz),
                   .time_ns = sample.time_ns,
                   .weight = sample.weight,
                   .samples = 1,
                   .squares = square(sample.weight)},
                  range.each_time);
  }

  StringId unwind(DetailId id) {
    StringId& known = details_[index_of(id)];
    if (known != kUnset) return known;
    known = StringId::kNone;
    for (const DetailItem& item : from_.items(id)) {
      const StringId* value = std::get_if<StringId>(&item.value);
      if (value != nullptr && from_.text(item.key) == kUnwindKey) known = names_.string(*value);
    }
    return known;
  }

  const Dictionary& from_;
  SampleSums& sums_;
  BatchNames names_;
  std::vector<StringId> details_;
  std::vector<uint32_t> stacks_;
};

// Never 0. Two stacks of one hash would be one: as unlikely as for their ids in tables.
uint64_t hash_of(uint64_t parent, FrameId frame) {
  uint64_t hash = (parent ^ (static_cast<uint64_t>(frame) + 1)) * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93ULL;
  hash ^= hash >> 32;
  return hash != 0 ? hash : 1;
}

}  // namespace

uint32_t SampleSums::stack_of(uint64_t hash, uint32_t parent, FrameId frame) {
  if (stacks_.size() > max_paths_) {
    const uint32_t* known = stack_index_.find(hash);
    if (known != nullptr) return *known;
    if (other_paths_ == 0) {
      other_paths_ = static_cast<uint32_t>(stacks_.size());
      stacks_.push_back({0, names_.frame({.symbol = names_.string(kOtherPaths)})});
      stack_hashes_.push_back(hash_of(0, stacks_.back().frame));
    }
    return other_paths_;
  }
  const auto [number, added] = stack_index_.insert(hash, static_cast<uint32_t>(stacks_.size()));
  if (added) {
    stacks_.push_back({parent, frame});
    stack_hashes_.push_back(hash);
  }
  return number;
}

uint32_t SampleSums::stack(uint32_t parent, FrameId frame) {
  return stack_of(hash_of(stack_hashes_[parent], frame), parent, frame);
}

std::vector<uint32_t> SampleSums::stacks(const Dictionary& from, std::span<const FrameId> frames) {
  constexpr size_t kAhead = 16;
  const size_t count = from.stacks.size();
  std::vector<uint64_t> hashes(count);
  for (size_t i = 1; i < count; ++i) {
    const StackNode& node = from.stacks[i];
    hashes[i] = hash_of(hashes[index_of(node.parent)], frames[index_of(node.frame)]);
  }
  stack_index_.reserve(count);
  std::vector<uint32_t> numbers(count);
  for (size_t i = 1; i < count; ++i) {
    if (i + kAhead < count) stack_index_.prefetch(hashes[i + kAhead]);
    const StackNode& node = from.stacks[i];
    numbers[i] = stack_of(hashes[i], numbers[index_of(node.parent)], frames[index_of(node.frame)]);
  }
  return numbers;
}

uint32_t SampleSums::key_of(const Common& common) {
  if (last_key_ != 0 && last_ == common) return last_key_;
  uint32_t key =
      thread_event_
          .number(static_cast<uint32_t>(common.thread) + 1, static_cast<uint32_t>(common.event))
          .first;
  key = unwind_.number(key, static_cast<uint32_t>(common.unwind)).first;
  last_ = common;
  last_key_ = rate_.number(key, common.rate_hz).first;
  return last_key_;
}

void SampleSums::add_sum(const SampleSum& sum, bool each_time) {
  if (other_paths_ != 0 && sum.stack == other_paths_) other_samples_ += sum.samples;
  if (each_time) {
    sums_.push_back(sum);
    return;
  }
  const uint32_t key = key_of({sum.thread, sum.event, sum.unwind, sum.rate_hz});
  const auto [number, added] = sum_index_.number(key, sum.stack);
  if (added) {
    sums_.push_back(sum);
    return;
  }
  SampleSum& known = sums_[starts_.back() + number - 1];
  known.weight += sum.weight;
  known.samples += sum.samples;
  known.squares += sum.squares;
}

void SampleSums::next_source() {
  starts_.push_back(sums_.size());
  sum_index_ = {};
}

std::span<const SampleSum> SampleSums::sums_of(size_t source) const {
  const size_t end = source + 1 < starts_.size() ? starts_[source + 1] : sums_.size();
  return std::span(sums_).subspan(starts_[source], end - starts_[source]);
}

Status SampleSums::add(const Recording& recording, const SampleRange& asked) {
  SampleRange range = asked;
  if (recording.cut()) {
    range.from_ns = std::max(range.from_ns, recording.cut()->from_ns);
    range.to_ns = std::min(range.to_ns, recording.cut()->to_ns);
  }
  if (recording.form() == Recording::Form::kTables)
    return add_sample_tables(recording, range, *this);
  return recording.read(tables_of<Sample>(), [&](const Batch& batch) -> Status {
    BatchSums(batch, *this, range).add(batch.rows.of<Sample>(), range);
    return {};
  });
}

}  // namespace fathom
