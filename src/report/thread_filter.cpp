// SPDX-License-Identifier: Apache-2.0
#include "report/thread_filter.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace fathom {
namespace {

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

Error nothing_of(std::string_view rows, std::string_view what, const std::string& wanted,
                 const std::set<std::string>& known) {
  Error error{Code::kNotFound, "no " + std::string(rows) + " is of a" +
                                   std::string(what == "event" ? "n " : " ") + std::string(what) +
                                   " " + printable(wanted)};
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

ThreadFilter::ThreadFilter(const ProfileFilter& filter, const Collected& tables)
    : process_(filter.process),
      thread_(filter.thread),
      processes_(names_by_id(tables, &Process::pid)),
      threads_(names_by_id(tables, &Thread::tid)) {}

bool ThreadFilter::passes(const ThreadKey& key) {
  if (open()) return true;
  if (key == ThreadKey{}) return false;  // of nobody that is known
  add_names(processes_, key.pid, known_processes_);
  if (!is_one(processes_, key.pid, process_)) return false;
  process_found_ = true;
  add_names(threads_, key.tid, known_threads_);
  if (!is_one(threads_, key.tid, thread_)) return false;
  thread_found_ = true;
  return true;
}

Status ThreadFilter::found(std::string_view rows) const {
  if (open() || thread_found_) return {};
  if (!process_found_) return nothing_of(rows, "process", process_, known_processes_);
  return nothing_of(rows, "thread", thread_, known_threads_);
}

}  // namespace fathom
