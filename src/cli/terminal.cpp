// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "report/report.h"

namespace fathom {

size_t terminal_columns(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::clamp<size_t>(size.ws_col, 60, 120);
}

size_t output_columns() {
  return isatty(STDOUT_FILENO) != 0 ? terminal_columns(STDOUT_FILENO) : kAnyWidth;
}

}  // namespace fathom
