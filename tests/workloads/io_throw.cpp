// SPDX-License-Identifier: Apache-2.0
// io_throw: 11 exceptions from the innermost of 5 nftw within each other, each with a write. What
// it does it counts in ./tally (io_tally.h). Exits with 7 when all of them arrived.
#include "io_tally.h"

namespace {

int depth = 0;

int at_each(const char* path, const struct stat* /*status*/, int /*kind*/, FTW* /*where*/) {
  WRITE_SOME(main, "main", 1);
  if (++depth == 5) throw 42;
  return nftw(path, at_each, 3, FTW_PHYS);
}

}  // namespace

int main() {
  int sum = 0;
  tally_open();
  for (int i = 0; i < 11; ++i) {
    depth = 0;
    try {
      nftw("folder", at_each, 3, FTW_PHYS);
    } catch (int value) {
      sum += value;
    }
    for (int level = 0; level < 5; ++level) tally_jumped(kCall_nftw);
  }
  return sum == 11 * 42 ? 7 : 91;
}
