// SPDX-License-Identifier: Apache-2.0
// What the user wants executed inside a container: a script, or steps as YAML. The form is
// docs/formats/steps.md. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/container/container_request.h"

namespace fathom {

struct Instructions {
  std::string script;  // its path; empty: steps
  std::vector<ContainerStep> steps;
  std::vector<ContainerMount> mounts;  // of the steps' data
};

// A file that begins with #! is a script; one that ends in .yaml, .yml or .json has steps.
Result<Instructions> load_instructions(const std::string& path);
// `folder` is where relative paths of data begin.
Result<Instructions> parse_steps(std::string_view text, const std::string& name,
                                 const std::string& folder);

}  // namespace fathom
