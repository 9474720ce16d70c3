// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace fathom {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr size_t kLongestWord = 64;  // longer ones are nobody's typing mistake

bool is_shell_safe(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') ||
         std::string_view("_-./,:=@%+").find(byte) != std::string_view::npos;
}

// Characters that turn the direction of a line or hide in it.
bool is_invisible_control(char32_t value) {
  return value < 0x20 || (value >= 0x7F && value < 0xA0) || value == 0x200E || value == 0x200F ||
         (value >= 0x2028 && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069) ||
         value == 0xFEFF;
}

std::string visible_control(char32_t value) {
  if (value == '\n') return "\\n";
  if (value == '\t') return "\\t";
  if (value == '\r') return "\\r";
  return value < 0x80 ? fmt::format("\\x{:02x}", static_cast<unsigned>(value))
                      : fmt::format("\\u{:04x}", static_cast<unsigned>(value));
}

void append_json(std::string& out, char32_t value, std::string_view bytes) {
  switch (value) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      if (value < 0x20 || value == 0x7F) {
        out += fmt::format("\\u{:04x}", static_cast<unsigned>(value));
      } else {
        out += bytes;
      }
  }
}

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// For spreadsheets: see csv_quote.
bool needs_apostrophe(std::string_view field) {
  constexpr std::string_view kSpecial = "=+-@\t\r";
  return !field.empty() && kSpecial.find(field.front()) != std::string_view::npos &&
         !is_number(field);
}

std::string csv_field(std::string_view field) {
  const bool bare = field.find_first_of(",\"\r\n") == std::string_view::npos &&
                    (field.empty() || (field.front() != ' ' && field.back() != ' '));
  if (bare) return std::string(field);
  std::string quoted = "\"";
  for (const char byte : field) {
    if (byte == '"') quoted += '"';
    quoted += byte;
  }
  return quoted + "\"";
}

}  // namespace

size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<size_t> before(right.size() + 1);
  std::vector<size_t> last(right.size() + 1);
  std::vector<size_t> now(right.size() + 1);
  for (size_t column = 0; column <= right.size(); ++column) last[column] = column;
  for (size_t row = 1; row <= left.size(); ++row) {
    now[0] = row;
    for (size_t column = 1; column <= right.size(); ++column) {
      const size_t replaced = last[column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1);
      now[column] = std::min({last[column] + 1, now[column - 1] + 1, replaced});
      if (row > 1 && column > 1 && left[row - 1] == right[column - 2] &&
          left[row - 2] == right[column - 1]) {
        now[column] = std::min(now[column], before[column - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(now);
  }
  return last[right.size()];
}

std::optional<std::string_view> closest_match(std::string_view word,
                                              std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string_view> best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongestWord) continue;
    // What somebody stopped typing counts as one mistake.
    const bool begun = word.size() >= 2 && candidate.starts_with(word);
    const size_t distance = candidate == word ? 0 : begun ? 1 : edit_distance(word, candidate);
    if (distance >= best_distance || distance >= candidate.size()) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

std::vector<std::string_view> split_words(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string first_few(const std::set<std::string>& names, size_t most) {
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (shown.size() == most) break;
    shown.push_back(printable(name));
  }
  std::string text = join(shown, ", ");
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::string shell_quote(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_shell_safe))
    return std::string(word);
  std::string quoted = "'";
  for (const char byte : word) {
    if (byte == '\'') {
      quoted += "'\\''";
    } else {
      quoted += byte;
    }
  }
  return quoted + "'";
}

std::string shell_quote(std::span<const std::string> argv) {
  std::string line;
  for (const std::string& word : argv) {
    if (&word != argv.data()) line += ' ';
    // A quoted first word is a program even where it looks like an assignment.
    const bool assignment = line.empty() && word.find('=') != std::string::npos;
    line += assignment ? "''" + shell_quote(std::string_view(word))
                       : shell_quote(std::string_view(word));
  }
  return line;
}

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    append_json(out, point.value, point.valid ? text.substr(0, point.bytes) : kReplacement);
    text.remove_prefix(point.bytes);
  }
  return out + "\"";
}

std::string csv_quote(std::string_view field) {
  return csv_field(needs_apostrophe(field) ? "'" + std::string(field) : std::string(field));
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (;;) {
    const size_t end = text.find('\n');
    out += printable(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    if (!point.valid) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(text[0])));
    } else if (is_invisible_control(point.value)) {
      out += visible_control(point.value);
    } else {
      out += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes);
  }
  return out;
}

}  // namespace fathom
