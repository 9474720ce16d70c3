// SPDX-License-Identifier: Apache-2.0
#include "probe/simulate/callgrind_file.h"

#include <charconv>
#include <optional>
#include <unordered_map>

#include "base/text.h"

namespace fathom {
namespace {

constexpr size_t kMostEvents = 64;

// "(12) name" says what 12 stands for, "(12)" uses it, "name" stands for itself.
class Names {
 public:
  std::string_view resolve(std::string_view text) {
    if (text.empty() || text.front() != '(') return text;
    const size_t end = text.find(')');
    if (end == std::string_view::npos) return text;
    const std::string_view id = text.substr(1, end - 1);
    if (end + 2 < text.size()) known_[id] = text.substr(end + 2);
    const auto found = known_.find(id);
    return found == known_.end() ? std::string_view("???") : found->second;
  }

 private:
  std::unordered_map<std::string_view, std::string_view> known_;
};

class Parser {
 public:
  explicit Parser(CallgrindFile& file) : file_(file) {}

  Status take(std::string_view line) {
    if (line.empty() || line.front() == '#') return {};
    const size_t equals = line.find('='), colon = line.find(':');
    const char first = line.front();
    if ((first >= '0' && first <= '9') || first == '+' || first == '-' || first == '*')
      return take_costs(line);
    if (equals < colon) return take_name(line.substr(0, equals), line.substr(equals + 1));
    if (colon != std::string_view::npos)
      return take_header(line.substr(0, colon), line.substr(colon + 1));
    return Error{Code::kCorrupt, "a line of callgrind's file makes no sense: " + printable(line)};
  }

 private:
  Status take_header(std::string_view key, std::string_view value) {
    const std::vector<std::string_view> words = split_words(value);
    if (key == "pid" && !words.empty()) file_.pid = parse_number(words[0]).value_or(0);
    if (key == "cmd")
      file_.command = value.substr(
          value.find_first_not_of(' ') < value.size() ? value.find_first_not_of(' ') : 0);
    if (key == "positions") positions_ = words.size();
    if (key == "events") {
      if (words.size() > kMostEvents || !file_.functions.empty() || !file_.calls.empty())
        return Error{Code::kCorrupt, "too many events, or too late"};
      file_.events.assign(words.begin(), words.end());
    }
    if (key == "summary" || key == "totals") file_.summary = numbers(words, 0);
    return {};
  }

  // A function that calls itself is "name" for its first call and "name'2" for those within.
  static std::string_view without_depth(std::string_view name) {
    const size_t quote = name.rfind('\'');
    if (quote == std::string_view::npos || quote == 0 || quote + 1 == name.size()) return name;
    const bool digits = name.find_first_not_of("0123456789", quote + 1) == std::string_view::npos;
    return digits ? name.substr(0, quote) : name;
  }

  // A callee without an object file (cob) is in that of its caller.
  Status take_name(std::string_view key, std::string_view value) {
    if (key == "ob")
      object_ = objects_.resolve(value);
    else if (key == "cob")
      callee_object_ = objects_.resolve(value);
    else if (key == "fn")
      function_ = without_depth(functions_.resolve(value));
    else if (key == "cfn")
      callee_ = without_depth(functions_.resolve(value));
    else if (key == "calls")
      costs_of_call_ = true;
    if (key == "ob" || key == "fn") costs_ = nullptr;
    return {};
  }

  Status take_costs(std::string_view line) {
    const std::vector<int64_t> values = numbers(split_words(line), positions_);
    if (costs_of_call_) {
      take_call(values);
      return {};
    }
    if (costs_ == nullptr) {
      costs_ = &file_.functions[{std::string(function_), std::string(object_)}];
      costs_->resize(file_.events.size());
    }
    add_values(*costs_, values);
    return {};
  }

  // A function that calls itself has what that costs already.
  void take_call(const std::vector<int64_t>& values) {
    const bool itself = callee_ == function_ && callee_object_.value_or(object_) == object_;
    costs_of_call_ = false;
    callee_object_.reset();
    if (itself) return;
    auto& costs = file_.calls[{std::string(function_), std::string(object_)}];
    costs.resize(file_.events.size());
    add_values(costs, values);
  }

  static void add_values(std::vector<int64_t>& costs, const std::vector<int64_t>& values) {
    for (size_t i = 0; i < values.size() && i < costs.size(); ++i)
      add_saturated(costs[i], values[i]);
  }

  static std::vector<int64_t> numbers(const std::vector<std::string_view>& words, size_t from) {
    std::vector<int64_t> values;
    for (size_t i = from; i < words.size(); ++i) {
      int64_t value = 0;
      std::from_chars(words[i].data(), words[i].data() + words[i].size(), value);
      values.push_back(value < 0 ? 0 : value);
    }
    return values;
  }

  CallgrindFile& file_;
  Names objects_, functions_;
  std::string_view object_ = "???", function_ = "???";
  std::vector<int64_t>* costs_ = nullptr;  // of the function at hand
  size_t positions_ = 1;
  std::string_view callee_;
  std::optional<std::string_view> callee_object_;
  bool costs_of_call_ = false;  // the next line says what the callee cost
};

}  // namespace

int64_t CallgrindFile::total(std::string_view event) const {
  int64_t sum = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i] != event) continue;
    for (const auto& [name, costs] : functions) add_saturated(sum, costs[i]);
  }
  return sum;
}

Result<CallgrindFile> parse_callgrind(std::string_view text) {
  CallgrindFile file;
  Parser parser(file);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    TRY(parser.take(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (file.events.empty())
    return Error{Code::kCorrupt, "callgrind's file does not say what it counts"};
  return file;
}

}  // namespace fathom
