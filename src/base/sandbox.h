// SPDX-License-Identifier: Apache-2.0
// For a child process that reads files of strangers: what it may still do when its parser is taken
// over. Both steps are for a process with one thread, and cannot be undone.
#pragma once

#include "base/result.h"

namespace fathom {

// Without capabilities, and as nobody where this process is root.
Status drop_privileges();

// From now on it can read and write the descriptors that are open, change its memory, and end. It
// opens no file, starts no process and signals nobody: such calls fail with EPERM.
Status allow_only_open_files();

}  // namespace fathom
