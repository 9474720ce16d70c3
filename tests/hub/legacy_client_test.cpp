// SPDX-License-Identifier: Apache-2.0
// Byte transcripts of the profiling-framework's original clients, against a real hub.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/hub_process.h"
#include "support/wire.h"

namespace fathom {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

// As json.dumps() writes what the original controller sends; arguments not given are null.
std::string controller(int command, const char* name, const char* jobid, const char* info) {
  const auto text = [](const char* value) {
    return value == nullptr ? std::string("null") : fmt::format("\"{}\"", value);
  };
  return fmt::format(R"({{"info": {}, "cmd": "{}", "command": {}, "jobid": {}, "file": null}})",
                     text(info), name, command, text(jobid));
}

std::string perf_line(int count, const char* symbol, const std::string& job = "2001") {
  return fmt::format(
      R"({{"message": "cc1 42  1.5:  {} cycles:u:  7f12 {} (/usr/bin/cc1)\n", "command": 1, "port": {}}})",
      count, symbol, job);
}

class LegacyClientTest : public testing::Test {
 protected:
  void SetUp() override {
    EXPECT_EQ(control(3, "CREATE", "2001", "first"), "[JOB 2001] is created ...");
  }
  void TearDown() override {
    if (hub_.pid() > 0) {
      EXPECT_EQ(hub_.stop(SIGTERM), 0);
    }
  }
  // What a controller prints: parts until "endofmsg", each acknowledged, none longer than a recv().
  static std::string receive(const Wire& wire) {
    std::string text;
    while (true) {
      const std::string part = wire.next(1024);
      if (part.empty() || part == "endofmsg") return part.empty() ? text + "(closed)" : text;
      text += part;
      wire.say("ack");
    }
  }
  std::string control(int command, const char* name, const char* jobid,
                      const char* info = nullptr) {
    const Wire wire(hub_);
    wire.say(controller(command, name, jobid, info));
    EXPECT_EQ(wire.next(), "ack");
    return receive(wire);
  }
  std::string profile() {
    return hub_.client().call("GET", "/api/v1/jobs/2001/profile").value().body;
  }

