// SPDX-License-Identifier: Apache-2.0
// How many files this process may have open. Any thread.
#pragma once

namespace fathom {

// As many as the hard limit lets it, and those it starts from now on.
void raise_file_limit();

}  // namespace fathom
