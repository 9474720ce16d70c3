// SPDX-License-Identifier: Apache-2.0
#include "report/sample_filter.h"

#include <map>
#include <set>
#include <unordered_set>

#include "base/text.h"
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
  for (const Process& process : tables.rows.of<Process>())
    range.each_time |= !seen.insert(process.pid).second;
  return range;
}

Result<SampleFilter> SampleFilter::make(const ProfileFilter& filter, const Collected& tables,
                                        const SampleSums& sums) {
  SampleFilter made;
  TRY(made.choose_event(filter.event, sums));
  TRY(made.choose_threads(filter, tables, sums));
  return made;
}

Status SampleFilter::choose_event(const std::string& wanted, const SampleSums& sums) {
  std::map<StringId, int64_t> samples;
  for (const SampleSum& sum : sums.sums()) samples[sum.event] += sum.samples;
  std::set<std::string> known;
  int64_t most = -1;
  for (const auto& [event, count] : samples) {
    const std::string name(sums.text(event));
    known.insert(name);
    if (wanted.empty() ? count > most : name == wanted) {
      event_id_ = event;
      event_ = name;
      most = count;
    }
  }
  if (most < 0) return nothing_of("sample", "event", wanted, known);
  known.erase(event_);
  other_events_.assign(known.begin(), known.end());
  return {};
}

Status SampleFilter::choose_threads(const ProfileFilter& filter, const Collected& tables,
                                    const SampleSums& sums) {
  ThreadFilter passes(filter, tables);
  const std::vector<ThreadKey>& keys = sums.names().threads;
  threads_.assign(keys.size(), passes.open());
  for (size_t i = 1; i < keys.size(); ++i) threads_[i] = passes.passes(keys[i]);
  return passes.found("sample");
}

Error SampleFilter::nothing_passed() const {
  return {Code::kInvalid, "no sample of " + printable(event_) + " is of what was asked for",
          "leave out --process, --thread, --from or --to"};
}

}  // namespace fathom
