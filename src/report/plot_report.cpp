// SPDX-License-Identifier: Apache-2.0
#include "report/plot_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/text.h"
#include "report/step_rows.h"
#include "report/timeline.h"
#include "report/timeline_text.h"
#include "report/xml_text.h"

namespace fathom {
namespace {

constexpr double kWidth = 1000, kLeft = 86, kRight = 20, kHead = 64, kPanel = 96, kGap = 34;
constexpr double kStepLane = 20, kFoot = 34;
constexpr size_t kMostPanels = 24, kPlotTitleColumns = 60, kMostTicks = 6, kMostLines = 30;
constexpr const char* kColours[] = {"#1f6fb4", "#d9730d", "#2e8b57",
                                    "#8c4fb0", "#b03060", "#6b6b00"};
constexpr const char* kBands[] = {"#e8eef7", "#f6efe4"};

double nice_step(double most, double parts) {
  if (!(most > 0)) return 1;
  const double rough = most / parts;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * power) return factor * power;
  return 10 * power;
}

std::string value_text(double value, const std::string& unit) {
  if (unit == "bytes") return format_bytes(value);
  if (unit == "bytes/s") return format_bytes(value) + "/s";
  if (unit == "%") return fmt::format("{:g} %", value);
  return number_text(value);
}

class Plot {
 public:
  Plot(const Summary& summary, const Timeline& timeline, const std::vector<StepRow>& steps)
      : summary_(summary),
        timeline_(timeline),
        steps_(steps),
        length_s_(std::max(1e-3, static_cast<double>(timeline.length_ns) * 1e-9)),
        panels_(std::min(kMostPanels, timeline.panels.size())),
        top_(kHead + kStepLane * static_cast<double>(lanes())),
        height_(top_ + static_cast<double>(panels_) * (kPanel + kGap) + kFoot) {}

  std::string write() {
    put(R"(<?xml version="1.0" encoding="UTF-8"?>
{}
<svg xmlns="http://www.w3.org/2000/svg" width="{:.0f}" height="{:.0f}" viewBox="0 0 {:.0f} {:.0f}" font-family="system-ui, sans-serif" font-size="12" role="img">
<title>{}</title>
<rect width="100%" height="100%" fill="#fff"/>
)",
        kPlotMark, kWidth, height_, kWidth, height_, title());
    put("<text x=\"{}\" y=\"24\" font-size=\"16\" font-weight=\"600\">{}</text>\n", kLeft, title());
    put("<text x=\"{}\" y=\"44\" fill=\"#555\">{}</text>\n", kLeft,
        xml_text(summary_.text(summary_.run().command), 120));
    add_steps();
    for (size_t i = 0; i < panels_; ++i)
      add_panel(timeline_.panels[i], top_ + static_cast<double>(i) * (kPanel + kGap) + kGap);
    add_marks();
    add_time_axis();
    put("</svg>\n");
    return std::move(out_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...);
  }

  [[nodiscard]] std::string title() const {
    return xml_text(summary_.text(summary_.run().label), kPlotTitleColumns);
  }
  [[nodiscard]] double x_at(double seconds) const {
    return kLeft + (kWidth - kLeft - kRight) * std::clamp(seconds / length_s_, 0.0, 1.0);
  }
  [[nodiscard]] double seconds_of(int64_t time_ns) const {
    return static_cast<double>(time_ns - summary_.run().start_ns) * 1e-9;
  }
  // Labels of short steps take turns on two lines.
  [[nodiscard]] size_t lanes() const { return steps_.empty() ? 0 : steps_.size() > 4 ? 2 : 1; }

