// SPDX-License-Identifier: Apache-2.0
// A process held by descriptor: readable once it has ended, and never another one of the same id.
// Any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/fd.h"
#include "base/result.h"

namespace fathom {

Result<Fd> open_pidfd(int64_t pid);
[[nodiscard]] bool pidfd_ended(int pidfd);
// As wait(2) has it, of a process that has ended; absent: its parent has reaped it, and this kernel
// (before 6.15) forgets.
std::optional<int> pidfd_end_status(int pidfd, int64_t pid);

}  // namespace fathom
