// SPDX-License-Identifier: Apache-2.0
// A YAML document as a tree of plain values, read by libyaml. Bounded, whoever wrote it: in bytes,
// depth and nodes, and aliases, which can make much of little, are refused. Pure: any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fathom {

struct YamlNode {
  enum class Kind { kScalar, kList, kMap };
  Kind kind = Kind::kScalar;
  std::string text = {};                                       // of a scalar
  std::vector<YamlNode> items = {};                            // of a list
  std::vector<std::pair<std::string, YamlNode>> members = {};  // of a map, in order; no key twice
  size_t line = 0;                                             // from 1

  // nullptr: it is no map, or has no such member.
  [[nodiscard]] const YamlNode* find(std::string_view key) const;
};

// The one document of a text; an empty one is an empty map. kInvalid says the line.
Result<YamlNode> parse_yaml(std::string_view text);

}  // namespace fathom
