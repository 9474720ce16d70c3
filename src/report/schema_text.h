// SPDX-License-Identifier: Apache-2.0
// The tables of a recording described from the schema: for the terminal, and for
// docs/formats/recording.md, of which a test compares this part. No state: any thread.
#pragma once

#include <string>

namespace fathom {

std::string schema_text();
std::string schema_markdown();

}  // namespace fathom
