// SPDX-License-Identifier: Apache-2.0
// Finds the separate debug file of a stripped binary: by build id, else by .gnu_debuglink; below
// the target's root first, then on the host. A file found is used only if it proves to belong to
// the binary (equal build id, or the checksum in the link). Any thread.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "symbol/elf_file.h"

namespace fathom {

// `path` is the binary's, as the target sees it. `roots` are folders (descriptors) to look below,
// in this order.
Result<ElfFile> find_debug_file(const ElfFile& elf, const std::string& path,
                                std::span<const int> roots);

}  // namespace fathom
