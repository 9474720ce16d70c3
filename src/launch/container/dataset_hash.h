// SPDX-License-Identifier: Apache-2.0
// What a dataset was, for comparing runs: the names and sizes of its files and, where they are
// small enough to be read in a moment, what is in them. Any thread.
#pragma once

#include <string>

namespace fathom {

// "sha256:…", or "names-sha256:…" of one that is large; empty: it cannot be read.
std::string dataset_hash(const std::string& path);

}  // namespace fathom
