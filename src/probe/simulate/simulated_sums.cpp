// SPDX-License-Identifier: Apache-2.0
#include "probe/simulate/simulated_sums.h"

#include <algorithm>

#include "base/text.h"
#include "record/simulated_events.h"

namespace fathom {
namespace {

// Callgrind's events, added up, under a name in use elsewhere.
struct Meaning {
  const char* name;
  std::array<std::string_view, 3> events;
};
constexpr std::array<Meaning, SimulatedSums::kEvents> kMeanings = {{
    {"instructions:simulated", {"Ir", "", ""}},
    {"branches:simulated", {"Bc", "Bi", ""}},
    {"branch-misses:simulated", {"Bcm", "Bim", ""}},
    {"L1-icache-load-misses:simulated", {"I1mr", "", ""}},
    {"L1-dcache-loads:simulated", {"Dr", "", ""}},
    {"L1-dcache-load-misses:simulated", {"D1mr", "", ""}},
    {"L1-dcache-stores:simulated", {"Dw", "", ""}},
    {"L1-dcache-store-misses:simulated", {"D1mw", "", ""}},
    {"cache-references:simulated", {"I1mr", "D1mr", "D1mw"}},
    {"cache-misses:simulated", {"ILmr", "DLmr", "DLmw"}},
}};
constexpr size_t kInstructions = 0, kBranchMisses = 2, kReferences = 8, kMisses = 9;

void add_to(SimulatedSums::Values& sum, const SimulatedSums::Values& more) {
  for (size_t i = 0; i < sum.size(); ++i) add_saturated(sum[i], more[i]);
}

SimulatedSums::Values meaning_of(const std::vector<std::string>& events,
                                 const std::vector<int64_t>& costs) {
  SimulatedSums::Values values{};
  for (size_t i = 0; i < events.size() && i < costs.size(); ++i)
    for (size_t m = 0; m < kMeanings.size(); ++m)
      if (std::find(kMeanings[m].events.begin(), kMeanings[m].events.end(), events[i]) !=
          kMeanings[m].events.end())
        add_saturated(values[m], costs[i]);
  return values;
}

std::string_view last_part(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "/usr/bin/cc1 -quiet x.c": cc1.
std::string program_of(std::string_view command) {
  return printable(last_part(command.substr(0, command.find(' '))));
}

// A function without a name is told by where it starts, as in stacks: "[libc.so.6+0x1050]".
std::string symbol_of(std::string_view function, std::string_view object) {
  if (!function.starts_with("0x")) return printable(function);
  const size_t digits = std::min(function.find_first_not_of('0', 2), function.size());
  return "[" + printable(last_part(object)) + "+0x" + printable(function.substr(digits)) + "]";
}

}  // namespace

const std::array<const char*, SimulatedSums::kEvents>& SimulatedSums::names() {
  static const auto kNames = [] {
    std::array<const char*, kEvents> names{};
    for (size_t i = 0; i < kEvents; ++i) names[i] = kMeanings[i].name;
    return names;
  }();
  return kNames;
}

void SimulatedSums::add(const CallgrindFile& file) {
  const std::string program = program_of(file.command);
  Values& process = processes_[file.pid];
  Values all{};
  for (const auto& [where, costs] : file.functions) {
    const Values values = meaning_of(file.events, costs);
    const auto& [function, object] = where;
    add_to(functions_[{symbol_of(function, object), printable(object), program}], values);
    add_to(all, values);
  }
  if (!file.summary.empty() && meaning_of(file.events, file.summary) != all) agrees_ = false;
  add_with_callees(file, program, all);
  add_to(process, all);
  add_to(totals_, all);
}

// No more than all, which functions that call each other in turns would come to.
void SimulatedSums::add_with_callees(const CallgrindFile& file, const std::string& program,
                                     const Values& all) {
  std::map<Node, Values> sums;
  for (const auto* costs_of : {&file.functions, &file.calls}) {
    for (const auto& [where, costs] : *costs_of) {
      const auto& [function, object] = where;
      add_to(sums[{symbol_of(function, object), printable(object), program}],
             meaning_of(file.events, costs));
    }
  }
  for (auto& [node, values] : sums) {
    for (size_t i = 0; i < kEvents; ++i) values[i] = std::min(values[i], all[i]);
    add_to(with_callees_[node], values);
  }
}

double SimulatedSums::estimated_cycles() const {
  const auto total = [this](size_t event) { return static_cast<double>(totals_[event]); };
  return total(kInstructions) + 10 * total(kBranchMisses) + 10 * total(kReferences) +
         100 * total(kMisses);
}

void SimulatedSums::write(RecordStream& out, int64_t start_ns, int64_t end_ns) const {
  for (size_t i = 0; i < kEvents; ++i) {
    const StringId name = out.string(names()[i]), unit = out.string("count");
    EventCount total;
    total.name = name;
    total.unit = unit;
    total.source = out.string("valgrind");
    if (!processes_.empty()) total.count = totals_[i];
    if (processes_.empty()) total.why = out.string("no process left figures");
    out.add(total);
    for (const auto& [pid, values] : processes_) {
      Counter counter;
      counter.slice_ns = start_ns;
      counter.slice_length_ns = end_ns - start_ns;
      counter.thread = out.names().thread(pid, pid);
      counter.layer = out.string("simulated");
      counter.name = name;
      counter.count = values[i];
      out.add(counter);
    }
    const StringId whole = out.string(names()[i] + std::string(kWithCalleesSuffix));
    const auto add_sums = [&](const std::map<Node, Values>& sums, StringId event) {
      for (const auto& [node, values] : sums) {
        const auto& [symbol, module, program] = node;
        if (values[i] != 0)
          out.add(NodeSum{out.string(symbol), out.string(module), out.string(program), event, unit,
                          values[i]});
      }
    };
    add_sums(functions_, name);
    add_sums(with_callees_, whole);
  }
}

}  // namespace fathom
