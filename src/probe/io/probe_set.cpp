// SPDX-License-Identifier: Apache-2.0
#include "probe/io/probe_set.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/fd.h"
#include "base/text.h"
#include "base/yaml.h"

namespace fathom {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr size_t kMostPattern = 512;
constexpr uint64_t kMostCopies = 100'000;  // of characters of a pattern
constexpr size_t kMostLayerName = 32;
constexpr double kLeastInterval = 0.001, kMostInterval = 3600;

Error wrong(const YamlNode& node, const std::string& what, const std::string& hint = {}) {
  return Error{Code::kInvalid, fmt::format("line {}: {}", node.line, what), hint};
}

// Every member of a map must be one of these.
Status check_members(const YamlNode& node, std::string_view what,
                     std::span<const std::string_view> known) {
  if (node.kind != YamlNode::Kind::kMap)
    return wrong(node, fmt::format("{} must be `name: value` lines", what));
  for (const auto& [key, value] : node.members) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const auto near = closest_match(key, known);
    std::string all;
    for (const std::string_view name : known) all.append(all.empty() ? "" : ", ").append(name);
    return wrong(value, fmt::format("{} has no {}", what, printable(key)),
                 near ? fmt::format("did you mean {}?", *near) : "there are " + all);
  }
  return {};
}

Result<std::string> scalar(const YamlNode& node, std::string_view what) {
  if (node.kind == YamlNode::Kind::kScalar && !node.text.empty() &&
      node.text.find('\0') == std::string::npos)
    return node.text;
  return wrong(node, fmt::format("{} must be a word", what));
}

// The member as a word; empty where there is none.
Result<std::string> member(const YamlNode& node, std::string_view key) {
  const YamlNode* found = node.find(key);
  return found != nullptr ? scalar(*found, key) : std::string();
}

Result<bool> on_or_off(const YamlNode& node) {
  for (const std::string_view word : {"on", "yes", "true", "1"})
    if (node.text == word) return true;
  for (const std::string_view word : {"off", "no", "false", "0"})
    if (node.text == word) return false;
  return wrong(node, "a layer is on or off", "layers: {sys: on, faults: off}");
}

// A list of those wanted, or a map that changes the usual ones.
Result<LayerChoice> read_layers(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kScalar) return layers_from(node.text);
  LayerChoice choice;
  if (node.kind == YamlNode::Kind::kMap) {
    TRY_ASSIGN(choice, layers_from(""));
  }
  const auto set = [&choice](const YamlNode& at, const std::string& name, bool wanted) -> Status {
    auto named = layers_from(name);
    if (!named.ok()) return wrong(at, named.error().message, named.error().hint);
    for (const std::string& layer : named.value().names) {
      std::erase(choice.names, layer);
      if (wanted) choice.names.push_back(layer);
    }
    return {};
  };
  for (const YamlNode& item : node.items) {
    TRY_ASSIGN(const std::string name, scalar(item, "a layer"));
    TRY(set(item, name, true));
  }
  for (const auto& [name, value] : node.members) {
    TRY_ASSIGN(const bool wanted, on_or_off(value));
    TRY(set(value, name, wanted));
  }
  return choice;
}

Status check_layer_name(const YamlNode& node, const std::string& name) {
  const auto fits = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  if (!name.empty() && name.size() <= kMostLayerName && std::all_of(name.begin(), name.end(), fits))
    return {};
  return wrong(node, fmt::format("{} is no name for a layer", printable(name)),
               "letters, digits, - _ and ., at most 32");
}

struct ProbeWord {
  std::string_view probe, type;
  Capture::Kind kind;
};
constexpr std::array kProbeWords = {
    ProbeWord{"syscalls", "", Capture::Kind::kSystemCalls},
    ProbeWord{"function", "", Capture::Kind::kFunctions},
    ProbeWord{"fentry", "", Capture::Kind::kFunctions},
    ProbeWord{"kprobe", "", Capture::Kind::kFunctions},
    ProbeWord{"tracepoint", "", Capture::Kind::kTracepoints},
    ProbeWord{"uprobe", "", Capture::Kind::kUser},
};

Result<NamePattern> pattern_of(const YamlNode& node, const YamlNode& at) {
  auto pattern = NamePattern::compile(node.text);
  if (!pattern.ok()) return wrong(at, pattern.error().message, pattern.error().hint);
  return pattern;
}

