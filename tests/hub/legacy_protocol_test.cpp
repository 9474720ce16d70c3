// SPDX-License-Identifier: Apache-2.0
#include "hub/legacy_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hub/address_range.h"
#include "hub/perf_script_line.h"

namespace fathom {
namespace {

using testing::ElementsAre;

std::vector<std::string> all_of(LegacyFramer& framer) {
  std::vector<std::string> messages;
  for (auto next = framer.next(); next.ok() && next.value(); next = framer.next())
    messages.push_back(*next.value());
  return messages;
}

TEST(LegacyFramer, SplitsAtTheBracesOfObjectsWhereverSegmentsEnd) {
  const std::string first = R"({"command":1,"message":"} \"{ \\","port":2001})",
                    second = R"({"a":{}})";
  const std::string stream = "ackack \n" + first + second + "ack" + second;
  for (size_t segment = 1; segment <= stream.size(); ++segment) {
    LegacyFramer framer;
    std::vector<std::string> found;
    for (size_t at = 0; at < stream.size(); at += segment) {
      framer.append(std::string_view(stream).substr(at, segment));
      for (std::string& message : all_of(framer)) found.push_back(std::move(message));
    }
    EXPECT_THAT(found, ElementsAre(first, second, second)) << segment;
    EXPECT_EQ(framer.size(), 0U);
  }
}

TEST(LegacyFramer, RejectsWhatIsNotAnObjectAndMessagesThatDoNotEnd) {
  for (const char* wrong : {"GET / HTTP/1.1", "[1]", "abc", "{}x"}) {
    LegacyFramer framer;
    framer.append(wrong);
    auto next = framer.next();
    if (next.ok() && next.value()) next = framer.next();
    EXPECT_FALSE(next.ok()) << wrong;
  }
  LegacyFramer endless;
  endless.append("{" + std::string(LegacyFramer::kMaxMessageBytes, ' '));
  EXPECT_FALSE(endless.next().ok());
}

TEST(LegacyFramer, TakesOneAcknowledgmentAtATime) {
  LegacyFramer framer;
  framer.append("ac");
  EXPECT_FALSE(framer.take_ack().value());
  framer.append("kack{}");
  EXPECT_TRUE(framer.take_ack().value());
  EXPECT_TRUE(framer.take_ack().value());
  EXPECT_FALSE(framer.take_ack().ok());
  EXPECT_THAT(all_of(framer), ElementsAre("{}"));
}

struct Line {
  const char* text;
  const char* symbol;
  const char* program;
  const char* event;
  int64_t count;
};

// Lines as `perf script` of several versions prints them.
TEST(PerfScriptLine, ReadsSymbolProgramEventAndCount) {
  const Line lines[] = {
      {"cc1  4242  8041.123456:       1000 cache-misses:u:  7f12ab main+0x1f (/usr/lib/gcc/cc1)\n",
       "main+0x1f", "cc1", "cache-misses:u", 1000},
      {"cc1  4242 [001]  8041.123456:  7 cpu-cycles:u:   55d0 f (/tmp/a (deleted))\n", "f", "a",
       "cpu-cycles:u", 7},
      {"Web Content 4242/4243 [000] 1.5: 3 cpu-clock:  ffff8 foo(int, char const*)+0x2 "
       "([kernel.kallsyms])",
       "foo(int, char const*)+0x2", "[kernel.kallsyms]", "cpu-clock", 3},
      {"sh 1 2.000001:          1 sched:sched_switch:  0 [unknown] ([unknown])\n", "[unknown]",
       "[unknown]", "sched:sched_switch", 1},
  };
  for (const Line& line : lines) {
    const auto sample = parse_perf_script_line(line.text);
    ASSERT_TRUE(sample.has_value()) << line.text;
    EXPECT_EQ(sample->symbol, line.symbol);
    EXPECT_EQ(sample->program, line.program);
    EXPECT_EQ(sample->event, line.event);
    EXPECT_EQ(sample->count, line.count);
  }
}

TEST(PerfScriptLine, RejectsEverythingElse) {
  for (const char* text :
       {"", "\n", "cc1 4242", "cc1 4242 1.5:", "cc1 4242 1.5: x e: 7f main (/a)",
        "cc1 4242 1.5: 7 e 7f main (/a)", "cc1 4242 1.5: 7 e: 7f main", "1.5: 7 e: 7f main (/a)",
        "cc1 4242 1.5: 7 e: nonsense main (/a)", "cc1 4242 1.5: 7 e: 7f (/a)",
        "cc1 4242 1.5: 99999999999999999999 e: 7f main (/a)"})
    EXPECT_FALSE(parse_perf_script_line(text).has_value()) << text;
}

TEST(AddressRange, ContainsByPrefixInBothFamilies) {
  const auto contains = [](const char* range, const char* address) {
    return AddressRange::parse(range).value().contains(address);
  };
  EXPECT_TRUE(contains("10.0.0.0/8", "10.255.1.2"));
  EXPECT_TRUE(contains("10.0.0.0/8", "::ffff:10.1.1.1"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(contains("192.168.7.129/25", "192.168.7.200"));
  EXPECT_FALSE(contains("192.168.7.129/25", "192.168.7.100"));
  EXPECT_TRUE(contains("1.2.3.4", "1.2.3.4"));
  EXPECT_FALSE(contains("1.2.3.4", "1.2.3.5"));
  EXPECT_TRUE(contains("0.0.0.0/0", "8.8.8.8"));
  EXPECT_FALSE(contains("0.0.0.0/0", "fe80::1"));
  EXPECT_TRUE(contains("fe80::/10", "fe80::1"));
  EXPECT_FALSE(contains("10.0.0.0/8", ""));
  EXPECT_TRUE(is_in_any(loopback_ranges(), "127.9.9.9"));
  EXPECT_TRUE(is_in_any(loopback_ranges(), "::1"));
  EXPECT_FALSE(is_in_any(loopback_ranges(), "10.0.0.1"));
  for (const char* wrong :
       {"", "x", "10.0.0.0/33", "10.0.0.0/-1", "::1/129", "10.0.0/8", "1.2.3.4/"})
    EXPECT_FALSE(AddressRange::parse(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace fathom