  HubProcess hub_;
};

TEST_F(LegacyClientTest, AllNineCommandsAreAcknowledgedAndAnswered) {
  const Wire wire(hub_);
  wire.say(perf_line(10, "main+0x1f"));
  EXPECT_EQ(wire.next(), "ack");
  wire.say(perf_line(7, "main+0x2a", "\"2001\""));
  EXPECT_EQ(wire.next(), "ack");
  wire.say(
      R"({"message": "{\"cycles:u\": \"1,234\", \"time\": \"1.5\", \"faults\": \"supported>\"}", "command": 2, "port": 2001})");
  EXPECT_EQ(wire.next(), "ack");
  EXPECT_EQ(control(5, "LIST", nullptr),
            "JOBID: 2001\t Info: first\t Number of benchmark data: 1\n");
  EXPECT_EQ(control(6, "SHOW_JOB_INFO", "2001"),
            "JOBID: 2001\t Info: first\t Number of benchmark data: 1\n");
  EXPECT_EQ(control(8, "SHOW_JOB_PROFILING", "2001"),
            "{\"main\":{\"execname\":\"cc1\",\"cycles:u\":17}}\n");
  EXPECT_THAT(control(7, "SHOW_JOB_BENCHMARK", "2001"),
              MatchesRegex("\\{\"Exectime\":\"1.500000\",\"cycles:u\":1234,\"fathom\":\\{\"host\":"
                           "\"127.0.0.1\".*\\}\\}\n"));
  EXPECT_EQ(control(9, "CLEAR_JOB_BENCHMARK", "2001"), "[JOB 2001] Clear successfully!");
  EXPECT_EQ(control(7, "SHOW_JOB_BENCHMARK", "2001"), "");
  EXPECT_EQ(control(4, "REMOVE", "2001"), "[JOB 2001] Remove successfully!");
  EXPECT_EQ(control(5, "LIST", nullptr), "");
}

TEST_F(LegacyClientTest, ControllersReceiveTheReason) {
  EXPECT_EQ(control(3, "CREATE", "2001", "again"), "[JOB 2001] is in use ...\n");
  EXPECT_EQ(control(3, "CREATE", "2000", "x"), "Please choose from 2001 to 9999 as jobID");
  for (int command : {4, 6, 7, 8, 9})
    EXPECT_EQ(control(command, "X", "2002"), "[JOB 2002] is NOT in use") << command;
}

TEST_F(LegacyClientTest, DataThatIsNotStoredIsNotAcknowledged) {
  const Wire wire(hub_);
  wire.say(perf_line(1, "main", "2999"));
  EXPECT_EQ(wire.next(), "Cannot find Job 2999!");
  wire.say(R"({"command":1,"message":"nonsense\n","port":2001})");
  EXPECT_THAT(wire.next(), StartsWith("cannot parse line of perf script: 'nonsense"));
  wire.say(R"({"command":1,"message":"# a comment\n","port":2001})");
  EXPECT_EQ(wire.next(), "ack");
  wire.say(R"({"command":2,"message":"[]","port":2001})");
  EXPECT_THAT(wire.next(), HasSubstr("must be a JSON object"));
  wire.say(R"({"command":10})");
  EXPECT_THAT(wire.next(), HasSubstr("unknown command 10"));
  wire.say(R"({"command":"LIST"})");
  EXPECT_THAT(wire.next(), HasSubstr("must be an integer"));
  wire.say("{\"command\":1,}");
  EXPECT_EQ(wire.next(), "malformed JSON");
  EXPECT_EQ(profile(), "");
}

TEST_F(LegacyClientTest, AMessageSplitOverSegmentsAndSeveralInOneAreAllStored) {
  const Wire split(hub_);
  for (const char byte : perf_line(3, "slow")) split.say(std::string_view(&byte, 1));
  EXPECT_EQ(split.next(), "ack");
  const Wire joined(hub_);
  std::string many, acks;
  for (int i = 0; i < 500; ++i) many += perf_line(1, "fast");
  joined.say(many + perf_line(1, "other", "2999") + perf_line(1, "fast"));
  for (int i = 0; i < 500; ++i) acks += "ack";
  std::string received;
  while (received.size() < acks.size() + 24) {
    const std::string part = joined.next(4096);
    ASSERT_FALSE(part.empty()) << received.size();
    received += part;
  }
  EXPECT_EQ(received, acks + "Cannot find Job 2999!ack");
  EXPECT_EQ(profile(),
            "{\"fast\":{\"execname\":\"cc1\",\"cycles:u\":501}}\n"
            "{\"slow\":{\"execname\":\"cc1\",\"cycles:u\":3}}\n");
}

TEST_F(LegacyClientTest, MessagesAndDumpsLongerThan1024BytesAreIntact) {
  const std::string symbol(60'000, 's');
  const Wire wire(hub_);
  wire.say(perf_line(5, symbol.c_str()));
  EXPECT_EQ(wire.next(), "ack");
  EXPECT_EQ(control(8, "SHOW_JOB_PROFILING", "2001"),
            "{\"" + symbol + "\":{\"execname\":\"cc1\",\"cycles:u\":5}}\n");
}

TEST_F(LegacyClientTest, AfterAnHttpRequestOnlyHttpIsSpoken) {
  const Wire wire(hub_);
  wire.say("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + perf_line(5, "main"));
  const std::string all = wire.all();
  EXPECT_THAT(all, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(all, HasSubstr("HTTP/1.1 400"));
  EXPECT_EQ(profile(), "");
}

TEST(LegacyClient, AHubWithATokenAcceptsOnlyTheRangesItWasGiven) {
  setenv("FATHOM_TOKEN", "0123456789abcdef0123", 1);
  HubProcess closed, elsewhere({"--legacy-clients", "10.0.0.0/8,fe80::/10"}),
      open({"--legacy-clients", "127.0.0.0/8"});
  unsetenv("FATHOM_TOKEN");
  for (HubProcess* hub : {&closed, &elsewhere}) {
    const Wire wire(*hub);
    wire.say(controller(5, "LIST", nullptr, nullptr));
    EXPECT_THAT(wire.all(), HasSubstr("client 127.0.0.1 rejected"));
    EXPECT_EQ(hub->client().call("GET", "/healthz").value().status, 200);
  }
  const Wire wire(open);
  wire.say(controller(5, "LIST", nullptr, nullptr));
  EXPECT_EQ(wire.next(), "ack");
  EXPECT_EQ(wire.next(), "endofmsg");
}

}  // namespace
}  // namespace fathom
