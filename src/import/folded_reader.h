// SPDX-License-Identifier: Apache-2.0
// Folded stacks straight into sums, without a recording in between: a million lines cost hardly
// more than reading them. Lines of the same stack are recognised by a hash of their text. Belongs
// to one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "import/folded_line.h"
#include "import/importer.h"
#include "record/sample_sums.h"

namespace fathom {

// The event that folded stacks are of: a weight is so many samples.
constexpr std::string_view kFoldedEvent = "samples";

// From a file or a pipe. kCorrupt where no line is a stack, or counts add up beyond 2^53.
Result<ImportCounts> read_folded(const std::string& path, SampleSums& sums);

// The same line by line: each line as the file has it, and what it holds; nothing where it is not a
// folded stack. kCorrupt where no line is one.
using VisitFoldedLine = std::function<void(std::string_view, const std::optional<FoldedLine>&)>;
Status each_folded_line(const std::string& path, const VisitFoldedLine& visit);

}  // namespace fathom
