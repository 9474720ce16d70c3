// SPDX-License-Identifier: Apache-2.0
// How wide the place is that we write to.
#pragma once

#include <cstddef>

namespace fathom {

// Columns of the terminal behind `fd`, between 60 and 120; 80 where there is none.
size_t terminal_columns(int fd);
// The same of standard output; kAnyWidth where it is none, so that names stay whole.
size_t output_columns();

}  // namespace fathom
