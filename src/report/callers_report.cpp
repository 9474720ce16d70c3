// SPDX-License-Identifier: Apache-2.0
#include "report/callers_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/text_style.h"
#include "report/function_match.h"
#include "report/profile_text.h"
#include "report/share_interval.h"

namespace fathom {
namespace {

constexpr size_t kUsualRows = 15;
constexpr size_t kShareColumns = 28;  // of the function itself
constexpr size_t kFigureColumns = 35;
constexpr size_t kMostNamed = 8;
constexpr uint32_t kNobody = UINT32_MAX;      // as a caller: it is the root
constexpr uint32_t kItself = UINT32_MAX - 1;  // as a callee: it was running itself

using Sums = std::map<uint32_t, Weight>;  // by function

// Every sample with the function on its stack, once: the caller is the one of its outermost frame,
// the callee the one of its innermost, so that recursion counts as one call.
struct Neighbours {
  Weight total, self;
  Sums callers, callees;  // each adds up to the total
};

class NeighbourCount {
 public:
  NeighbourCount(const Profile& profile, const std::vector<uint32_t>& functions)
      : profile_(profile), wanted_(profile.functions.size()) {
    for (const uint32_t function : functions) wanted_[function] = true;
  }

  Neighbours count() {
    const std::vector<CallNode>& nodes = profile_.tree.nodes;
    // Per node: the function called by the innermost frame that is wanted. Parents come first.
    std::vector<uint32_t> callee(nodes.size(), kNobody);
    std::vector<bool> inside(nodes.size());
    for (uint32_t i = 1; i < nodes.size(); ++i) {
      const CallNode& node = nodes[i];
      if (wanted_[node.function]) {
        if (!inside[node.parent]) enter(node);
        inside[i] = true;
        found_.self += node.self;
        if (node.self.samples > 0) found_.callees[kItself] += node.self;
      } else if (inside[node.parent]) {
        inside[i] = true;
        callee[i] = callee[node.parent] == kNobody ? node.function : callee[node.parent];
        if (node.self.samples > 0) found_.callees[callee[i]] += node.self;
      }
    }
    return std::move(found_);
  }

 private:
  void enter(const CallNode& node) {
    found_.total += node.total;
    const uint32_t caller = node.parent == 0 ? kNobody : profile_.tree.nodes[node.parent].function;
    found_.callers[caller] += node.total;
  }

  const Profile& profile_;
  std::vector<bool> wanted_;
  Neighbours found_;
};

class NeighbourText {
 public:
  NeighbourText(const Profile& profile, const ReportOptions& options)
      : profile_(profile), options_(options) {}

  std::string write(const std::vector<uint32_t>& functions, const Neighbours& found) {
    add_functions(functions, found);
    add_list("called by", found.callers, found.total);
    text_ += "\n";
    add_list("calls", found.callees, found.total);
    return std::move(text_);
  }

 private:
  void line(std::string_view figures, Style style, std::string_view name, std::string_view tail,
            size_t figure_columns = kFigureColumns) {
    const size_t room = options_.columns - figure_columns - display_width(tail);
    text_ += fmt::format("{:>{}}  ", figures, figure_columns - 2) +
             styled(style, fit_name(name, room), options_.colours) +
             styled(Style::kFaint, tail, options_.colours) + "\n";
  }

  [[nodiscard]] size_t module_columns() const {
    return options_.columns < kAnyWidth ? 16 : kAnyWidth;
  }

  void add_functions(const std::vector<uint32_t>& functions, const Neighbours& found) {
    text_ += styled(Style::kHeading, "function", options_.colours) + "\n";
    for (size_t i = 0; i < std::min(functions.size(), kMostNamed); ++i) {
      const Function& function = profile_.functions[functions[i]];
      const std::string module = printable(module_name(function.module));
      line("", Style::kName, printable(function.name),
           module.empty() ? "" : "  " + fit(module, module_columns()), kShareColumns);
    }
    if (functions.size() > kMostNamed) {
      line("", Style::kFaint,
           fmt::format("… {} more of that name, taken together", functions.size() - kMostNamed), "",
           kShareColumns);
    }
    const auto share = [&](const Weight& weight) {
      return share_text(profile_.share(weight.weight), profile_.total);
    };
    text_ += fmt::format("{:>{}}  of all samples, on the stack\n", share(found.total),
                         kShareColumns - 2);
    text_ +=
        fmt::format("{:>{}}  of all samples, in itself\n\n", share(found.self), kShareColumns - 2);
  }

  void add_list(std::string_view heading, const Sums& sums, const Weight& whole) {
    std::vector<std::pair<uint32_t, Weight>> order(sums.begin(), sums.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.second.weight > b.second.weight;
    });
    text_ += styled(Style::kHeading, heading, options_.colours) + "\n";
    const size_t limit = options_.limit.value_or(kUsualRows);
    for (size_t i = 0; i < order.size(); ++i) {
      if (limit != 0 && i == limit) {
        line("", Style::kFaint, fmt::format("… {} more (--limit)", order.size() - i), "");
        break;
      }
      add_neighbour(order[i].first, order[i].second, whole);
    }
  }

  void add_neighbour(uint32_t function, const Weight& weight, const Weight& whole) {
    const double share =
        whole.weight > 0 ? static_cast<double>(weight.weight) / static_cast<double>(whole.weight)
                         : 0;
    const std::string figures =
        fmt::format("{:.2f} % {:>12} {:>10}", 100 * share,
                    interval_cell(share_interval(share, whole)), format_count(weight.samples));
    if (function == kNobody || function == kItself) {
      line(figures, Style::kFaint,
           function == kItself ? "(itself)" : "(nobody: it is the root of the stack)", "");
      return;
    }
    const Function& other = profile_.functions[function];
    const std::string_view kind = kind_text(other);
    line(figures, Style::kPlain, printable(other.name),
         kind.empty() ? "" : fmt::format(" [{}]", kind));
  }

  const Profile& profile_;
  const ReportOptions& options_;
  std::string text_;
};

}  // namespace

Status write_callers_report(ProfileSources sources, const ReportOptions& options) {
  if (options.function.empty()) {
    return Error{Code::kInvalid, "callers of which function?",
                 "fathom report RUN --as callers --function NAME"};
  }
  TRY_ASSIGN(const Profile profile, load_profile(sources, options.filter));
  TRY_ASSIGN(const std::vector<uint32_t> functions, match_functions(profile, options.function));
  const Neighbours found = NeighbourCount(profile, functions).count();
  return print_to(options.out, profile_heading(profile, options) +
                                   NeighbourText(profile, options).write(functions, found));
}

}  // namespace fathom
