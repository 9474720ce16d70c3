// SPDX-License-Identifier: Apache-2.0
#include "report/flame_page.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/sha256.h"
#include "report/flame_page_data.h"
#include "report/made_samples.h"

namespace fathom {
namespace {

size_t count_of(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

std::string between(const std::string& text, std::string_view start, std::string_view end) {
  const size_t from = text.find(start) + start.size();
  return text.substr(from, text.find(end, from) - from);
}

TEST(Base64, IsThatOfTheStandard) {
  const auto of = [](std::string_view text) {
    return base64({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  };
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("f"), "Zg==");
  EXPECT_EQ(of("fo"), "Zm8=");
  EXPECT_EQ(of("foo"), "Zm9v");
  EXPECT_EQ(of("foobar"), "Zm9vYmFy");
}

TEST(FlamePage, PolicyNamesItsOwnScriptAndStyleOnly) {
  MadeSamples made;
  made.run().command = made.out().string("sh -c '<b>]]>' \xff\x01");
  for (const std::string& name : hostile_names()) {
    made.process(1, name);
    made.thread(1, 2, name);
    made.add({.stack = {std::string(name).append("@/lib/").append(name), "leaf", name},
              .pid = 1,
              .tid = 2});
  }
  made.stacks_probe();
  const Recording recording = made.finish();
  for (const char* format : {"flamegraph-html", "icicle-html", "heatmap"}) {
    const std::string html = report_text(recording, format);
    EXPECT_LT(html.find(kFlamePageMark), 256U) << "where fathom report looks for it";
    EXPECT_EQ(between(html, "Content-Security-Policy\" content=\"", "\""),
              "default-src 'none'; script-src '" +
                  sha256_source(between(html, "<script>", "</script>")) + "'; style-src '" +
                  sha256_source(between(html, "<style>", "</style>")) +
                  "'; base-uri 'none'; form-action 'none'");
    EXPECT_EQ(count_of(html, "<script"), 5U) << "four that hold data, one that runs";
    EXPECT_EQ(count_of(html, "</script>"), 5U);
    for (const char* part : {"unsafe", " style=", " onclick", "src=\""})
      EXPECT_EQ(count_of(html, part), 0U) << part;
    EXPECT_LT(html.size(), 200'000U) << "long names are cut";
  }
}

class Numbers {
 public:
  explicit Numbers(std::string_view text) {
    constexpr std::string_view kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0, have = 0;
    for (const char c : text) {
      if (c == '=') break;
      bits = bits << 6 | static_cast<uint32_t>(kLetters.find(c));
      if ((have += 6) >= 8) bytes_ += static_cast<char>(bits >> (have -= 8) & 255);
    }
  }
  [[nodiscard]] bool more() const { return at_ < bytes_.size(); }
  uint64_t next() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes_[at_++]);
      value |= uint64_t{byte & 127U} << shift;
      if (byte < 128) return value;
    }
  }

 private:
  std::string bytes_;
  size_t at_ = 0;
};

TEST(FlamePage, SaysWhatItsColoursMean) {
  MadeSamples made;
  made.process(1, "p");
  made.add({.stack = {"a@/bin/a", "read_[k]"}, .pid = 1, .tid = 1});
  const std::string page = report_text(made.finish(), "flamegraph-html");
  const size_t at = page.find("Colours:");
  ASSERT_NE(at, std::string::npos);
  const std::string keys = page.substr(at, page.find("</p>", at) - at);
  for (const char* kind : {"fill=\"#dd8f7c\"/></svg>kernel", "fill=\"#e9c478\"/></svg>native",
                           "fill=\"#c9ced6\"/></svg>process"})
    EXPECT_NE(keys.find(kind), std::string::npos) << kind << " in " << keys;
  EXPECT_EQ(keys.find("python"), std::string::npos) << "only what is there: " << keys;
}

TEST(FlamePage, HoldsEveryNodeAndEverySample) {
  MadeSamples made;
  made.process(1, "p");
  for (int i = 0; i < 1000; ++i) {
    made.add({.stack = {"a", "b" + std::to_string(i % 7), "c" + std::to_string(i % 11)},
              .weight = 3 + i % 5,
              .pid = 1,
              .tid = 1 + i % 3,
              .event = i % 4 == 0 ? "page-faults" : "cpu-clock",
              .time_ns = int64_t{3'000'000} * i});
  }
  const Profile profile = load_profile(made.finish(), page_filter({})).value();
  const FlamePageData data = flame_page_data(profile, {});
  Numbers nodes(data.nodes);
  size_t count = 1;
  for (; nodes.more(); ++count) {
    nodes.next();
    EXPECT_LT(nodes.next(), 20U);
  }
  EXPECT_EQ(count, profile.tree.nodes.size());
  Numbers parts(data.parts);
  uint64_t node = 0, samples = 0, weight = 0, last_cell = 0;
  double squares = 0;
  while (parts.more()) {
    node += parts.next();
    EXPECT_LT(parts.next(), profile.groups.size());
    last_cell = std::max(last_cell, parts.next());
    const uint64_t samples_here = parts.next(), weight_here = parts.next(), spread = parts.next();
    samples += samples_here;
    weight += weight_here;
    squares += static_cast<double>(weight_here * weight_here) / static_cast<double>(samples_here) *
               (1 + static_cast<double>(spread) / 1000);
  }
  EXPECT_LT(node, count);
  EXPECT_EQ(samples, 1000U) << "of all events";
  EXPECT_EQ(weight, 5000U);
  EXPECT_NEAR(squares, 200 * (3 * 3 + 4 * 4 + 5 * 5 + 6 * 6 + 7 * 7), 20) << "of each weight";
  EXPECT_EQ(last_cell, 2'997'000'000U / 20'000'000U);
  EXPECT_NE(data.json.find("\"cell_ns\":20000000,\"cells\":150,"), std::string::npos);
}

TEST(FlamePage, WhatASampleStandsForIsSaidOnceWhereItIsTheSame) {
  MadeSamples made;
  made.add({.stack = {"a"}, .weight = 10});
  made.add({.stack = {"a", "b"}, .weight = 10});
  const Profile profile = load_profile(made.finish(), page_filter({})).value();
  EXPECT_NE(flame_page_data(profile, {}).json.find("\"unit_weight\":10,"), std::string::npos);
}

}  // namespace
}  // namespace fathom
