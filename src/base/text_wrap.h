// SPDX-License-Identifier: Apache-2.0
// Text in lines that fit a terminal. A pure function: any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom {

// What becomes of a word that is wider than a line: whole, it can be copied.
enum class LongWord { kWhole, kCut };
// Words in lines of at most `columns`, each after the first with `indent` spaces before it.
std::string wrap(std::string_view text, size_t columns, size_t indent,
                 LongWord long_word = LongWord::kWhole);

}  // namespace fathom
