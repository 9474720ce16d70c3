// SPDX-License-Identifier: Apache-2.0
// The layers of I/O that can be asked for, from the program down to the disk. Constants and plain
// values: any thread.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

struct IoLayer {
  std::string_view name;
  std::string_view summary;
  bool usual;  // where no list is given
};

std::span<const IoLayer> io_layers();

// Some of them.
struct LayerChoice {
  std::vector<std::string> names;

  [[nodiscard]] bool has(std::string_view layer) const;
  // Any that the kernel half sees.
  [[nodiscard]] bool any_of_kernel() const;
};

// "sys,block", "all", "usual"; empty: the usual ones. kInvalid with a suggestion.
Result<LayerChoice> layers_from(std::string_view list);

}  // namespace fathom
