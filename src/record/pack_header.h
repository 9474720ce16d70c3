// SPDX-License-Identifier: Apache-2.0
// One 512-byte header of a POSIX ustar archive, read and written. Knows blocks and fields, not what
// a recording is. Plain values: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace fathom {

constexpr int64_t kTarBlockBytes = 512;
using TarBlock = std::array<char, kTarBlockBytes>;

struct TarHeader {
  std::string name;  // with its folder: "make-1.fathom/run.json"
  int64_t size_bytes = 0;
  int64_t modified_s = 0;  // seconds since 1970
  char type = '0';         // '0' file, '5' folder; all else is for the caller to refuse
};

// Sizes from 8 GiB on are written in base 256, as GNU and POSIX tars read them.
Result<TarBlock> encode_tar_header(const TarHeader& header);
// Whether the block may be a header at all.
bool has_tar_magic(std::span<const char, kTarBlockBytes> block);
// Checks magic, checksum and that the numbers are numbers; trusts nothing else.
Result<TarHeader> decode_tar_header(std::span<const char, kTarBlockBytes> block);
bool is_zero_block(std::span<const char, kTarBlockBytes> block);

// What the bytes of a file take in the archive: whole blocks.
int64_t tar_padded(int64_t size_bytes);

}  // namespace fathom
