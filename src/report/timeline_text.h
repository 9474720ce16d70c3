// SPDX-License-Identifier: Apache-2.0
// A timeline in words, and as the data of a page. Pure functions: any thread.
#pragma once

#include <string>
#include <string_view>

#include "report/report_table.h"
#include "report/timeline.h"

namespace fathom {

// "1.52 cores", "12.3 MB/s", "37 items".
std::string figure_text(double value, std::string_view unit);
std::string number_text(double value);

// Mean and peak of every curve; the marks.
ReportTable curves_table(const Timeline& timeline);
ReportTable marks_table(const Timeline& timeline);

// JSON that may stand within a script element of HTML: no "<", "&" or line separator in it. The
// script of the page says what is in it (html_script.cpp).
std::string timeline_json(const Timeline& timeline, const Summary& summary);

}  // namespace fathom
