// SPDX-License-Identifier: Apache-2.0
// The spool of a program that ran with an in-target library and without a recorder, and was killed
// before it could write its profile. docs/formats/spool.md.
#pragma once

#include "import/importer.h"

namespace fathom {

bool looks_like_spool(std::string_view start);
Result<ImportCounts> import_spool(const std::string& path, RecordStream& out);

}  // namespace fathom
