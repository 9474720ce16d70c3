// SPDX-License-Identifier: Apache-2.0
// Pushes known values through examples/app/fathom.hpp.
#include <unistd.h>

#include "../../examples/app/fathom.hpp"

int main() {
  for (int i = 0; i < 23; ++i) fathom::number("queue length", 4099, "items");
  {
    const fathom::Timer timer("sleep");
    const fathom::Rate rate("sleeps");
    usleep(100'000);
  }
  fathom::mark("end");
}