// `by: kprobe`, or a list of rungs.
Status read_rungs(const YamlNode& node, Capture& capture) {
  const YamlNode* by = node.find("by");
  if (by == nullptr) return {};
  const auto add = [&capture](const YamlNode& word) -> Status {
    if (word.text == "fentry") {
      capture.by.push_back(HookRung::kFentry);
    } else if (word.text == "tp_btf") {
      capture.by.push_back(HookRung::kTracepoint);
    } else if (word.text == "kprobe") {
      capture.by.push_back(HookRung::kKprobe);
    } else {
      return wrong(word, fmt::format("no rung is named {}", printable(word.text)),
                   "by: fentry, tp_btf or kprobe");
    }
    return {};
  };
  if (by->kind == YamlNode::Kind::kScalar) return add(*by);
  for (const YamlNode& item : by->items) TRY(add(item));
  return {};
}

Status read_capture(const YamlNode& node, ProbeSet& set) {
  static constexpr std::array<std::string_view, 6> kKeys = {"name", "probe", "type",
                                                            "file", "regex", "by"};
  TRY(check_members(node, "a capture probe", kKeys));
  Capture capture;
  TRY_ASSIGN(capture.layer, member(node, "name"));
  TRY(check_layer_name(node, capture.layer));
  TRY_ASSIGN(const std::string probe, member(node, "probe"));
  TRY_ASSIGN(const std::string type, member(node, "type"));
  if (probe == "usdt" || type == "usdt" || type == "header") {
    set.left_out.push_back(
        fmt::format("{} ({} of type {} is not read yet)", capture.layer, probe, printable(type)));
    return {};
  }
  const auto word = std::find_if(kProbeWords.begin(), kProbeWords.end(),
                                 [&](const ProbeWord& known) { return known.probe == probe; });
  if (word == kProbeWords.end())
    return wrong(node, fmt::format("no probe is named {}", printable(probe)),
                 "probe: syscalls, function, fentry, kprobe, tracepoint or uprobe");
  capture.kind = word->kind;
  const YamlNode* regex = node.find("regex");
  TRY_ASSIGN(capture.pattern, pattern_of(regex != nullptr ? *regex : YamlNode{}, node));
  TRY_ASSIGN(capture.file, member(node, "file"));
  TRY(read_rungs(node, capture));
  if (capture.kind == Capture::Kind::kUser && capture.file.empty())
    return wrong(node, "a uprobe needs the file of its functions", "file: /usr/lib/libz.so.1");
  if (capture.kind == Capture::Kind::kSystemCalls) capture.layer = "sys";
  set.captures.push_back(std::move(capture));
  return {};
}

// {name, link, regex}: a library and its functions.
Status read_user(const YamlNode& node, ProbeSet& set) {
  static constexpr std::array<std::string_view, 3> kKeys = {"name", "link", "regex"};
  TRY(check_members(node, "user", kKeys));
  Capture capture;
  capture.kind = Capture::Kind::kUser;
  TRY_ASSIGN(capture.layer, member(node, "name"));
  TRY(check_layer_name(node, capture.layer));
  TRY_ASSIGN(capture.file, member(node, "link"));
  if (capture.file.empty())
    return wrong(node, "user needs the file of its functions", "link: /usr/lib/libz.so.1");
  const YamlNode* regex = node.find("regex");
  TRY_ASSIGN(capture.pattern, pattern_of(regex != nullptr ? *regex : YamlNode{}, node));
  set.captures.push_back(std::move(capture));
  return {};
}

using ReadItem = Status (*)(const YamlNode&, ProbeSet&);

Status read_each(const YamlNode& root, std::string_view key, ReadItem read, ProbeSet& set) {
  const YamlNode* list = root.find(key);
  if (list == nullptr) return {};
  if (list->kind != YamlNode::Kind::kList)
    return wrong(*list, fmt::format("{} must be a list", key), fmt::format("{}:\n  - …", key));
  for (const YamlNode& item : list->items) TRY(read(item, set));
  return {};
}

Status read_prefix(const YamlNode& node, ProbeSet& set) {
  TRY_ASSIGN(std::string prefix, scalar(node, "a path"));
  set.path_prefixes.push_back(std::move(prefix));
  return {};
}

