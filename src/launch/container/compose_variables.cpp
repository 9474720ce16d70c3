// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cctype>

#include "base/text.h"
#include "launch/container/compose.h"

namespace fathom {
namespace {

constexpr int kMostNested = 8;

bool may_be_in_name(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_';
}

size_t name_length(std::string_view text) {
  if (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0) return 0;
  size_t length = 0;
  while (length < text.size() && may_be_in_name(text[length])) ++length;
  return length;
}

class Filler {
 public:
  explicit Filler(const ComposeVariables& variables) : variables_(variables) {}

  Result<std::string> fill(std::string_view text, int depth) const {
    if (depth > kMostNested) return wrong(text, "is nested too deep");
    std::string out;
    while (!text.empty()) {
      const size_t dollar = std::min(text.find('$'), text.size());
      out += text.substr(0, dollar);
      text.remove_prefix(dollar);
      if (text.empty()) break;
      TRY(take(text, out, depth));
    }
    return out;
  }

 private:
  static Error wrong(std::string_view text, const char* why) {
    return Error{Code::kInvalid, fmt::format("'{}' {}", printable(text), why),
                 "${NAME}, ${NAME:-other}, ${NAME:?why}; $$ is a dollar"};
  }

  // What a dollar begins.
  Status take(std::string_view& text, std::string& out, int depth) const {
    if (text.starts_with("$$")) {
      out += '$';
      text.remove_prefix(2);
      return {};
    }
    if (!text.starts_with("${")) {
      const size_t length = name_length(text.substr(1));
      if (length == 0) return wrong(text.substr(0, 20), "names no variable");
      out += variables_(std::string(text.substr(1, length))).value_or("");
      text.remove_prefix(1 + length);
      return {};
    }
    const size_t end = closing(text);
    if (end == std::string_view::npos) return wrong(text.substr(0, 20), "has no closing brace");
    TRY_ASSIGN(const std::string value, braced(text.substr(2, end - 2), depth));
    out += value;
    text.remove_prefix(end + 1);
    return {};
  }

  static size_t closing(std::string_view text) {
    int open = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      if (text.substr(at).starts_with("${")) ++open;
      if (text[at] == '}' && --open == 0) return at;
    }
    return std::string_view::npos;
  }

  Result<std::string> braced(std::string_view inner, int depth) const {
    const size_t length = name_length(inner);
    if (length == 0) return wrong(inner.substr(0, 20), "names no variable");
    const std::string name(inner.substr(0, length));
    std::string_view rest = inner.substr(length);
    auto value = variables_(name);
    if (rest.empty()) return value.value_or("");
    const bool empty_counts = rest[0] == ':';
    if (empty_counts) rest.remove_prefix(1);
    if (rest.empty()) return wrong(inner, "makes no sense");
    const char kind = rest[0];
    const bool there = value && !(empty_counts && value->empty());
    rest.remove_prefix(1);
    if (kind == '+') return there ? fill(rest, depth + 1) : Result<std::string>(std::string());
    if (kind != '-' && kind != '?') return wrong(inner, "makes no sense");
    if (there) return *value;
    if (kind == '-') return fill(rest, depth + 1);
    return Error{Code::kInvalid,
                 rest.empty() ? "the variable " + name + " is not set"
                              : "the variable " + name + " is not set: " + printable(rest),
                 "export " + name + "=…, or write it into .env beside the file"};
  }

  const ComposeVariables& variables_;
};

}  // namespace

Result<std::string> fill_variables(std::string_view text, const ComposeVariables& variables) {
  return Filler(variables).fill(text, 0);
}

std::vector<std::pair<std::string, std::string>> parse_env_file(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (std::string_view line : split_words(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("export ")) line.remove_prefix(7);
    const size_t equals = line.find('=');
    if (line.starts_with('#') || equals == std::string_view::npos || equals == 0) continue;
    std::string_view value = line.substr(equals + 1);
    if (value.size() > 1 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0])
      value = value.substr(1, value.size() - 2);
    settings.emplace_back(line.substr(0, equals), value);
  }
  return settings;
}

}  // namespace fathom
