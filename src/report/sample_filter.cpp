// SPDX-License-Identifier: Apache-2.0
#include "report/sample_filter.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "base/text.h"

namespace fathom {
namespace {

Error unknown(std::string_view what, const std::string& wanted,
              const std::set<std::string>& known) {
  Error error{Code::kInvalid, "no sample is of a" + std::string(what == "event" ? "n " : " ") +
                                  std::string(what) + " " + printable(wanted)};
  const std::vector<std::string_view> names(known.begin(), known.end());
  if (const auto near = closest_match(wanted, names)) {
    error.hint = "did you mean " + printable(*near) + "?";
    return error;
  }
  std::string list;
  size_t listed = 0;
  for (const std::string& name : known) {
    if (++listed > 8) break;
    list += (list.empty() ? "" : ", ") + printable(name);
  }
  if (!list.empty()) error.hint = "known are: " + list + (listed > 8 ? ", …" : "");
  return error;
}

// Names of the processes or threads that a sample may be of, by its id: a name, or several that it
// had one after the other.
template <class Record>
std::multimap<int64_t, std::string_view> names_by_id(const Collected& tables, int64_t Record::*id) {
  std::multimap<int64_t, std::string_view> names;
  for (const Record& record : tables.rows.of<Record>())
    names.emplace(record.*id, tables.text(record.name));
  return names;
}

bool is_one(const std::multimap<int64_t, std::string_view>& names, int64_t id,
            const std::string& wanted) {
  if (wanted.empty() || wanted == std::to_string(id)) return true;
  const auto [first, last] = names.equal_range(id);
  return std::any_of(first, last, [&](const auto& entry) { return entry.second == wanted; });
}

void add_names(const std::multimap<int64_t, std::string_view>& names, int64_t id,
               std::set<std::string>& known) {
  const auto [first, last] = names.equal_range(id);
  if (first == last) known.insert(std::to_string(id));
  for (auto entry = first; entry != last; ++entry) known.emplace(entry->second);
}

}  // namespace

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
  if (most < 0) return unknown("event", wanted, known);
  known.erase(event_);
  other_events_.assign(known.begin(), known.end());
  return {};
}

Status SampleFilter::choose_threads(const ProfileFilter& filter, const Collected& tables,
                                    const SampleSums& sums) {
  const auto processes = names_by_id(tables, &Process::pid);
  const auto threads = names_by_id(tables, &Thread::tid);
  const std::vector<ThreadKey>& keys = sums.names().threads;
  threads_.assign(keys.size(), filter.process.empty() && filter.thread.empty());
  if (threads_[0]) return {};
  bool process_found = false;
  std::set<std::string> known_processes, known_threads;
  for (size_t i = 1; i < keys.size(); ++i) {
    add_names(processes, keys[i].pid, known_processes);
    if (!is_one(processes, keys[i].pid, filter.process)) continue;
    process_found = true;
    add_names(threads, keys[i].tid, known_threads);
    threads_[i] = is_one(threads, keys[i].tid, filter.thread);
  }
  if (!process_found) return unknown("process", filter.process, known_processes);
  if (std::find(threads_.begin(), threads_.end(), true) == threads_.end())
    return unknown("thread", filter.thread, known_threads);
  return {};
}

Error SampleFilter::nothing_passed() const {
  return {Code::kInvalid, "no sample of " + printable(event_) + " is of what was asked for",
          "leave out --process, --thread, --from or --to"};
}

}  // namespace fathom