Status read_interval(const YamlNode& profile, ProbeSet& set) {
  static constexpr std::array<std::string_view, 1> kKeys = {"interval_sec"};
  TRY(check_members(profile, "profile", kKeys));
  const YamlNode* interval = profile.find("interval_sec");
  if (interval == nullptr) return {};
  const auto seconds = parse_real(interval->text);
  if (!seconds.ok() || seconds.value() < kLeastInterval || seconds.value() > kMostInterval)
    return wrong(*interval, "interval_sec is 0.001 to 3600", "interval_sec: 1");
  set.interval_ns = std::llround(seconds.value() * 1e9);
  return {};
}

// Of those up to the next }; at least 1.
uint64_t largest_number(const std::string& pattern, size_t at) {
  uint64_t largest = 1, number = 0;
  for (; at < pattern.size() && pattern[at] != '}'; ++at) {
    const bool digit = pattern[at] >= '0' && pattern[at] <= '9';
    number = digit ? std::min<uint64_t>(kMostCopies,
                                        10 * number + static_cast<uint64_t>(pattern[at] - '0'))
                   : 0;
    largest = std::max(largest, number);
  }
  return largest;
}

// The C library copies what is repeated: twice for a +, n times for {n}, and of repetitions of
// repetitions the product. What refers back takes time.
bool is_costly(const std::string& pattern) {
  uint64_t copies = pattern.size();
  for (size_t at = 0; at < pattern.size() && copies <= kMostCopies; ++at) {
    if (pattern[at] == '+') copies *= 2;
    if (pattern[at] == '{') copies *= largest_number(pattern, at + 1);
  }
  if (copies > kMostCopies) return true;
  for (size_t at = pattern.find('\\'); at != std::string::npos; at = pattern.find('\\', at + 2))
    if (at + 1 < pattern.size() && pattern[at + 1] >= '1' && pattern[at + 1] <= '9') return true;
  return false;
}

}  // namespace

Result<NamePattern> NamePattern::compile(const std::string& text) {
  if (text.empty()) return Error{Code::kInvalid, "a pattern is missing", "regex: ^vfs_"};
  if (text.size() > kMostPattern || text.find('\0') != std::string::npos)
    return Error{Code::kInvalid, "the pattern is too long", "at most 512 characters"};
  if (is_costly(text))
    return Error{Code::kInvalid, printable(text) + " is a pattern that could take for ever",
                 "without \\1 to \\9, and with fewer + and {…}"};
  const std::shared_ptr<regex_t> compiled(new regex_t{}, [](regex_t* made) {
    regfree(made);
    delete made;
  });
  const int failed = regcomp(compiled.get(), text.c_str(), REG_EXTENDED | REG_NOSUB);
  if (failed != 0) {
    std::array<char, 160> why{};
    regerror(failed, compiled.get(), why.data(), why.size());
    return Error{Code::kInvalid,
                 fmt::format("{} is no regular expression: {}", printable(text), why.data())};
  }
  NamePattern pattern;
  pattern.text_ = text;
  pattern.compiled_ = compiled;
  return pattern;
}

bool NamePattern::fits(const std::string& name) const {
  return compiled_ != nullptr &&
         regexec(static_cast<const regex_t*>(compiled_.get()), name.c_str(), 0, nullptr, 0) == 0;
}

Result<ProbeSet> parse_probe_set(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kKeys = {
      "name", "file", "layers", "capture_probes", "user", "inclusion", "profile"};
  TRY_ASSIGN(const YamlNode root, parse_yaml(text));
  TRY(check_members(root, "a probe set", kKeys));
  ProbeSet set;
  TRY_ASSIGN(set.name, member(root, "name"));
  if (const YamlNode* layers = root.find("layers")) {
    TRY_ASSIGN(set.layers, read_layers(*layers));
  } else if (root.find("capture_probes") == nullptr) {
    TRY_ASSIGN(set.layers, layers_from(""));
  }
  TRY(read_each(root, "capture_probes", read_capture, set));
  TRY(read_each(root, "user", read_user, set));
  TRY(read_each(root, "inclusion", read_prefix, set));
  if (const YamlNode* profile = root.find("profile")) TRY(read_interval(*profile, set));
  const auto asks_calls = [](const Capture& capture) {
    return capture.kind == Capture::Kind::kSystemCalls;
  };
  if (std::any_of(set.captures.begin(), set.captures.end(), asks_calls) && !set.layers.has("sys"))
    set.layers.names.emplace_back("sys");
  return set;
}

Result<ProbeSet> read_probe_set(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path, kMostBytes));
  auto set = parse_probe_set(text);
  if (!set.ok()) return std::move(set).error().within(printable(path));
  return set;
}

}  // namespace fathom
