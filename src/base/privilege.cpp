// SPDX-License-Identifier: Apache-2.0
#include "base/privilege.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace fathom {

bool has_capability(unsigned number) {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (syscall(SYS_capget, &head, sets.data()) != 0) return false;
  return (sets.at(number / 32).effective >> (number % 32) & 1U) != 0;
}

std::string unlock_hint(std::string_view otherwise, std::string_view capability) {
  if (geteuid() != 0) return fmt::format("{} (or run as root)", otherwise);
  if (!capability.empty() && !has_capability(CAP_SYS_ADMIN))
    return fmt::format("in a container: docker run --cap-add {}, or run fathom on the host",
                       capability);
  return fmt::format("{}, or in a container: run fathom on the host", otherwise);
}

}  // namespace fathom
