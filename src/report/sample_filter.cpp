// SPDX-License-Identifier: Apache-2.0
#include "report/sample_filter.h"

#include <map>
#include <set>
#include <unordered_set>

#include "base/text.h"
#include "import/folded_reader.h"
#include "report/thread_filter.h"

namespace fathom {

SampleRange sample_range(const Collected& tables, const ProfileFilter& filter) {
  SampleRange range;
  const std::vector<Run>& runs = tables.rows.of<Run>();
  const int64_t start_ns = runs.empty() ? 0 : runs.front().start_ns;
  if (filter.from_ns) range.from_ns = start_ns + *filter.from_ns;
  if (filter.to_ns) range.to_ns = start_ns + *filter.to_ns;
  range.lines = filter.lines;
  std::unordered_set<int64_t> seen;
  range.each_time = filter.keep_times;
  for (const Process& process : tables.rows.of<Process>())
    range.each_time |= !seen.insert(process.pid).second;
  return range;
}

Result<SampleFilter> SampleFilter::make(const ProfileFilter& filter, const SourceTables& tables,
                                        const SampleSums& sums) {
  SampleFilter made;
  made.join_folded(filter.event, sums, tables.size());
  TRY(made.choose_event(filter.event, sums));
  TRY(made.choose_rate(filter, sums));
  TRY(made.choose_threads(filter, tables, sums));
  return made;
}

// Where some sources are folded stacks and others are not.
void SampleFilter::join_folded(const std::string& wanted, const SampleSums& sums, size_t sources) {
  if (wanted == kFoldedEvent) return;
  bool some = false, others = false;
  StringId folded{};
  for (size_t source = 0; source < sources; ++source) {
    bool all = !sums.sums_of(source).empty();
    for (const SampleSum& sum : sums.sums_of(source)) {
      const bool is_folded = sums.text(sum.event) == kFoldedEvent;
      if (is_folded) folded = sum.event;
      others |= !is_folded;
      all &= is_folded;
    }
    some |= all;
  }
  if (some && others) folded_id_ = folded;
}

// Where none is wanted: one that was sampled at a rate, as clocks are, rather than one of which
// each was a sample; of those the one with most samples.
Status SampleFilter::choose_event(const std::string& wanted, const SampleSums& sums) {
  std::map<StringId, std::pair<bool, int64_t>> events;  // has a rate, samples
  for (const SampleSum& sum : sums.sums()) {
    if (is_folded(sum)) continue;
    auto& [has_rate, samples] = events[sum.event];
    has_rate |= sum.rate_hz != 0;
    samples += sum.samples;
  }
  std::set<std::string> known;
  std::pair<bool, int64_t> most{false, -1};
  for (const auto& [event, rank] : events) {
    const std::string name(sums.text(event));
    known.insert(name);
    if (wanted.empty() ? rank > most : name == wanted) {
      event_id_ = event;
      event_ = name;
      most = rank;
    }
  }
  if (most.second < 0) return nothing_of("sample", "event", wanted, known);
  known.erase(event_);
  other_events_.assign(known.begin(), known.end());
  return {};
}

Status SampleFilter::choose_rate(const ProfileFilter& filter, const SampleSums& sums) {
  if (!filter.rate_hz) return {};
  std::set<std::string> known;
  for (const SampleSum& sum : sums.sums()) {
    if (is_main(sum)) known.insert(std::to_string(sum.rate_hz));
  }
  const std::string wanted = std::to_string(*filter.rate_hz);
  if (!known.contains(wanted)) return nothing_of("sample", "rate", wanted, known);
  rate_hz_ = static_cast<uint32_t>(*filter.rate_hz);
  return {};
}

Status SampleFilter::choose_threads(const ProfileFilter& filter, const SourceTables& tables,
                                    const SampleSums& sums) {
  const std::vector<ThreadKey>& keys = sums.names().threads;
  Status found = {};
  bool any = false;
  for (size_t source = 0; source < tables.size(); ++source) {
    ThreadFilter passes(filter, *tables[source]);
    std::vector<bool>& threads = threads_.emplace_back(keys.size(), passes.open());
    // Threads of other sources may have the same numbers.
    for (const SampleSum& sum : sums.sums_of(source)) {
      const size_t i = index_of(sum.thread);
      if (i != 0 && !threads[i]) threads[i] = passes.passes(keys[i]);
    }
    Status here = passes.found("sample");
    any = any || here.ok();
    if (!here.ok()) found = std::move(here);
  }
  return any ? Status{} : found;
}

Error SampleFilter::nothing_passed() const {
  return {Code::kNotFound, "no sample of " + printable(event_) + " is of what was asked for",
          "leave out --process, --thread, --rate, --from or --to"};
}

}  // namespace fathom
