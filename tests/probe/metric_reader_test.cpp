// SPDX-License-Identifier: Apache-2.0
#include "probe/metric_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace fathom {
namespace {

class Told final : public MetricListener {
 public:
  void metric(const Metric& metric) override {
    text += fmt::format("{}={}{}{};", metric.name, metric.value, metric.unit.empty() ? "" : " ",
                        metric.unit) +
            time_text(metric.time);
  }
  void mark(std::string_view said, const MetricTime& time) override {
    text += fmt::format("mark {};", said) + time_text(time);
  }
  void lost(int64_t count) override { text += fmt::format("lost {};", count); }
  std::string text;

 private:
  static std::string time_text(const MetricTime& time) {
    if (time.monotonic_ns) return fmt::format("@{};", *time.monotonic_ns);
    return time.real_s ? fmt::format("@{}s;", *time.real_s) : "";
  }
};

std::string read(std::string_view line) {
  MetricReader reader;
  Told told;
  const bool good = reader.read_json(line, told);
  return (good ? "" : "bad:") + told.text;
}

std::string words(std::string_view line) {
  Told told;
  const bool good = MetricReader::read_words(line, told);
  return (good ? "" : "bad:") + told.text;
}

TEST(MetricReader, ReadsEveryForm) {
  EXPECT_EQ(read(R"({"loss":{"value":0.25,"timestamp":1700000000.5}})"),
            "loss=0.25;@1700000000.5s;");
  EXPECT_EQ(read(R"({"a":{"value":1},"b":{"value":2,"unit":"m"}})"), "a=1;b=2 m;");
  EXPECT_EQ(read(R"({"name":"step","value":3,"unit":"items","time_ns":77})"), "step=3 items;@77;");
  EXPECT_EQ(read(R"({"loss":0.25,"accuracy":1e-3,"time_ns":5})"),
            "loss=0.25;@5;accuracy=0.001;@5;");
  EXPECT_EQ(read(R"({"mark":"epoch \"3\"","timestamp":2})"), "mark epoch \"3\";@2s;");
  EXPECT_EQ(read(R"({"fathom_dropped":12})"), "lost 12;");
  EXPECT_EQ(read(R"(  {"on":true,"off":false})"), "on=1;off=0;");
}

TEST(MetricReader, KnowsTheThreeTypes) {
  EXPECT_EQ(read(R"({"name":"t","value":2,"type":"TIMER"})"), "t=2 s;");
  EXPECT_EQ(read(R"({"r":{"value":2,"type":"RATE"}})"), "r=2 1/s;");
  EXPECT_EQ(read(R"({"n":{"value":2,"type":"NUMBER"}})"), "n=2;");
  EXPECT_EQ(read(R"({"t":{"value":2,"type":"TIMER","unit":"ms"}})"), "t=2 ms;");
}

TEST(MetricReader, NamesMayBeThoseOfTheForms) {
  EXPECT_EQ(read(R"({"name":{"value":1},"mark":{"value":2},"value":3})"), "name=1;mark=2;value=3;");
  EXPECT_EQ(read(R"({"timestamp":{"value":1}})"), "timestamp=1;");
}

TEST(MetricReader, CountsWhatMakesNoSenseAndKeepsTheRest) {
  for (const char* line : {"",
                           "garbage",
                           "{",
                           "}",
                           "[1]",
                           "17",
                           "null",
                           "{}",
                           R"({"a":null})",
                           R"({"a":"1"})",
                           R"({"a":[1]})",
                           R"({"a":{"v":1}})",
                           R"({"name":"x"})",
                           R"({"name":"","value":1})",
                           R"({"mark":""})",
                           R"({"a":NaN})",
                           R"({"a":1e999})",
                           R"({"a":1}x)",
                           R"({"a":1}{"b":2})",
                           R"({"timestamp":1})",
                           R"({"fathom_dropped":-1})",
                           "{\"\xff\":1}",
                           "{\"a\":1,}"}) {
    EXPECT_EQ(read(line), "bad:") << line;
  }
  EXPECT_EQ(read(R"({"a":1,"b":null,"c":3})"), "bad:a=1;c=3;");
  EXPECT_EQ(read(R"({")" + std::string(257, 'n') + R"(":1})"), "bad:");
  EXPECT_EQ(read(R"({"name":"n","value":1,"unit":")" + std::string(65, 'u') + R"("})"), "bad:");
  EXPECT_EQ(read(R"({"mark":")" + std::string(4097, 'm') + R"("})"), "bad:");
  EXPECT_EQ(read(std::string(60'000, '[')), "bad:");
}

TEST(MetricReader, ReadsWords) {
  EXPECT_EQ(words("queue 17 items"), "queue=17 items;");
  EXPECT_EQ(words("\tqueue  -1.5e3 "), "queue=-1500;");
  for (const char* line : {"queue", "17", "queue x", "queue 1 items more", "queue 1x", "queue nan",
                           "queue inf", "# comment line"}) {
    EXPECT_EQ(words(line), "bad:") << line;
  }
}

TEST(MetricReader, SurvivesDamagedLines) {
  std::mt19937 random(4099);
  const std::string good =
      R"({"name":"step","value":3.5,"unit":"items","time_ns":77,"more":{"a":[1,2,"é"]}})";
  MetricReader reader;
  Told told;
  for (int i = 0; i < 20'000; ++i) {
    std::string line = good.substr(0, random() % (good.size() + 1));
    for (unsigned change = random() % 4; change > 0 && !line.empty(); --change)
      line[random() % line.size()] = static_cast<char>(random());
    reader.read_json(line, told);
    MetricReader::read_words(line, told);
  }
  told.text.clear();
  EXPECT_TRUE(reader.read_json(good, told));
  EXPECT_EQ(told.text, "step=3.5 items;@77;");
}

}  // namespace
}  // namespace fathom
