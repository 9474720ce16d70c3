// SPDX-License-Identifier: Apache-2.0
// A recording as one file to send: a plain ustar archive with the recording's folder on top, which
// every tar reads. Both ways write under a temporary name, fsync and rename, so that nothing half
// done ever carries the final name. Archives come from strangers: unpacking trusts no name, size or
// link in them. Callable from any thread; two calls for one target race safely, and one fails.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom {

enum class Overwrite { kNo, kYes };

// The archive that belongs to a folder: "x/make-1.fathom/" -> "make-1.fathom.tar".
std::string packed_name(std::string_view folder);

// Entries whose names start with a dot are temporary and left out; anything that is not a regular
// file is an error, as is a file that changes meanwhile.
Status pack_recording(const std::string& folder, const std::string& file,
                      Overwrite overwrite = Overwrite::kNo);

// Writes the recording as `folder`; empty: in the current folder under the name the archive has for
// it. Returns that folder. What exists is never touched.
Result<std::string> unpack_recording(const std::string& file, const std::string& folder = "");

}  // namespace fathom
