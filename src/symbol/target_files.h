// SPDX-License-Identifier: Apache-2.0
// Opens files as a target sees them. A container's files lie under /proc/PID/root, where an
// absolute link would lead to the host's file: so the mapping's own link in map_files is tried
// first, then the path with openat2 and RESOLVE_IN_ROOT. Only regular files are ever opened for
// reading: a name in a target's hands may be a FIFO or a device. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace fathom {

// The root of a process, to resolve several paths in.
Result<Fd> open_root_of(int64_t pid);

// Names a file without opening it (O_PATH), so that a caller can first see whether it knows it.
// The first is by a path inside `root`; the second is what a process has mapped at [start, end),
// also when it was deleted since, else by its path as /proc/PID/maps writes it.
enum class LastLink { kFollow, kReject };  // what to do if the path itself is a link
Result<Fd> find_in_root(int root, const std::string& path, LastLink last = LastLink::kFollow);
Result<Fd> find_mapped(int64_t pid, uint64_t start, uint64_t end, const std::string& path);
// To read from what was found, if it is a regular file.
Result<Fd> open_found(const Fd& found);

// A regular file by its path inside `root`; links, also absolute ones, stay inside.
Result<Fd> open_in_root(int root, const std::string& path, LastLink last = LastLink::kFollow);

// The number a process has in its own pid namespace (the innermost), which is what it puts into
// names of files.
Result<int64_t> inner_pid(int64_t pid);

}  // namespace fathom
