// SPDX-License-Identifier: Apache-2.0
// Folded stacks, as flame-graph scripts write and read them: "a;b;c 17". Each line becomes one
// sample whose weight is its count; suffixes _[k], _[i] and _[j] name kernel, inlined and Java
// frames.
#pragma once

#include "import/importer.h"

namespace fathom {

bool looks_folded(std::string_view start);
// Why a file that begins like this holds no folded stacks: what is wrong, in which line, and what
// to do.
Error not_folded(const std::string& path, std::string_view start);
Result<ImportCounts> import_folded(const std::string& path, RecordStream& out);

}  // namespace fathom
