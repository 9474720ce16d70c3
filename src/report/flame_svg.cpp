// SPDX-License-Identifier: Apache-2.0
#include "report/flame_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "report/flame_layout.h"
#include "report/flamegraph_parts.h"
#include "report/profile_text.h"
#include "report/xml_text.h"

namespace fathom {
namespace {

// Pixels. The script lays boxes out again for the width of its window.
constexpr double kWidth = 1200;
constexpr double kPad = 10;
constexpr double kMinPixels = 0.1;
constexpr size_t kMostBoxes = 20'000;  // what a browser draws at once
constexpr double kCharWidth = 7.23;    // of 12 px monospace
constexpr int kRowHeight = 17;
constexpr int kBoxHeight = 16;
constexpr int kHeaderHeight = 98;
constexpr uint32_t kHighLevel = 60;  // above, a deep recursion of a few samples is only height
constexpr double kMinHighPixels = 2;
constexpr uint32_t kMaxLevels = 250;
constexpr size_t kTitleColumns = 500;
constexpr size_t kHeadColumns = 84;  // the tools are beside it
constexpr size_t kNoteColumns = 170;

class FlamegraphSvg {
 public:
  explicit FlamegraphSvg(const FlamePicture& picture)
      : picture_(picture),
        profile_(picture.profile),
        scale_((kWidth - 2 * kPad) / static_cast<double>(picture.widths[0])),
        layout_(lay_out()),
        height_(kHeaderHeight + static_cast<int>(layout_.levels) * kRowHeight +
                static_cast<int>(kPad)),
        looks_(profile_.functions.size()) {}

  std::string write() {
    begin();
    for (const FlameBox& box : layout_.boxes) add_box(box);
    add_header();
    put("<script><![CDATA[{}]]></script>\n</svg>\n", kFlamegraphScript);
    return std::move(out_);
  }

 private:
  // The least width that leaves no more boxes than a browser takes.
  FlameLayout lay_out() {
    for (;; min_pixels_ *= 2) {
      FlameLayout layout =
          lay_out_flames(profile_.tree, picture_.widths,
                         {.min_weight = min_pixels_ / scale_,
                          .high_level = kHighLevel,
                          .min_high_weight = std::max(min_pixels_, kMinHighPixels) / scale_,
                          .max_levels = kMaxLevels});
      if (layout.boxes.size() <= kMostBoxes || min_pixels_ > 1) return layout;
    }
  }

  // What all boxes of a function share.
  struct Look {
    std::string title;  // name and module, escaped
    std::string name;   // printable
  };

  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void begin() {
    put(R"(<?xml version="1.0" encoding="UTF-8" standalone="no"?>
{}
<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" viewBox="0 0 {} {}" data-total="{}"{}>
<title>{}</title>
<style><![CDATA[{}]]></style>
<rect class="paper across" width="{}" height="{}"/>
)",
        kFlamegraphMark, kWidth, height_, kWidth, height_, picture_.widths[0],
        picture_.icicle ? " data-icicle=\"1\"" : "", xml_text(picture_.title, kHeadColumns),
        kFlamegraphStyle, kWidth, height_);
  }

  const Look& look(uint32_t function_number) {
    Look& look = looks_[function_number];
    if (!look.name.empty()) return look;
    const Function& function = profile_.functions[function_number];
    look.name = fit(printable(function.name), kTitleColumns);
    look.title = xml_text(look.name, kTitleColumns);
    std::string where(module_name(function.module));
    if (const std::string_view kind = kind_text(function); !kind.empty())
      where += (where.empty() ? "" : ", ") + std::string(kind);
    if (!where.empty()) look.title += "\n" + xml_text(where, kTitleColumns);
    return look;
  }