  void add_steps() {
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i].figures;
      if (!is_reached(step)) continue;
      const double from = x_at(seconds_of(step.start_ns));
      const double to = x_at(seconds_of(step.end_ns.value_or(step.start_ns)));
      put("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
          from, kHead, std::max(1.0, to - from), height_ - kHead - kFoot, kBands[i % 2]);
      put("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
          "stroke=\"#9aa7b8\"/>\n",
          from, kHead, height_ - kFoot);
      const auto columns = static_cast<size_t>(std::max(0.0, (to - from - 6) / 6.5));
      if (columns < 3) continue;
      put("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#334\">{}</text>\n", from + 4,
          kHead + kStepLane * static_cast<double>(i % std::max<size_t>(1, lanes())) + 14,
          xml_text(steps_[i].title, columns));
    }
  }

  void add_panel(const Panel& panel, double top) {
    double most = 0;
    for (const Curve& curve : panel.curves)
      for (const CurvePoint& point : curve.points) most = std::max(most, point.most);
    const double step = nice_step(most, 3);
    const double scale = std::max(step, std::ceil(most / step) * step);
    put("<text x=\"{}\" y=\"{:.1f}\" font-weight=\"600\">{}{}</text>\n", kLeft, top - 8,
        xml_text(panel.title, kPlotTitleColumns),
        panel.unit.empty() ? "" : ", " + xml_text(panel.unit, 20));
    for (double value = 0; value <= scale * 1.001; value += step) {
      const double y = top + kPanel * (1 - value / scale);
      put("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#dde\"/>\n", kLeft,
          kWidth - kRight, y);
      put("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\" fill=\"#555\">{}</text>\n", kLeft - 6,
          y + 4, xml_text(value_text(value, panel.unit), 20));
    }
    double legend = kWidth - kRight;
    for (size_t i = panel.curves.size(); i-- > 0;) {
      const char* colour = kColours[i % std::size(kColours)];
      add_curve(panel.curves[i], top, scale, colour);
      if (panel.from_application) continue;
      put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\" fill=\"{}\">{}</text>\n", legend,
          top - 8, colour, xml_text(panel.curves[i].label, 30));
      legend -= 7.2 * static_cast<double>(display_width(panel.curves[i].label)) + 16;
    }
  }

  void add_curve(const Curve& curve, double top, double scale, const char* colour) {
    std::string path;
    for (const CurvePoint& point : curve.points) {
      const double y = top + kPanel * (1 - std::clamp(point.value / scale, 0.0, 1.0));
      path += fmt::format("{}{:.1f} {:.1f}H{:.1f}", path.empty() ? "M" : "L",
                          x_at(static_cast<double>(point.from_ns) * 1e-9), y,
                          x_at(static_cast<double>(point.to_ns) * 1e-9));
    }
    if (curve.points.size() == 1 && curve.points[0].from_ns == curve.points[0].to_ns) path += "h1";
    put("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n", path, colour);
  }

  // What is no step: the application's own, and how it ended. Many of them would hide the curves.
  void add_marks() {
    const auto is_step = [](const TimelineMark& mark) {
      return mark.text.starts_with("step ") || mark.text.starts_with("end of ");
    };
    const auto others = static_cast<size_t>(
        std::count_if(timeline_.marks.begin(), timeline_.marks.end(), std::not_fn(is_step)));
    const double end = others > kMostLines ? top_ + 14 : height_ - kFoot;
    if (others > 0)
      put("<text x=\"{:.1f}\" y=\"44\" text-anchor=\"end\" fill=\"#b03060\">┆ {} mark{}</text>\n",
          kWidth - kRight, others, others == 1 ? "" : "s");
    for (const TimelineMark& mark : timeline_.marks) {
      if (is_step(mark)) continue;
      const double x = x_at(static_cast<double>(mark.time_ns) * 1e-9);
      put("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#b03060\" "
          "stroke-dasharray=\"3 3\"><title>{3}</title></line>\n",
          x, top_ + 6, end, xml_text(mark.text, 200));
    }
  }

  void add_time_axis() {
    const double step = nice_step(length_s_, kMostTicks);
    for (double seconds = 0; seconds <= length_s_ * 1.0001; seconds += step) {
      put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"#555\">{:.4g} s</text>\n",
          x_at(seconds), height_ - kFoot + 20, seconds);
    }
  }

  const Summary& summary_;
  const Timeline& timeline_;
  const std::vector<StepRow>& steps_;
  double length_s_;
  size_t panels_;
  double top_, height_;
  std::string out_;
};

}  // namespace

Status write_plot_report(const Recording& recording, const ReportOptions& options) {
  TRY_ASSIGN(const Summary summary, summarize(recording));
  TRY_ASSIGN(const Timeline timeline, load_timeline(recording, summary));
  TRY_ASSIGN(const std::vector<StepRow> steps, load_steps(recording));
  if (timeline.panels.empty())
    return Error{Code::kNotFound, "the recording has no figures over time",
                 "record with the probe resources"};
  return print_to(options.out, Plot(summary, timeline, steps).write());
}

}  // namespace fathom
