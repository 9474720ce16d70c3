// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace fathom {

std::vector<std::string> environment_with(const std::vector<std::string>& settings) {
  constexpr std::array<std::string_view, 2> kSecrets = {"FATHOM_TOKEN=", "FATHOM_REDIS_PASSWORD="};
  std::vector<std::string> merged = settings;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view existing(*entry);
    const std::string_view name = existing.substr(0, existing.find('=') + 1);
    const auto sets_it = [name](const std::string& setting) { return setting.starts_with(name); };
    if (std::find(kSecrets.begin(), kSecrets.end(), name) == kSecrets.end() &&
        std::none_of(settings.begin(), settings.end(), sets_it))
      merged.emplace_back(existing);
  }
  return merged;
}

}  // namespace fathom
