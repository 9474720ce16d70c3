// SPDX-License-Identifier: Apache-2.0
// Which gauges of a run's resources are drawn over time, and how they are called there: one line
// a curve. Constant data: any thread.
#pragma once

#include <array>
#include <span>

namespace fathom {

// A gauge, or two that are added up where they were taken at the same time.
struct CurveSpec {
  const char* label;
  const char* scope;
  const char* name;
  const char* added = nullptr;
};

struct PanelSpec {
  const char* title;
  const char* unit;
  double factor;  // from the gauge's unit; of one that adds up, from its unit per second
  std::array<CurveSpec, 3> curves;
  bool instead = false;  // only where the one before has nothing
};

std::span<const PanelSpec> panel_specs();

}  // namespace fathom
