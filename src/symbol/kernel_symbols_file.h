// SPDX-License-Identifier: Apache-2.0
// The kernel's functions as bytes of a file: the header of cache_file.h, the key of the kernel as
// it runs now, counts, and the arrays of KernelSymbols, little-endian, without gaps, used where
// they lie. What comes and goes while the kernel runs (BPF programs, trampolines) is left out. Pure
// functions: any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "symbol/kernel_symbols.h"

namespace fathom {

std::string encode_kernel_symbols(const KernelSymbols& symbols, std::string_view key);
// A file of another version or of another key is kNotFound.
Result<KernelSymbols> decode_kernel_symbols(const CacheBytes& file, std::string_view key);

}  // namespace fathom
