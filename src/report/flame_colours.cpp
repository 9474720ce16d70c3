// SPDX-License-Identifier: Apache-2.0
#include "report/flame_colours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/profile_text.h"

namespace fathom {
namespace {

struct Band {
  ColourKey key;
  double hue, width;  // degrees
  double saturation, lightness;
};

constexpr Band kProcess = {{"process", "#c9ced6"}, 216, 0, 0.13, 0.82};
constexpr Band kNative = {{"native", "#e9c478"}, 26, 36, 0.68, 0.70};
constexpr Band kKernel = {{"kernel", "#dd8f7c"}, 4, 14, 0.58, 0.69};
constexpr Band kInlined = {{"inlined", "#93c9c4"}, 168, 22, 0.36, 0.68};
constexpr Band kManaged = {{"jit, java", "#a5c98b"}, 84, 40, 0.38, 0.67};
constexpr Band kPython = {{"python", "#8fb4dd"}, 204, 24, 0.52, 0.71};
constexpr Band kGpu = {{"gpu", "#bba3dc"}, 258, 30, 0.45, 0.74};
constexpr Band kUnknown = {{"unknown", "#c8c8c4"}, 60, 0, 0.04, 0.77};

const Band& band_of(const Function& function) {
  if (function.is_process) return kProcess;
  switch (function.kind) {
    case FrameKind::kKernel:
      return kKernel;
    case FrameKind::kNative:
      return function.name.starts_with('[') ? kUnknown : kNative;
    case FrameKind::kInlined:
      return kInlined;
    case FrameKind::kJava:
      return kManaged;
    case FrameKind::kPython:
      return kPython;
    case FrameKind::kGpu:
      return kGpu;
    case FrameKind::kUnknown:
      break;
  }
  return kUnknown;
}

// FNV-1a, mixed: a fraction in [0, 1) that depends on the text alone.
double fraction(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  hash ^= hash >> 29;
  hash *= 0xbf58476d1ce4e5b9ULL;
  return static_cast<double>(hash >> 40) / static_cast<double>(uint64_t{1} << 24);
}

std::string hex_colour(double hue, double saturation, double lightness) {
  const double reach = saturation * std::min(lightness, 1 - lightness);
  const auto channel = [&](double offset) {
    const double k = std::fmod(offset + hue / 30, 12);
    const double value = lightness - reach * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    return static_cast<int>(std::lround(255 * value));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(8), channel(4));
}

}  // namespace

std::string flame_colour(const Function& function) {
  const Band& band = band_of(function);
  const double hue = band.hue + band.width * fraction(module_name(function.module));
  const double shade = fraction(function.name) - 0.5;
  return hex_colour(hue, band.saturation, band.lightness + 0.09 * shade);
}

const ColourKey& colour_key(const Function& function) { return band_of(function).key; }

std::vector<ColourKey> colour_keys(const Profile& profile, std::span<const uint32_t> nodes) {
  std::map<std::string_view, ColourKey> kinds;
  for (const uint32_t node : nodes) {
    if (node == 0) continue;
    const ColourKey& key = colour_key(profile.function_of(profile.tree.nodes[node]));
    kinds.emplace(key.name, key);
  }
  std::vector<ColourKey> keys;
  keys.reserve(kinds.size());
  for (const auto& [name, key] : kinds) keys.push_back(key);
  return keys;
}

}  // namespace fathom
