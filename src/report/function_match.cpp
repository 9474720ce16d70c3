// SPDX-License-Identifier: Apache-2.0
#include "report/function_match.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.h"

namespace fathom {
namespace {

constexpr size_t kMostNear = 5;
constexpr size_t kLongestCompared = 200;  // comparing takes the product of two lengths

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string_view without_arguments(std::string_view name) {
  const size_t open = name.find('(');
  return open == 0 ? name : name.substr(0, open);
}

template <class Matches>
std::vector<uint32_t> functions_where(const Profile& profile, Matches matches) {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < profile.functions.size(); ++i) {
    const Function& function = profile.functions[i];
    if (!function.is_process && function.total.samples > 0 && matches(function.name))
      found.push_back(i);
  }
  return found;
}

// Names that hold it in other case, then those it takes few changes to.
std::vector<std::string> near_names(const Profile& profile, const std::string& wanted) {
  const std::string small = lower(wanted);
  std::set<std::pair<size_t, std::string>> near;
  for (const Function& function : profile.functions) {
    if (function.is_process || function.total.samples == 0) continue;
    const std::string_view bare = without_arguments(function.name).substr(0, kLongestCompared);
    const std::string name = lower(bare);
    size_t distance = 0;
    if (name.find(small) == std::string::npos) {
      distance = edit_distance(name, std::string_view(small).substr(0, kLongestCompared));
      if (distance >= small.size() || distance > std::max<size_t>(1, small.size() / 3)) continue;
    }
    near.emplace(distance, printable(bare));
    if (near.size() > kMostNear) near.erase(std::prev(near.end()));
  }
  std::vector<std::string> names;
  for (const auto& [distance, name] : near) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace

Result<std::vector<uint32_t>> match_functions(const Profile& profile, const std::string& wanted) {
  std::vector<uint32_t> found =
      functions_where(profile, [&](std::string_view name) { return name == wanted; });
  if (found.empty()) {
    found = functions_where(
        profile, [&](std::string_view name) { return without_arguments(name) == wanted; });
  }
  if (found.empty()) {
    found = functions_where(profile, [&](std::string_view name) {
      return name.find(wanted) != std::string_view::npos;
    });
  }
  if (!found.empty()) return found;
  Error error{Code::kNotFound, "no sampled function is or contains " + printable(wanted),
              "fathom report --as top lists them"};
  if (const auto near = near_names(profile, wanted); !near.empty())
    error.hint = "near are: " + join(near, ", ");
  return error;
}

}  // namespace fathom
