// SPDX-License-Identifier: Apache-2.0
// The sizes and CRC-32Cs of a recording's tables, as they were written: Parquet as we write it has
// no checksums of its own, and a flipped byte in it may be another figure. Plain functions: any
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom {

constexpr const char* kChecksumsName = "checksums";

struct FileSum {
  int64_t size_bytes = 0;
  uint32_t crc = 0;

  bool operator==(const FileSum&) const = default;
};

// By the name of the file, without its folder.
using Checksums = std::map<std::string, FileSum, std::less<>>;

Result<FileSum> sum_of_file(const std::string& path);

// A line a file, "CRC SIZE NAME", and last one of the lines before under the name "checksums".
std::string checksums_text(const Checksums& sums);
// kCorrupt if it is not whole.
Result<Checksums> checksums_in(std::string_view text);

// Whether a file is what was written; one that is not there or cannot be read is an error.
Result<bool> is_as_written(const std::string& path, const FileSum& written);

}  // namespace fathom
