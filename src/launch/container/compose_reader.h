// SPDX-License-Identifier: Apache-2.0
// What the parts of the reader of compose files share: where it is, and how errors say it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/yaml.h"
#include "launch/container/compose.h"

namespace fathom {

struct ComposePlace {
  std::string file, folder;           // relative paths begin in the folder
  std::vector<std::string>* notes;    // of the project
  const ComposeVariables* variables;  // for env without a value

  [[nodiscard]] Error wrong(const YamlNode& node, const std::string& why,
                            const std::string& hint = "") const;
  void note(const YamlNode& node, const std::string& what) const;
};

// One text, or a list of them.
Result<std::string> compose_text(const ComposePlace& place, const YamlNode& node,
                                 std::string_view key);
Result<std::vector<std::string>> compose_texts(const ComposePlace& place, const YamlNode& node,
                                               std::string_view key);
// A map NAME: VALUE, or a list of NAME=VALUE; one without a value is taken from the environment.
Result<std::vector<std::pair<std::string, std::string>>> compose_settings(const ComposePlace& place,
                                                                          const YamlNode& node,
                                                                          std::string_view key);

// A key that nobody knows; `known` are those that would do.
Error compose_unknown(const ComposePlace& place, const YamlNode& node, std::string_view where,
                      std::string_view key, const std::vector<std::string_view>& known);

Status read_service(const ComposePlace& place, const YamlNode& node, ComposeService& service);
// deploy: its limits and devices.
Status read_deploy(const ComposePlace& place, const YamlNode& node, ComposeService& service);
Status read_healthcheck(const ComposePlace& place, const YamlNode& node, ComposeService& service);
Status read_volumes(const ComposePlace& place, const YamlNode& node, ComposeService& service);

}  // namespace fathom
