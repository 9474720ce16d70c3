// SPDX-License-Identifier: Apache-2.0
// Permissions of files and directories that may contain what other users must not read. Stateless
// and thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace fathom {

constexpr unsigned kPrivateFileMode = 0600;

// "0640": its owner may read and write, others may read or not. Writers other than the owner are
// rejected.
Result<unsigned> parse_file_mode(std::string_view text);
// Of a directory with such files: those who may read it may also enter it.
unsigned directory_mode(unsigned file_mode);
// Of a new file in `directory`: those who may read that may also read the file.
unsigned file_mode_in(const std::string& directory);

// Opens a directory for what only this user and root may change. Rejects symbolic links,
// directories of other users, and those that others may write to.
Result<Fd> open_own_directory(const std::string& path);
// Opens a regular file of this user in it, without following links or waiting for a FIFO.
Result<Fd> open_own_file(const Fd& directory, const std::string& name, int flags,
                         unsigned mode = kPrivateFileMode);

}  // namespace fathom
