// SPDX-License-Identifier: Apache-2.0
// .pfw and .pfw.gz of DataCrumbs, DFTracer and fathom, in any of their generations: counters (ph
// C), calls (ph X), and the lines that give hashes their text (ph M). See docs/formats/pfw.md. Pure
// but for the file: any thread.
#pragma once

#include "import/importer.h"

namespace fathom {

bool looks_like_pfw(std::string_view start);
Result<ImportCounts> import_pfw(const std::string& path, RecordStream& out);

}  // namespace fathom
