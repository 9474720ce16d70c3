// SPDX-License-Identifier: Apache-2.0
#include "probe/python/python_profile.h"

#include <simdjson.h>

#include "base/simdjson.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;
using Found = simdjson::simdjson_result<dom::element>;

constexpr size_t kMostThreads = 10'000, kMostFrames = 1000, kMostNameBytes = 1000;

std::string text_of(const Found& element) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) return {};
  return std::string(text.substr(0, kMostNameBytes));
}

// Never negative: a clock or a hostile file might say so.
int64_t number_of(const Found& element) {
  int64_t number = 0;
  if (element.get(number) != simdjson::SUCCESS) return 0;
  return number < 0 ? 0 : number;
}

double real_of(const Found& element) {
  double number = 0;
  return element.get(number) == simdjson::SUCCESS && number > 0 && number < 1e6 ? number : 0;
}

PythonFunction function_of(const dom::array& row) {
  PythonFunction function;
  function.name = text_of(row.at(0));
  function.file = text_of(row.at(1));
  function.line = number_of(row.at(2));
  function.builtin = text_of(row.at(3)) == "builtin";
  function.calls = number_of(row.at(4));
  function.subroutines = number_of(row.at(5));
  function.exclusive_ns = number_of(row.at(6));
  function.inclusive_ns = number_of(row.at(7));
  return function;
}

void read_threads(const dom::element& root, PythonProfile& profile) {
  dom::array threads;
  if (root["threads"].get(threads) != simdjson::SUCCESS) return;
  for (const dom::element each : threads) {
    if (profile.threads.size() == kMostThreads) return;
    PythonThread& thread = profile.threads.emplace_back();
    thread.tid = number_of(each["tid"]);
    thread.name = text_of(each["name"]);
    thread.top_calls = number_of(each["calls"]);
    thread.inclusive_ns = number_of(each["inclusive_ns"]);
    dom::array rows, row;
    if (each["functions"].get(rows) != simdjson::SUCCESS) continue;
    for (const dom::element one : rows)
      if (one.get(row) == simdjson::SUCCESS && row.size() == 8)
        thread.functions.push_back(function_of(row));
  }
}

void read_stacks(const dom::element& root, PythonProfile& profile) {
  dom::array stacks, row, frames;
  if (root["stacks"].get(stacks) != simdjson::SUCCESS) return;
  for (const dom::element each : stacks) {
    if (each.get(row) != simdjson::SUCCESS || row.size() != 4) continue;
    PythonStack stack;
    stack.tid = number_of(row.at(0));
    stack.count = number_of(row.at(2));
    stack.time_ns = number_of(row.at(3));
    if (row.at(1).get(frames) != simdjson::SUCCESS) continue;
    for (const dom::element frame : frames)
      if (stack.frames.size() < kMostFrames)
        stack.frames.push_back(text_of(Found(dom::element(frame))));
    if (stack.count > 0 && stack.time_ns >= stack.count && !stack.frames.empty())
      profile.stacks.push_back(std::move(stack));
  }
}

}  // namespace

Result<PythonProfile> parse_python_profile(std::string_view json) {
  TRY(load_simdjson());
  dom::parser parser;
  dom::element root;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS)
    return Error{Code::kCorrupt, "a Python profile makes no sense"};
  PythonProfile profile;
  profile.pid = number_of(root["pid"]);
  profile.pid_namespace = static_cast<uint64_t>(number_of(root["pid_namespace"]));
  profile.program = text_of(root["program"]);
  profile.version = text_of(root["python"]);
  const std::string mode = text_of(root["mode"]);
  profile.wall_time = mode == "wall";
  profile.sampled = profile.wall_time || mode == "sample";
  profile.rate_hz = real_of(root["rate_hz"]);
  profile.looks = number_of(root["looks"]);
  profile.call_ns = number_of(root["call_ns"]);
  profile.cost_ns = number_of(root["cost_ns"]);
  profile.cost_bytes = number_of(root["cost_bytes"]);
  int64_t cpu_ns = 0;
  if (root["cpu_ns"].get(cpu_ns) == simdjson::SUCCESS && cpu_ns >= 0) profile.cpu_ns = cpu_ns;
  read_threads(root, profile);
  read_stacks(root, profile);
  if (profile.pid == 0) return Error{Code::kCorrupt, "a Python profile has no process"};
  return profile;
}

}  // namespace fathom
