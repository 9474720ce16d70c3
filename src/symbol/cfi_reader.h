// SPDX-License-Identifier: Apache-2.0
// Walks the entries of .eh_frame or .debug_frame: CIEs are kept, FDEs are handed out one by one.
// Every byte is taken for hostile: an entry that makes no sense is counted and stepped over, work
// is linear in the section's size. Does not own the bytes; one thread each.
#pragma once

#include <optional>
#include <vector>

#include "symbol/cfi_cursor.h"

namespace fathom {

struct CfiSection {
  ByteSpan bytes;
  uint64_t address = 0;         // of the first byte, as linked
  bool is_debug_frame = false;  // else .eh_frame
  bool ends_at_zero = false;    // the size is a guess: the zero entry ends it
};

// What a group of FDEs has in common.
struct CfiCie {
  uint64_t offset = 0;  // in the section
  uint64_t code_factor = 1;
  int64_t data_factor = 1;
  uint64_t return_register = 0;
  uint8_t pointer_encoding = 0;
  bool has_augmentation_data = false;
  bool is_signal = false;
  bool is_usable = false;
  ByteSpan program;
  uint64_t program_address = 0;
};

// The rows of one range of code.
struct CfiFde {
  uint64_t start = 0;
  uint64_t end = 0;
  ByteSpan program;
  uint64_t program_address = 0;
  uint32_t cie = 0;
};

// A pointer as exception tables encode them. Absent where it is indirect, relative to something we
// do not know, or cut; the cursor has then moved or is bad.
std::optional<uint64_t> read_encoded_pointer(CfiCursor& in, uint8_t encoding, uint64_t address);

class CfiReader {
 public:
  explicit CfiReader(const CfiSection& section);

  // The next FDE that makes sense; absent at the end.
  std::optional<CfiFde> next();

  [[nodiscard]] const CfiCie& cie(uint32_t index) const { return cies_[index]; }
  [[nodiscard]] const std::vector<CfiCie>& cies() const { return cies_; }
  [[nodiscard]] uint64_t bad_entries() const { return bad_entries_; }

 private:
  struct Entry {
    uint64_t offset;
    uint64_t id_offset;
    uint64_t id;
    bool is_64_bit;
    ByteSpan body;
    uint64_t body_offset;
  };

  std::optional<Entry> next_entry();
  [[nodiscard]] bool is_cie(const Entry& entry) const;
  bool read_cie(const Entry& entry, CfiCie& cie) const;
  std::optional<CfiFde> read_fde(const Entry& entry);
  std::optional<uint32_t> cie_of(const Entry& entry);
  [[nodiscard]] uint64_t address_of(const Entry& entry, const CfiCursor& in) const {
    return section_.address + entry.body_offset + in.offset();
  }

  CfiSection section_;
  CfiCursor in_;
  std::vector<CfiCie> cies_;  // by rising offset
  uint32_t last_cie_ = 0;
  uint64_t bad_entries_ = 0;
};

}  // namespace fathom
