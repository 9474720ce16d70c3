// SPDX-License-Identifier: Apache-2.0
// Small structs as texts in Redis: fields with a NUL between, which no text of ours holds. Numbers
// keep all their digits. Pure functions: any thread.
#pragma once

#include <string>
#include <string_view>

#include "store/store.h"

namespace fathom {

std::string job_text(const Job& job);
Job job_from(std::string_view text);
std::string gauge_text(const GaugeValue& gauge);
GaugeValue gauge_from(std::string_view text);
std::string mark_text(const MarkText& mark);
MarkText mark_from(std::string_view text);

}  // namespace fathom
