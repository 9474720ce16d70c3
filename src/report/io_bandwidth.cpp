// SPDX-License-Identifier: Apache-2.0
#include "report/io_bandwidth.h"

#include <algorithm>

#include "base/text.h"
#include "base/text_style.h"
#include "report/io_text.h"
#include "report/text_table.h"

namespace fathom {
namespace {

constexpr size_t kIndent = 2;

// The next of 1, 2, 5, 10, 20, … nanoseconds that is not less.
int64_t round_up(int64_t ns) {
  int64_t step = 1;
  while (true) {
    for (const int64_t factor : {1, 2, 5}) {
      if (step * factor >= ns || step > INT64_MAX / 100) return step * factor;
    }
    step *= 10;
  }
}

struct Parts {
  int64_t part_ns = 1;  // what a bar stands for
  size_t count = 1;
};

// As many bars as fit, of a round length each, but no shorter than what bytes are known for.
Parts parts_of(const IoProfile& profile, size_t columns) {
  const int64_t duration_ns = std::max<int64_t>(profile.duration_ns, 1);
  const auto most = static_cast<int64_t>(std::max<size_t>(columns, 1));
  Parts parts;
  parts.part_ns = round_up((duration_ns - 1) / most + 1);
  if (profile.slice_ns > 0) {
    const int64_t slices = (parts.part_ns - 1) / profile.slice_ns + 1;
    parts.part_ns = profile.slice_ns * slices;
  }
  parts.part_ns = std::min(parts.part_ns, duration_ns);
  parts.count = static_cast<size_t>((duration_ns - 1) / parts.part_ns + 1);
  return parts;
}

std::string direction_text(std::string_view label, const ByteSeries& series, int64_t total,
                           const IoProfile& profile, const Parts& parts,
                           const ReportOptions& options) {
  const std::string name =
      std::string(kIndent, ' ') + styled(Style::kName, pad(label, 9), options.colours);
  if (total == 0) return name + "nothing\n";
  const std::vector<int64_t> bytes = resample(series, parts.part_ns, parts.count);
  const auto peak = std::max_element(bytes.begin(), bytes.end());
  const int64_t at_ns = profile.from_ns + (peak - bytes.begin()) * parts.part_ns;
  std::string drawn = bars(bytes);
  while (drawn.ends_with(' ')) drawn.pop_back();
  return name + rate_text(total, profile.duration_ns) + " mean · " +
         rate_text(*peak, parts.part_ns) + " peak at " + moment_text(at_ns) + "\n" +
         std::string(kIndent, ' ') + drawn + "\n";
}

}  // namespace

std::string bandwidth_text(const IoProfile& profile, const ReportOptions& options) {
  if (profile.total.bytes() == 0) return "";
  const size_t room = prose_columns(options) - 2 * kIndent;
  const Parts parts = parts_of(profile, room);
  std::string text =
      heading("Bandwidth", ", a bar is " + format_duration_ns(parts.part_ns), options);
  text += direction_text("read", profile.read, profile.total.read_bytes, profile, parts, options);
  text += direction_text("written", profile.written, profile.total.written_bytes, profile, parts,
                         options);
  const std::string from = moment_text(profile.from_ns);
  const std::string to = moment_text(profile.from_ns + profile.duration_ns);
  const size_t used = display_width(from) + display_width(to);
  const size_t gap = parts.count > used ? parts.count - used : 1;
  return text + footnote(from + std::string(gap, ' ') + to, options);
}

}  // namespace fathom
