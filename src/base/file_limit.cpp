// SPDX-License-Identifier: Apache-2.0
#include "base/file_limit.h"

#include <sys/resource.h>

namespace fathom {

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace fathom
