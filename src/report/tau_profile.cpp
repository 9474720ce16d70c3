// SPDX-License-Identifier: Apache-2.0
#include "report/tau_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace fathom {
namespace {

constexpr double kNsPerMicrosecond = 1e3, kNsPerMillisecond = 1e6;
constexpr std::string_view kRule =
    "---------------------------------------------------------------------------------------\n";

// Quotes and line ends would end the name in TAU's files.
std::string tau_name(std::string_view name, std::string_view place) {
  std::string text = printable(name);
  if (!place.empty()) {
    const size_t colon = place.rfind(':');
    text += fmt::format(" [{{{}}} {{{}}}]", printable(place.substr(0, colon)),
                        colon == std::string_view::npos ? "" : place.substr(colon + 1));
  }
  std::replace(text.begin(), text.end(), '"', '\'');
  return text;
}

int64_t subroutines_of(const Dictionary& names, DetailId detail) {
  for (const DetailItem& item : names.items(detail)) {
    if (names.text(item.key) != "subroutines") continue;
    if (const auto* number = std::get_if<int64_t>(&item.value)) return *number;
  }
  return 0;
}

using ByThread = std::map<std::pair<int64_t, int64_t>, std::map<std::string, TauFunction>>;

void add_counters(const Batch& batch, ByThread& threads) {
  const Dictionary& names = batch.dictionary;
  for (const Counter& counter : batch.rows.of<Counter>()) {
    if (names.text(counter.layer) != "python") continue;
    const ThreadKey& key = names.threads[static_cast<size_t>(counter.thread)];
    const std::string name = tau_name(names.text(counter.name), names.text(counter.file));
    TauFunction& function = threads[{key.pid, key.tid}][name];
    function.name = name;
    function.calls += counter.count;
    function.subroutines += subroutines_of(names, counter.detail);
    function.inclusive_ns += counter.time_ns.value_or(0);
    function.exclusive_ns += counter.self_time_ns.value_or(0);
  }
}

}  // namespace

Result<std::vector<TauThread>> load_tau_profile(const Recording& recording) {
  ByThread by_thread;
  TRY(recording.read(tables_of<Counter>(), [&](const Batch& batch) -> Status {
    add_counters(batch, by_thread);
    return {};
  }));
  if (by_thread.empty())
    return Error{Code::kNotFound, "no calls of Python functions were counted",
                 "fathom run --probe python -- COMMAND; samples do not fill exact columns"};
  std::vector<TauThread> threads;
  int64_t node = -1, thread = 0, pid = -1;
  for (auto& [key, functions] : by_thread) {
    if (key.first != pid) {
      ++node;
      thread = 0;
      pid = key.first;
    }
    TauThread& made = threads.emplace_back();
    made.node = node;
    made.thread = thread++;
    made.pid = key.first;
    made.tid = key.second;
    for (auto& [name, function] : functions) made.functions.push_back(std::move(function));
    std::stable_sort(made.functions.begin(), made.functions.end(),
                     [](const TauFunction& left, const TauFunction& right) {
                       return left.inclusive_ns > right.inclusive_ns;
                     });
  }
  return threads;
}

std::string tau_file(const TauThread& thread) {
  std::string text = fmt::format(
      "{} templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls # "
      "<metadata><attribute><name>Metric Name</name><value>TIME</value></attribute><attribute>"
      "<name>pid</name><value>{}</value></attribute><attribute><name>tid</name><value>{}</value>"
      "</attribute><attribute><name>Recorded "
      "by</name><value>fathom</value></attribute></metadata>\n",
      thread.functions.size(), thread.pid, thread.tid);
  for (const TauFunction& function : thread.functions) {
    text += fmt::format("\"{}\" {} {} {:.3f} {:.3f} 0 GROUP=\"TAU_PYTHON\"\n", function.name,
                        function.calls, function.subroutines,
                        static_cast<double>(function.exclusive_ns) / kNsPerMicrosecond,
                        static_cast<double>(function.inclusive_ns) / kNsPerMicrosecond);
  }
  return text + "0 aggregates\n0 userevents\n";
}

std::string tau_table(const TauThread& thread) {
  std::string text = fmt::format("\nNODE {};CONTEXT 0;THREAD {}:\n", thread.node, thread.thread);
  text += kRule;
  text += "%Time    Exclusive    Inclusive       #Call      #Subrs  Inclusive Name\n";
  text += "              msec   total msec                          usec/call \n";
  text += kRule;
  const double whole =
      thread.functions.empty() ? 0 : static_cast<double>(thread.functions[0].inclusive_ns);
  for (const TauFunction& function : thread.functions) {
    const auto inclusive = static_cast<double>(function.inclusive_ns);
    const double each = function.calls > 0
                            ? inclusive / kNsPerMicrosecond / static_cast<double>(function.calls)
                            : 0;
    text += fmt::format("{:5.1f} {:12.4g} {:12.5g} {:11} {:11} {:10.0f} {}\n",
                        whole > 0 ? 100 * inclusive / whole : 0,
                        static_cast<double>(function.exclusive_ns) / kNsPerMillisecond,
                        inclusive / kNsPerMillisecond, function.calls, function.subroutines, each,
                        function.name);
  }
  return text;
}

}  // namespace fathom
