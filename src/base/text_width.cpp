// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/text.h"

namespace fathom {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr std::array<Range, 11> kNoWidth = {{{0x0300, 0x036F},
                                             {0x0483, 0x0489},
                                             {0x0591, 0x05BD},
                                             {0x064B, 0x065F},
                                             {0x1AB0, 0x1AFF},
                                             {0x1DC0, 0x1DFF},
                                             {0x200B, 0x200F},
                                             {0x20D0, 0x20FF},
                                             {0xFE00, 0xFE0F},
                                             {0xFE20, 0xFE2F},
                                             {0xE0100, 0xE01EF}}};
constexpr std::array<Range, 12> kTwoColumns = {{{0x1100, 0x115F},
                                                {0x2E80, 0x303E},
                                                {0x3041, 0xA4CF},
                                                {0xA960, 0xA97F},
                                                {0xAC00, 0xD7A3},
                                                {0xF900, 0xFAFF},
                                                {0xFE30, 0xFE6F},
                                                {0xFF00, 0xFF60},
                                                {0xFFE0, 0xFFE6},
                                                {0x1F300, 0x1F64F},
                                                {0x1F680, 0x1F9FF},
                                                {0x20000, 0x3FFFD}}};

bool within(std::span<const Range> ranges, char32_t value) {
  return std::any_of(ranges.begin(), ranges.end(), [value](const Range& range) {
    return value >= range.first && value <= range.last;
  });
}

size_t width_of(const CodePoint& point) {
  if (!point.valid) return 1;
  if (point.value < 0x300) return 1;
  if (within(kNoWidth, point.value)) return 0;
  return within(kTwoColumns, point.value) ? 2 : 1;
}

// The longest start of the text that fits the columns.
std::string_view head(std::string_view text, size_t columns) {
  size_t at = 0;
  for (size_t used = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text.substr(at));
    used += width_of(point);
    if (used > columns) break;
    at += point.bytes;
  }
  return text.substr(0, at);
}

// The longest end of the text that fits the columns.
std::string_view tail(std::string_view text, size_t columns) {
  size_t width = display_width(text);
  while (width > columns) {
    const CodePoint point = decode_utf8(text);
    width -= width_of(point);
    text.remove_prefix(point.bytes);
  }
  return text;
}

}  // namespace

CodePoint decode_utf8(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  char32_t value = first & (0x7FU >> length);
  for (size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(at) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[length] || value > 0x10FFFF || surrogate) return {};
  return {value, length, true};
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    width += width_of(point);
    text.remove_prefix(point.bytes);
  }
  return width;
}

std::string fit(std::string_view text, size_t columns, Cut cut) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  const size_t kept = columns - 1;
  if (cut == Cut::kEnd) return std::string(head(text, kept)) + "…";
  const size_t front = (kept + 1) / 2;
  return std::string(head(text, front)) + "…" + std::string(tail(text, kept - front));
}

std::string pad(std::string_view text, size_t columns, Side text_side) {
  const size_t width = display_width(text);
  const std::string fill(width < columns ? columns - width : 0, ' ');
  return text_side == Side::kLeft ? std::string(text) + fill : fill + std::string(text);
}

}  // namespace fathom
