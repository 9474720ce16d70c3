// SPDX-License-Identifier: Apache-2.0
#include "symbol/cfi_reader.h"

#include <algorithm>

#include "symbol/unwind_arch.h"

namespace fathom {
namespace {

enum Encoding : uint8_t {
  kAbsolute = 0x00,
  kUleb = 0x01,
  kUdata2 = 0x02,
  kUdata4 = 0x03,
  kUdata8 = 0x04,
  kSleb = 0x09,
  kSdata2 = 0x0a,
  kSdata4 = 0x0b,
  kSdata8 = 0x0c,
  kPcRelative = 0x10,
  kAligned = 0x50,
  kIndirect = 0x80,
  kOmit = 0xff
};

std::optional<uint64_t> read_value(CfiCursor& in, uint8_t format) {
  switch (format) {
    case kAbsolute:
    case kUdata8:
    case kSdata8:
      return in.number<uint64_t>();
    case kUleb:
      return in.uleb();
    case kUdata2:
      return in.number<uint16_t>();
    case kUdata4:
      return in.number<uint32_t>();
    case kSleb:
      return static_cast<uint64_t>(in.sleb());
    case kSdata2:
      return static_cast<uint64_t>(int64_t{in.number<int16_t>()});
    case kSdata4:
      return static_cast<uint64_t>(int64_t{in.number<int32_t>()});
    default:
      return std::nullopt;
  }
}

struct Augmentation {
  uint8_t pointer_encoding = kAbsolute;
  bool is_signal = false;
  bool is_known = true;
};

// The letters after 'z', each with its data. After one we do not know only the size of the whole is
// certain, which is enough unless it came before R.
Augmentation read_augmentation(std::string_view letters, CfiCursor in, uint64_t address) {
  Augmentation found;
  for (const char letter : letters) {
    if (letter == 'L') {
      in.u8();
    } else if (letter == 'R') {
      found.pointer_encoding = in.u8();
    } else if (letter == 'P') {
      const uint8_t encoding = in.u8();
      const uint64_t at = address + in.offset();
      if (encoding != kOmit)
        read_encoded_pointer(in, static_cast<uint8_t>(encoding & ~kIndirect), at);
    } else if (letter == 'S') {
      found.is_signal = true;
    } else if (letter != 'B' && letter != 'G') {
      found.is_known = false;
      break;
    }
  }
  found.is_known = found.is_known && in.ok();
  return found;
}

}  // namespace

std::optional<uint64_t> read_encoded_pointer(CfiCursor& in, uint8_t encoding, uint64_t address) {
  if (encoding == kOmit) return std::nullopt;
  const uint8_t relative = encoding & 0x70;
  if (relative == kAligned) {
    in.take((0 - address) & 7);
    return in.number<uint64_t>();
  }
  const std::optional<uint64_t> value = read_value(in, encoding & 0x0f);
  if (!value || !in.ok() || (encoding & kIndirect) != 0) return std::nullopt;
  if (relative == 0) return value;
  if (relative == kPcRelative) return address + *value;
  return std::nullopt;
}

CfiReader::CfiReader(const CfiSection& section) : section_(section), in_(section.bytes) {}

std::optional<CfiFde> CfiReader::next() {
  while (const std::optional<Entry> entry = next_entry()) {
    if (is_cie(*entry)) {
      CfiCie cie;
      cie.offset = entry->offset;
      cie.is_usable = read_cie(*entry, cie);
      if (!cie.is_usable) ++bad_entries_;
      cies_.push_back(cie);
      continue;
    }
    if (std::optional<CfiFde> fde = read_fde(*entry)) return fde;
    ++bad_entries_;
  }
  return std::nullopt;
}

// The header of an entry. A length that runs out of the section ends the walk: there is no next.
std::optional<CfiReader::Entry> CfiReader::next_entry() {
  while (in_.left() >= 4) {
    Entry entry = {};
    entry.offset = in_.offset();
    uint64_t length = in_.number<uint32_t>();
    if (length == 0) {
      if (section_.ends_at_zero) return std::nullopt;
      continue;
    }
    entry.is_64_bit = length == 0xffffffff;
    if (entry.is_64_bit) length = in_.number<uint64_t>();
    entry.id_offset = in_.offset();
    const ByteSpan whole = in_.take(length);
    if (!in_.ok()) {
      ++bad_entries_;
      return std::nullopt;
    }
    CfiCursor in(whole);
    // .eh_frame keeps a 32-bit id even where its length is of 64 bits.
    const bool wide_id = entry.is_64_bit && section_.is_debug_frame;
    entry.id = wide_id ? in.number<uint64_t>() : in.number<uint32_t>();
    if (!in.ok()) {
      ++bad_entries_;
      continue;
    }
    entry.body_offset = entry.id_offset + in.offset();
    entry.body = in.take(in.left());
    return entry;
  }
  return std::nullopt;
}

bool CfiReader::is_cie(const Entry& entry) const {
  if (!section_.is_debug_frame) return entry.id == 0;
  return entry.id == (entry.is_64_bit ? ~uint64_t{0} : 0xffffffff);
}

bool CfiReader::read_cie(const Entry& entry, CfiCie& cie) const {
  CfiCursor in(entry.body);
  const uint8_t version = in.u8();
  if (version != 1 && version != 3 && version != 4) return false;
  std::string_view letters = in.text();
  if (letters.starts_with("eh")) {  // GCC 2: a pointer, then nothing more
    in.take(8);
    letters.remove_prefix(2);
  }
  if (version == 4 && (in.u8() != 8 || in.u8() != 0)) return false;  // address, segment size
  cie.code_factor = in.uleb();
  cie.data_factor = in.sleb();
  cie.return_register = version == 1 ? in.u8() : in.uleb();
  if (!letters.empty()) {
    if (letters[0] != 'z') return false;
    cie.has_augmentation_data = true;
    const uint64_t size = in.uleb();
    const uint64_t address = address_of(entry, in);
    const Augmentation found =
        read_augmentation(letters.substr(1), CfiCursor(in.take(size)), address);
    if (!found.is_known) return false;
    cie.pointer_encoding = found.pointer_encoding;
    cie.is_signal = found.is_signal;
  }
  cie.program_address = address_of(entry, in);
  cie.program = in.take(in.left());
  return in.ok() && cie.return_register == unwind_arch::kPc;
}

// Only CIEs that the walk has met count: a pointer into the middle of something is hostile, and
// following it could make work grow with the square of the size.
std::optional<uint32_t> CfiReader::cie_of(const Entry& entry) {
  const uint64_t offset = section_.is_debug_frame ? entry.id : entry.id_offset - entry.id;
  if (last_cie_ < cies_.size() && cies_[last_cie_].offset == offset) return last_cie_;
  const auto found =
      std::lower_bound(cies_.begin(), cies_.end(), offset,
                       [](const CfiCie& cie, uint64_t wanted) { return cie.offset < wanted; });
  if (found == cies_.end() || found->offset != offset) return std::nullopt;
  last_cie_ = static_cast<uint32_t>(found - cies_.begin());
  return last_cie_;
}

std::optional<CfiFde> CfiReader::read_fde(const Entry& entry) {
  const std::optional<uint32_t> index = cie_of(entry);
  if (!index || !cies_[*index].is_usable) return std::nullopt;
  const CfiCie& cie = cies_[*index];
  CfiCursor in(entry.body);
  const auto start = read_encoded_pointer(in, cie.pointer_encoding, address_of(entry, in));
  if (!start) return std::nullopt;
  const auto size = read_encoded_pointer(in, cie.pointer_encoding & 0x0f, address_of(entry, in));
  if (!size || *size == 0 || *start + *size < *start) return std::nullopt;
  if (cie.has_augmentation_data) in.take(in.uleb());
  CfiFde fde;
  fde.start = *start;
  fde.end = *start + *size;
  fde.cie = *index;
  fde.program_address = address_of(entry, in);
  fde.program = in.take(in.left());
  if (!in.ok()) return std::nullopt;
  return fde;
}

}  // namespace fathom
