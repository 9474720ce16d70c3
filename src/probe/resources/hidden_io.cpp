// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/hidden_io.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"

namespace fathom {

void HiddenIo::add(const std::string& name, int64_t pid) {
  processes_.insert(fmt::format("{} (pid {})", printable(name), pid));
}

bool HiddenIo::forbids_sums() const { return any() && geteuid() != 0; }

std::string HiddenIo::text(int64_t processes) const {
  const auto count = static_cast<int64_t>(processes_.size());
  if (forbids_sums())
    return format_count(count) +
           (count == 1 ? " process is another user's" : " processes are other users'") +
           ", whose I/O only root may read: there is no sum";
  return fmt::format(
      "bytes read and written exclude {} of {} processes, whose I/O the kernel denies to this "
      "process "
      "although it runs as root: {}",
      format_count(count), format_count(processes), first_few(processes_, 3));
}

}  // namespace fathom
