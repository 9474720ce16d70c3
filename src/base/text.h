// SPDX-License-Identifier: Apache-2.0
// Text for people and for files: "did you mean", quoting, units, and what fits a terminal. Pure
// functions without state: any thread. Nothing here knows what the text is about.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

// Words.
// The candidate a mistyped word most likely meant, or nothing when none is close.
std::optional<std::string_view> closest_match(std::string_view word,
                                              std::span<const std::string_view> candidates);
// Insertions, deletions, replacements and swaps of neighbours between two words.
size_t edit_distance(std::string_view left, std::string_view right);
// The parts between separators; empty parts are left out.
std::vector<std::string_view> split_words(std::string_view text, char separator = ' ');
std::string join(std::span<const std::string> parts, std::string_view separator);
// "make, sh, tar and 4 more"; the names made printable.
std::string first_few(const std::set<std::string>& names, size_t most);

// Quoting.
// One line that a POSIX shell splits into exactly these words.
std::string shell_quote(std::span<const std::string> argv);
std::string shell_quote(std::string_view word);
// A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD: the result is always
// valid.
std::string json_quote(std::string_view text);
// A CSV field (RFC 4180), quoted only where it must be. Text that a spreadsheet would run as a
// formula (it begins with = + - @ or a tab and is no number) gets a ' before it.
std::string csv_quote(std::string_view field);
// Control bytes, escape sequences, direction overrides and bytes that are not UTF-8 made visible,
// so that a hostile name cannot drive the terminal. Not reversible.
std::string printable(std::string_view text);
// The same for text of several lines: line feeds stay.
std::string printable_lines(std::string_view text);

// Units.
// "250ms", "1.5s", "2m", "1h", "40us", "10" (seconds). Never negative.
Result<int64_t> parse_duration(std::string_view text);
// A whole decimal number, or a decimal fraction; nothing may follow it.
Result<int64_t> parse_number(std::string_view text);
Result<double> parse_real(std::string_view text);

std::string format_bytes_of(double bytes);
std::string format_count_of(bool negative, uint64_t magnitude);
// "14.2 s", "3.1 ms", "2 min 05 s".
std::string format_duration_ns(int64_t duration_ns);

// "530 MB": units of 1,000, two or three digits. Any arithmetic type.
template <class Number>
requires std::integral<Number> || std::floating_point<Number> std::string format_bytes(
    Number bytes) {
  return format_bytes_of(static_cast<double>(bytes));
}

// "1,204".
template <std::integral Number>
std::string format_count(Number count) {
  const auto bits = static_cast<uint64_t>(count);
  return count < 0 ? format_count_of(true, 0 - bits) : format_count_of(false, bits);
}

// The terminal.
enum class Cut { kEnd, kMiddle };
// Columns a terminal needs: wide East Asian characters take two, combining marks none.
size_t display_width(std::string_view text);
// The text, or as much of it as fits with "…" where it was cut.
std::string fit(std::string_view text, size_t columns, Cut cut = Cut::kEnd);
// The text with spaces up to so many columns.
enum class Side { kLeft, kRight };
std::string pad(std::string_view text, size_t columns, Side text_side = Side::kLeft);

// UTF-8.
struct CodePoint {
  char32_t value = 0xFFFD;
  size_t bytes = 1;    // how far to go on
  bool valid = false;  // false: one byte that is not UTF-8
};
// The character at the start of a text that is not empty.
CodePoint decode_utf8(std::string_view text);

}  // namespace fathom
