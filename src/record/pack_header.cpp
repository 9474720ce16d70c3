// SPDX-License-Identifier: Apache-2.0
#include "record/pack_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace fathom {
namespace {

struct TarField {
  size_t at;
  size_t length;
};
constexpr TarField kName = {0, 100};
constexpr TarField kMode = {100, 8};
constexpr TarField kOwner = {108, 8};
constexpr TarField kGroup = {116, 8};
constexpr TarField kSize = {124, 12};
constexpr TarField kModified = {136, 12};
constexpr TarField kChecksum = {148, 8};
constexpr TarField kType = {156, 1};
constexpr TarField kMagic = {257, 8};
constexpr TarField kPrefix = {345, 155};
constexpr int64_t kLargestOctal = (int64_t{1} << 33) - 1;  // eleven digits

void put_text(TarBlock& block, TarField field, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), field.length), block.begin() + field.at);
}

void put_octal(TarBlock& block, TarField field, int64_t number) {
  put_text(block, field, fmt::format("{:0{}o}", number, field.length - 1));
}

void put_base256(TarBlock& block, TarField field, int64_t number) {
  for (size_t place = field.length; place-- > 0; number >>= 8) {
    block[field.at + place] = static_cast<char>(number & 0xFF);
  }
  block[field.at] = static_cast<char>(0x80);
}

std::string_view text_at(std::span<const char, kTarBlockBytes> block, TarField field) {
  const std::string_view all(block.data() + field.at, field.length);
  return all.substr(0, std::min(all.find('\0'), all.size()));
}

Result<int64_t> number_at(std::span<const char, kTarBlockBytes> block, TarField field) {
  const Error wrong{Code::kCorrupt, "a number in its header cannot be read"};
  const auto first = static_cast<unsigned char>(block[field.at]);
  if ((first & 0x80) != 0) {
    if (first != 0x80) return wrong;  // negative, or far beyond any file
    int64_t number = 0;
    for (size_t place = 1; place < field.length; ++place) {
      if ((number >> 55) != 0) return wrong;
      number = (number << 8) | static_cast<unsigned char>(block[field.at + place]);
    }
    return number;
  }
  std::string_view digits = text_at(block, field);
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  int64_t number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '7') return wrong;
    number = number * 8 + (digit - '0');  // twelve digits at most: no overflow
  }
  return number;
}

// The sum of all bytes with the checksum's own taken as spaces.
int64_t checksum_of(std::span<const char, kTarBlockBytes> block) {
  int64_t sum = 0;
  for (size_t at = 0; at < block.size(); ++at) {
    const bool own = at >= kChecksum.at && at < kChecksum.at + kChecksum.length;
    sum += own ? ' ' : static_cast<unsigned char>(block[at]);
  }
  return sum;
}

}  // namespace

Result<TarBlock> encode_tar_header(const TarHeader& header) {
  TarBlock block{};
  std::string_view name = header.name;
  if (name.size() > kName.length) {
    const size_t slash = name.rfind('/');
    // No slash at all is npos, which is more than any length.
    const bool fits = slash <= kPrefix.length && name.size() - slash - 1 <= kName.length;
    if (!fits)
      return Error{Code::kInvalid, "the name " + header.name + " is too long for an archive"};
    put_text(block, kPrefix, name.substr(0, slash));
    name.remove_prefix(slash + 1);
  }
  put_text(block, kName, name);
  put_octal(block, kMode, 0644);
  put_octal(block, kOwner, 0);
  put_octal(block, kGroup, 0);
  if (header.size_bytes <= kLargestOctal) {
    put_octal(block, kSize, header.size_bytes);
  } else {
    put_base256(block, kSize, header.size_bytes);
  }
  put_octal(block, kModified, std::clamp<int64_t>(header.modified_s, 0, kLargestOctal));
  block[kType.at] = header.type;
  put_text(block, kMagic,
           std::string_view("ustar\0"
                            "00",
                            8));
  put_text(block, kChecksum, fmt::format("{:06o}", checksum_of(block)));
  block[kChecksum.at + 7] = ' ';
  return block;
}

bool has_tar_magic(std::span<const char, kTarBlockBytes> block) {
  return std::string_view(block.data() + kMagic.at, 5) == "ustar";
}

Result<TarHeader> decode_tar_header(std::span<const char, kTarBlockBytes> block) {
  if (!has_tar_magic(block)) return Error{Code::kCorrupt, "no tar header where one should be"};
  TRY_ASSIGN(const int64_t sum, number_at(block, kChecksum));
  if (sum != checksum_of(block)) return Error{Code::kCorrupt, "the checksum of a header is wrong"};
  TarHeader header;
  TRY_ASSIGN(header.size_bytes, number_at(block, kSize));
  TRY_ASSIGN(header.modified_s, number_at(block, kModified));
  header.type = block[kType.at] == '\0' ? '0' : block[kType.at];
  // GNU's own variant keeps other things where POSIX has the prefix.
  const bool posix = block[kMagic.at + 5] == '\0';
  const std::string_view prefix = posix ? text_at(block, kPrefix) : std::string_view();
  header.name = prefix.empty() ? "" : std::string(prefix) + "/";
  header.name += text_at(block, kName);
  return header;
}

bool is_zero_block(std::span<const char, kTarBlockBytes> block) {
  return std::all_of(block.begin(), block.end(), [](char byte) { return byte == '\0'; });
}

int64_t tar_padded(int64_t size_bytes) {
  return (size_bytes + kTarBlockBytes - 1) / kTarBlockBytes * kTarBlockBytes;
}

}  // namespace fathom
