// SPDX-License-Identifier: Apache-2.0
// An unwind table as bytes of a file, so that a second run need not build it: the header of
// cache_file.h, counts, and the five arrays, little-endian, without gaps, used where they lie.
// Reading checks the CRC and that the table is sound; a file of another version is kNotFound. Pure
// functions: any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "symbol/cache_file.h"
#include "symbol/unwind_table.h"

namespace fathom {

// Counts up whenever builder or rows change: older files are then built anew.
constexpr uint32_t kUnwindFileVersion = 3;

std::string encode_unwind_table(const UnwindTable& table);
Result<UnwindTable> decode_unwind_table(const CacheBytes& file);

}  // namespace fathom