  void add_box(const FlameBox& box) {
    const CallNode& node = profile_.tree.nodes[box.node];
    static const Look kAll = {"all", "all"};
    const Look& look = box.node == 0 ? kAll : this->look(node.function);
    const double x = kPad + static_cast<double>(box.start) * scale_;
    const int64_t weight = picture_.widths[box.node];
    const double width = static_cast<double>(weight) * scale_;
    const uint32_t row = picture_.icicle ? box.level : layout_.levels - 1 - box.level;
    const int y = kHeaderHeight + static_cast<int>(row) * kRowHeight;
    const std::string sign = picture_.sign ? picture_.sign(box.node) : "";
    put(R"(<g class="f" data-s="{}" data-w="{}"{}><title>{}
{})",
        box.start, weight, sign.empty() ? "" : fmt::format(" data-m=\"{}\"", sign), look.title,
        xml_text(picture_.figures(box.node), kTitleColumns));
    put(R"(</title><rect x="{:.2f}" y="{}" width="{:.2f}" height="{}" rx="1" fill="{}"/>)", x, y,
        std::max(width - (width > 2 ? 0.5 : 0), kMinPixels), kBoxHeight,
        box.node == 0 ? "#d9dde3" : picture_.colour(box.node));
    const auto room = static_cast<int>((width - 6) / kCharWidth);
    if (room >= 3) {
      put(R"(<text x="{:.2f}" y="{}">{}</text>)", x + 3, y + 12,
          xml_text(fit_name(sign + look.name, static_cast<size_t>(room)), kTitleColumns));
    }
    put("</g>\n");
  }

  [[nodiscard]] std::string left_out() const {
    if (layout_.left_out == 0) return "Every frame is drawn";
    std::string text =
        fmt::format("{} frames under {} px", format_count(layout_.left_out), min_pixels_);
    if (layout_.levels >= kHighLevel)
      text += fmt::format(", or {} px above level {},", kMinHighPixels, kHighLevel);
    text += " are not drawn";
    if (layout_.levels >= kMaxLevels)
      text += fmt::format(", nor those above level {}", format_count(kMaxLevels));
    return text;
  }

  // Last in the file: it stays on top when the picture is scrolled.
  void add_header() {
    const auto line = [&](const char* style, int y, std::string_view text, size_t columns) {
      put(R"(<text class="{}" x="{}" y="{}">{}</text>
)",
          style, kPad, y, xml_text(text, columns));
    };
    put(R"(<g class="header"><rect class="paper across" width="{}" height="{}"/>
<line class="rule" x1="0" x2="{}" y1="{}" y2="{}"/>
)",
        kWidth, kHeaderHeight - 8, kWidth, kHeaderHeight - 8.5, kHeaderHeight - 8.5);
    line("head", 26, picture_.title, kHeadColumns);
    line("fact", 46, join(picture_.facts, " · "), kNoteColumns);
    line("note", 64, join(picture_.notes, " · "), kNoteColumns);
    line("detail", 83, left_out(), kNoteColumns);
    add_keys();
    put("</g>\n");
  }

  [[nodiscard]] std::vector<ColourKey> keys() const {
    if (!picture_.keys.empty()) return picture_.keys;
    std::vector<uint32_t> nodes;
    nodes.reserve(layout_.boxes.size());
    for (const FlameBox& box : layout_.boxes) nodes.push_back(box.node);
    return colour_keys(profile_, nodes);
  }

  // The legend, right to left from its own 0.
  void add_keys() {
    const std::vector<ColourKey> keys = this->keys();
    put(R"svg(<g class="keys" transform="translate({} 0)">)svg", kWidth - kPad);
    double x = 0;
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
      const double text_width = 7.2 * static_cast<double>(display_width(key->name));
      x -= text_width;
      put(R"(<text class="key" x="{:.0f}" y="46">{}</text>)", x, xml_text(key->name, 40));
      if (key->colour == nullptr) {
        x -= 14;
        continue;
      }
      x -= 16;
      put(R"(<rect x="{:.0f}" y="36" width="11" height="11" rx="2" fill="{}"/>)", x, key->colour);
      x -= 14;
    }
    put("</g>\n");
  }

  const FlamePicture& picture_;
  const Profile& profile_;
  double scale_;
  double min_pixels_ = kMinPixels;
  FlameLayout layout_;
  int height_;
  std::vector<Look> looks_;
  std::string out_;
};

}  // namespace

std::string write_flame_svg(const FlamePicture& picture) { return FlamegraphSvg(picture).write(); }

}  // namespace fathom
