// SPDX-License-Identifier: Apache-2.0
// A real hub and whoever may call: in order, in haste, hostile, slow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <fstream>
#include <thread>

#include "base/fd.h"
#include "record/frame.h"
#include "sink/hub_link.h"
#include "support/hub_process.h"
#include "support/wire.h"

namespace fathom {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kJson = "application/json";

std::string frame_of(int64_t sum, const char* symbol = "f") {
  Interner names;
  Rows rows;
  rows.of<NodeSum>().push_back(
      {names.string(symbol), {}, names.string("p"), names.string("e"), names.string("count"), sum});
  return FrameEncoder().encode(names.dictionary(), rows).value();
}

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(call("POST", "/api/v1/jobs", kJson, "{\"id\":2001}").status, 201);
  }
  // Ends in order, and says nothing else: also of what a sanitizer would find.
  void TearDown() override {
    if (hub_.pid() > 0) {
      EXPECT_EQ(hub_.stop(SIGTERM), 0);
    }
  }
  HttpAnswer call(const char* method, const std::string& target, const char* type = "",
                  const std::string& body = "") {
    auto answer = client_.call(method, target, type, body);
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    return answer.ok() ? answer.value() : HttpAnswer{};
  }
  int64_t resident_bytes() {
    std::ifstream file("/proc/" + std::to_string(hub_.pid()) + "/statm");
    int64_t size = 0, resident = 0;
    file >> size >> resident;
    return resident * 4096;
  }

  HubProcess hub_{{"--max-pending", "128", "--header-timeout", "1s"}};
  HttpClient client_ = hub_.client();
};

TEST_F(ServerTest, TenAndSevenAreSeventeen) {
  const std::string lines = "/api/v1/jobs/2001/lines";
  call("POST", lines, "application/x-ndjson",
       "{\"node\":\"main\",\"execname\":\"a\",\"cache-misses\":10}");
  call("POST", lines, "application/x-ndjson",
       "{\"node\":\"main\",\"execname\":\"a\",\"cache-misses\":7}");
  EXPECT_EQ(call("GET", "/api/v1/jobs/2001/profile").body,
            "{\"main\":{\"execname\":\"a\",\"cache-misses\":17}}\n");
  EXPECT_EQ(call("GET", "/api/v1/jobs/2001/profile?as=csv").body,
            "node,execname,event,unit,sum\nmain,a,cache-misses,,17\n");
}

TEST_F(ServerTest, FramesOfOneRunComeOnceHoweverOftenTheyAreSent) {
  const std::string target = "/api/v1/jobs/2001/batches?run=r&sequence=";
  for (int repeat = 0; repeat < 3; ++repeat)
    for (int i = 1; i <= 3; ++i)
      EXPECT_EQ(call("POST", target + std::to_string(i), kFramesType, frame_of(i)).status, 200);
  EXPECT_EQ(call("POST", target + "2", kFramesType, frame_of(2) + frame_of(3) + frame_of(4)).body,
            "{\"acknowledged\":4}\n");
  const HttpAnswer gap = call("POST", target + "9", kFramesType, frame_of(9));
  EXPECT_EQ(gap.status, 409);
  EXPECT_EQ(json_number(gap.body, "acknowledged"), 4);
  EXPECT_EQ(call("GET", "/api/v1/jobs/2001/runs/r").body, "{\"acknowledged\":4}\n");
  EXPECT_EQ(call("GET", "/api/v1/jobs/2001/profile").body,
            "{\"f\":{\"execname\":\"p\",\"e\":10}}\n");
}

TEST_F(ServerTest, ManyRequestsAreUnderWayOnOneConnection) {
  for (int i = 1; i <= 100; ++i)
    ASSERT_TRUE(client_
                    .send("POST", "/api/v1/jobs/2001/batches?run=r&sequence=" + std::to_string(i),
                          kFramesType, frame_of(1))
                    .ok());
  for (int i = 1; i <= 100; ++i) {
    const auto answer = client_.receive();
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer.value().status, 200) << answer.value().body;
  }
  EXPECT_EQ(call("GET", "/api/v1/jobs/2001/profile").body,
            "{\"f\":{\"execname\":\"p\",\"e\":100}}\n");
}

TEST_F(ServerTest, JobsAreMadeListedShownAndRemoved) {
  EXPECT_EQ(call("POST", "/api/v1/jobs", kJson, "{\"id\":2001}").status, 409);
  EXPECT_EQ(call("POST", "/api/v1/jobs", kJson, "{\"id\":2000}").status, 400);
  EXPECT_EQ(call("POST", "/api/v1/jobs", kJson, "nonsense").status, 400);
  const HttpAnswer made = call("POST", "/api/v1/jobs", kJson,
                               "{\"description\":\"<script>\\n\",\"labels\":{\"os\":\"x\"}}");
  EXPECT_THAT(made.body,
              HasSubstr("\"id\":2002,\"description\":\"<script>\\n\",\"labels\":{\"os\":\"x\"}"));
  EXPECT_THAT(call("GET", "/api/v1/jobs").body, HasSubstr("\"id\":2002"));
  EXPECT_EQ(call("DELETE", "/api/v1/jobs/2002").status, 200);
  EXPECT_EQ(call("DELETE", "/api/v1/jobs/2002").status, 404);
  EXPECT_EQ(call("GET", "/api/v1/jobs/abc").status, 404);
  EXPECT_EQ(
      call("POST", "/api/v1/jobs/2500/lines", "text/plain", "{\"node\":\"a\",\"x\":1}").status,
      404);
}

TEST_F(ServerTest, CommandsOfTheSeedAndOneThatNobodyKnows) {
  const HttpAnswer answer =
      call("POST", "/api/v1/commands?run=c&sequence=1", kJson,
           "[{\"command\":\"CREATE\",\"jobid\":2100,\"info\":\"x\"},"
           "{\"command\":\"PROFILING\",\"jobid\":2100,\"node\":\"n\",\"x\":3},"
           "{\"command\":\"BENCHMARK\",\"jobid\":2100,\"benchmark\":{\"time\":1}}]");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(call("GET", "/api/v1/jobs/2100/profile").body, "{\"n\":{\"execname\":\"\",\"x\":3}}\n");
  EXPECT_EQ(json_number(call("GET", "/api/v1/jobs/2100").body, "rows"), 1);
  const HttpAnswer unknown = call("POST", "/api/v1/commands", kJson, "{\"command\":\"EXPLODE\"}");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.body, HasSubstr("unknown command 'EXPLODE'"));
  EXPECT_THAT(unknown.body, HasSubstr("SHOW_JOB_PROFILING"));
  EXPECT_EQ(call("POST", "/api/v1/commands", kJson, "{\"command\":\"REMOVE\"}").status, 400);
  // A row beside its command, as the seed has it; what is wrong is named, what was taken said.
  const HttpAnswer mixed =
      call("POST", "/api/v1/commands?run=c&sequence=2", kJson,
           "[{\"command\":\"BENCHMARK\",\"jobid\":2100,\"Exectime\":\"1.25\",\"cycles\":3},"
           "{\"command\":\"BENCHMARK\",\"jobid\":2100,\"Exectime\":\"soon\"},"
           "{\"command\":\"PROFILING\",\"jobid\":2100,\"node\":\"n\",\"x\":4}]");
  EXPECT_EQ(mixed.status, 400);
  EXPECT_THAT(mixed.body, HasSubstr("message 2 of 3, BENCHMARK: "));
  EXPECT_THAT(mixed.body, HasSubstr("the others were taken"));
  EXPECT_EQ(json_number(mixed.body, "message"), 2);
  EXPECT_EQ(json_number(mixed.body, "taken"), 2);
  EXPECT_THAT(call("GET", "/api/v1/jobs/2100/rows").body,
              HasSubstr("{\"Exectime\":\"1.250000\",\"cycles\":3,\"fathom\""));
  EXPECT_EQ(call("GET", "/api/v1/jobs/2100/profile").body, "{\"n\":{\"execname\":\"\",\"x\":7}}\n");
}

TEST_F(ServerTest, RightStatusForWhatIsWrong) {
  EXPECT_EQ(call("GET", "/nowhere").status, 404);
  EXPECT_EQ(call("PUT", "/api/v1/jobs").status, 405);
  EXPECT_EQ(call("POST", "/api/v1/jobs/2001/batches?run=r&sequence=1", "text/html", "x").status,
            415);
  EXPECT_EQ(call("POST", "/api/v1/jobs/2001/batches?run=r", kFramesType, frame_of(1)).status, 400);
  EXPECT_EQ(call("POST", "/api/v1/jobs/2001/batches?run=r&sequence=1", kFramesType, "x").status,
            400);
  EXPECT_EQ(call("GET", "/api/v1/jobs/2001/profile?as=xls").status, 400);
  EXPECT_EQ(call("GET", "/metrics").status, 200);
  EXPECT_EQ(call("GET", "/readyz").status, 200);
  const auto said = [&](std::string_view text) {
    const Wire wire(hub_);
    wire.say(text);
    return wire.until("\r\n").substr(0, 12);
  };
  EXPECT_EQ(said("GARBAGE\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(said(std::string(100'000, 'x')), "HTTP/1.1 431");
  EXPECT_EQ(said("GET / HTTP/1.1\r\nA: " + std::string(20'000, 'x') + "\r\n\r\n"), "HTTP/1.1 431");
  EXPECT_EQ(said("POST /api/v1/jobs/2001/lines HTTP/1.1\r\nContent-Type: text/plain\r\n"
                 "Content-Length: 99999999999\r\n\r\n"),
            "HTTP/1.1 413");
  EXPECT_EQ(said("POST /api/v1/jobs/2001/lines HTTP/1.1\r\nContent-Type: text/plain\r\n"
                 "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx"),
            "HTTP/1.1 415");
  EXPECT_EQ(said("GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil\r\n\r\n"),
            "HTTP/1.1 403");
  // DNS rebinding: the page's own name now means this machine.
  const Wire rebound(hub_);
  rebound.say("GET /api/v1/jobs HTTP/1.1\r\nHost: evil:1\r\nOrigin: http://evil:1\r\n\r\n");
  const std::string refusal = rebound.until("}\n");
  EXPECT_THAT(refusal, StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(refusal, HasSubstr("names of this machine only, not to evil:1"));
}

// RFC 9112, 6.1 and 5.2: a length that others may read differently ends the connection, and no byte
// behind the header is taken for a request.
TEST_F(ServerTest, AmbiguousFramingIsRejectedAndItsBodyIsNotARequest) {
  const std::string hidden = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const auto said = [&](const std::string& fields) {
    const Wire wire(hub_);
    wire.say(
        "POST /api/v1/jobs/2001/lines HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        "text/plain\r\n" +
        fields + "\r\n\r\n" + hidden);
    return wire.all();
  };
  const std::pair<const char*, const char*> cases[] = {
      {"Transfer-Encoding: gzip", "501"},
      {"Transfer-Encoding: identity", "501"},
      {"Transfer-Encoding: gzip, chunked", "501"},
      {"Transfer-Encoding: xchunked", "501"},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "400"},
      {"Transfer-Encoding: chunked\r\nContent-Length: 5", "400"},
      {"Content-Length: 5\r\nContent-Length: 6", "400"},
      {"X: a\r\n folded", "400"},
      {"X: a\r\n\tfolded", "400"},
      {"Host: localhost", "400"},
  };
  for (const auto& [fields, status] : cases) {
    const std::string answer = said(fields);
    EXPECT_THAT(answer, StartsWith(std::string("HTTP/1.1 ") + status)) << fields;
    EXPECT_EQ(answer.find("HTTP/1.1 2"), std::string::npos) << fields << answer;
  }
  const Wire old(hub_);
  old.say("POST /api/v1/jobs/2001/lines HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_THAT(old.all(), StartsWith("HTTP/1.1 400"));
  EXPECT_EQ(call("GET", "/api/v1/jobs/2001/profile").body, "");
}

TEST_F(ServerTest, AChunkedBodyMayArriveByteByByte) {
  const Wire wire(hub_);
  for (const char byte :
       std::string("POST /api/v1/jobs/2001/lines HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                   "text/plain\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                   "14\r\n{\"node\":\"n\",\"x\":1}\n\n\r\n0\r\nTrailer: x\r\n\r\n"))
    wire.say({&byte, 1});
  EXPECT_THAT(wire.all(), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(call("GET", "/api/v1/jobs/2001/profile").body, "{\"n\":{\"execname\":\"\",\"x\":1}}\n");
}

// Long bodies are parsed apart from short ones, but those of one connection stay in order.
TEST_F(ServerTest, LongAndShortBodiesOfOneConnectionAreAppliedInOrder) {
  const std::string pad(40'000, ' ');
  for (int i = 1; i <= 40; ++i)
    ASSERT_TRUE(client_
                    .send("POST", "/api/v1/jobs/2001/lines?run=r&sequence=" + std::to_string(i),
                          "text/plain", "{\"node\":\"n\",\"x\":1}\n" + (i % 3 == 1 ? pad : ""))
                    .ok());
  for (int i = 1; i <= 40; ++i) EXPECT_EQ(client_.receive().value().status, 200) << i;
  EXPECT_EQ(call("GET", "/api/v1/jobs/2001/profile").body,
            "{\"n\":{\"execname\":\"\",\"x\":40}}\n");
}

TEST_F(ServerTest, EventsEndWithTheRemovalOfTheirJob) {
  const Wire wire(hub_), all(hub_);
  wire.say("GET /api/v1/jobs/2001/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  all.say("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(wire.until(": fathom\n\n"), HasSubstr("text/event-stream"));
  EXPECT_THAT(all.until(": fathom\n\n"), HasSubstr("text/event-stream"));
  call("DELETE", "/api/v1/jobs/2001");
  EXPECT_THAT(wire.all(), HasSubstr("event: removed\ndata: {\"job\":2001,\"removed\":true}\n\n"));
  EXPECT_THAT(all.until("\n\n"), HasSubstr("event: removed"));
}

TEST_F(ServerTest, MessagesOfOneByteTo64MB) {
  for (const size_t size : {size_t{1}, size_t{1} << 10, size_t{64} << 20}) {
    const std::string pad(size > 100 ? size - 100 : 0, ' ');
    const HttpAnswer answer = call("POST", "/api/v1/jobs/2001/lines", "text/plain",
                                   size == 1 ? "\n" : "{\"node\":\"n\",\"x\":1}\n" + pad);
    EXPECT_EQ(answer.status, 200) << size << answer.body;
  }
  EXPECT_EQ(client_
                .call("POST", "/api/v1/jobs/2001/lines", "text/plain",
                      std::string((size_t{64} << 20) + 1, ' '))
                .value_or(HttpAnswer{413, "", ""})
                .status,
            413);
  client_.drop();
  EXPECT_EQ(call("GET", "/api/v1/jobs/2001/profile").body, "{\"n\":{\"execname\":\"\",\"x\":2}}\n");
}

TEST_F(ServerTest, AFrameThatUnpacksToFarMoreIsRefusedInBoundedMemory) {
  // 60 MB of one letter pack into some kB.
  Interner names;
  Rows rows;
  const std::string long_name(size_t{60} << 20, 'x');
  rows.of<Mark>().push_back({1, names.string(long_name)});
  const std::string bomb = FrameEncoder().encode(names.dictionary(), rows).value();
  ASSERT_LT(bomb.size(), size_t{1} << 20);
  const int64_t before = resident_bytes();
  for (int i = 1; i <= 20; ++i) {
    const HttpAnswer answer = call(
        "POST", "/api/v1/jobs/2001/batches?run=b&sequence=" + std::to_string(i), kFramesType, bomb);
    EXPECT_EQ(answer.status, 200);  // a mark, cut to what a mark may have
  }
  EXPECT_LT(resident_bytes() - before, int64_t{400} << 20);
  std::string lie = bomb;
  lie[8] = static_cast<char>(lie[8] ^ 0x40);  // its size when unpacked
  EXPECT_EQ(call("POST", "/api/v1/jobs/2001/batches?run=b&sequence=21", kFramesType, lie).status,
            400);
}

TEST_F(ServerTest, WhoIsSlowIsPartedFromAndOthersGoOn) {
  const Wire loris(hub_), silent(hub_), half(hub_);
  loris.say("GET / HTTP/1.1\r\nX");
  half.say("GET / HTTP/1.1\r\n\r\n");
  half.end();
  EXPECT_THAT(half.all(), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(call("GET", "/healthz").status, 200);
  EXPECT_EQ(loris.all(), "");  // returns when the hub has ended it
  EXPECT_EQ(call("GET", "/healthz").status, 200);
}

TEST_F(ServerTest, BodiesTogetherAreBounded) {
  std::vector<std::unique_ptr<Wire>> wires;
  for (int i = 0; i < 3; ++i) {
    wires.push_back(std::make_unique<Wire>(hub_));
    wires.back()->say(
        "POST /api/v1/jobs/2001/lines HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
        "Expect: 100-continue\r\nContent-Length: 60000000\r\n\r\n");
    EXPECT_THAT(wires.back()->until("\r\n\r\n"), HasSubstr(i < 2 ? "100 Continue" : "503"));
  }
  EXPECT_EQ(call("GET", "/healthz").status, 200);
}

TEST_F(ServerTest, EventsShowWhatChanges) {
  const Wire wire(hub_), all(hub_);
  wire.say("GET /api/v1/jobs/2001/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  all.say("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(wire.until(": fathom\n\n"), HasSubstr("text/event-stream"));
  EXPECT_THAT(all.until(": fathom\n\n"), HasSubstr("text/event-stream"));
  call("POST", "/api/v1/jobs/2001/lines?run=r1&sequence=1", "text/plain",
       "{\"node\":\"n\",\"x\":5}\n{\"mark\":\"m\"}");
  for (const Wire* one : {&wire, &all}) {
    const std::string event = one->until("\n\n");
    EXPECT_THAT(event, HasSubstr("\"runs\":{\"r1\":1}"));
    EXPECT_THAT(event, HasSubstr("\"node\":\"n\",\"execname\":\"\",\"event\":\"x\",\"added\":5"));
    EXPECT_THAT(event, HasSubstr("\"marks\":[{\"text\":\"m\""));
  }
  const Wire none(hub_);
  none.say("GET /api/v1/jobs/2999/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(none.until("\r\n"), HasSubstr("404"));
}

TEST_F(ServerTest, EndsInOrderAndKeepsEverything) {
  const Wire idle(hub_), watching(hub_);
  watching.say("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  (void)watching.until("\n\n");
  call("POST", "/api/v1/jobs/2001/lines", "text/plain", "{\"node\":\"n\",\"x\":5}");
  EXPECT_EQ(hub_.stop(SIGTERM), 0);
  EXPECT_EQ(idle.all(), "");
  hub_.start();
  client_.drop();
  EXPECT_EQ(call("GET", "/api/v1/jobs/2001/profile").body, "{\"n\":{\"execname\":\"\",\"x\":5}}\n");
}

TEST_F(ServerTest, ManyIdleConnectionsCostLittle) {
  const int many = getenv("FATHOM_LONG") != nullptr ? 5000 : 500;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const int64_t before = resident_bytes();
  std::vector<std::unique_ptr<Wire>> wires;
  for (int i = 0; i < many; ++i) {
    wires.push_back(std::make_unique<Wire>(hub_));
    if (!wires.back()->connected()) break;
  }
  ASSERT_EQ(wires.size(), static_cast<size_t>(many));
  EXPECT_EQ(call("GET", "/healthz").status, 200);
  EXPECT_LT((resident_bytes() - before) / many, 64 << 10);
}

TEST(Server, SilentConnectionsTakeNoMoreThanTheirShare) {
  setenv("FATHOM_TOKEN", "0123456789abcdef0123", 1);
  HubProcess hub({"--max-connections", "30", "--max-per-peer", "10", "--header-timeout", "5m"});
  unsetenv("FATHOM_TOKEN");
  HttpClient known = hub.client("0123456789abcdef0123");
  EXPECT_EQ(known.call("GET", "/api/v1/jobs").value().status, 200);
  std::vector<std::unique_ptr<Wire>> silent;
  while (silent.size() < 10) silent.push_back(std::make_unique<Wire>(hub));
  // What needs no token does not admit anyone.
  silent.back()->say("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(silent.back()->until("}\n"), StartsWith("HTTP/1.1 200"));
  const Wire more(hub);
  more.say("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string rejected = more.all();
  EXPECT_THAT(rejected, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(rejected, HasSubstr("--max-per-peer"));
  EXPECT_EQ(known.call("GET", "/api/v1/jobs").value().status, 200);
  silent.resize(5);
  // Connections with an admitted request stay, and do not count for their peer.
  std::vector<HttpClient> others;
  for (int i = 0; i < 12; ++i) {
    others.push_back(hub.client("0123456789abcdef0123"));
    while (others.back().call("GET", "/api/v1/jobs").value().status != 200) others.back().drop();
  }
  for (HttpClient& other : others) EXPECT_EQ(other.call("GET", "/api/v1/jobs").value().status, 200);
  EXPECT_EQ(hub.stop(SIGTERM), 0);
}

TEST(Server, AConnectionWithoutAnAdmittedRequestEndsSoon) {
  setenv("FATHOM_TOKEN", "0123456789abcdef0123", 1);
  HubProcess hub({"--header-timeout", "100ms"});
  unsetenv("FATHOM_TOKEN");
  const Wire silent(hub), open(hub);
  open.say("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(silent.all(), "");  // returns when the hub has ended it
  EXPECT_THAT(open.all(), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(hub.stop(SIGTERM), 0);
}

TEST(Server, ConnectionsBeyondTheLimitReceiveAResponse) {
  HubProcess hub({"--max-connections", "4"});
  std::vector<HttpClient> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(hub.client());
    EXPECT_EQ(clients.back().call("GET", "/api/v1/jobs").value().status, 200) << i;
  }
  const HttpAnswer rejected = hub.client().call("GET", "/api/v1/jobs").value();
  EXPECT_EQ(rejected.status, 503);
  EXPECT_THAT(rejected.body, HasSubstr("--max-connections"));
  EXPECT_EQ(hub.stop(SIGTERM), 0);
}

// Without a token the original clients are accepted, which connect long before they send.
TEST(Server, LegacyClientsMayConnectLongBeforeTheySend) {
  HubProcess hub({"--header-timeout", "100ms"});
  const Wire early(hub), partial(hub);
  partial.say("GET / HT");
  EXPECT_EQ(partial.all(), "");  // returns when the hub has ended it
  early.say("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(early.until("}\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(hub.stop(SIGTERM), 0);
}

TEST_F(ServerTest, EventsThatNobodyReadsAreBoundedTogether) {
  std::vector<std::unique_ptr<Wire>> watchers;
  for (int i = 0; i < 200; ++i) {
    watchers.push_back(std::make_unique<Wire>(hub_));
    watchers.back()->say("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(watchers.back()->until(": fathom\n\n"), HasSubstr("200 OK"));
  }
  std::string marks;
  for (int i = 0; i < 100; ++i) marks += "{\"mark\":\"" + std::string(1'000, 'm') + "\"}\n";
  for (int i = 1; i <= 300; ++i)
    EXPECT_EQ(call("POST", "/api/v1/jobs/2001/lines?run=r&sequence=" + std::to_string(i),
                   "text/plain", marks)
                  .status,
              200);
  // Each has missed 30 MB; together they hold an eighth of the 128 MB of --max-pending at most.
  const std::string page = call("GET", "/metrics").body;
  const std::string name = "\nfathom_hub_pending_bytes ";
  ASSERT_NE(page.find(name), std::string::npos);
  EXPECT_LE(std::stod(page.substr(page.find(name) + name.size())), 16 << 20);
  watchers.clear();
  const auto pending = [&] {
    const std::string now = call("GET", "/metrics").body;
    return std::stod(now.substr(now.find(name) + name.size()));
  };
  while (pending() > 0) usleep(10'000);
}

TEST(Server, AsksForItsToken) {
  setenv("FATHOM_TOKEN", "0123456789abcdef0123", 1);
  HubProcess hub;
  unsetenv("FATHOM_TOKEN");
  const HttpAnswer none = hub.client().call("GET", "/api/v1/jobs").value();
  const HttpAnswer wrong = hub.client("0123456789abcdef012").call("GET", "/api/v1/jobs").value();
  EXPECT_EQ(none.status, 401);
  EXPECT_THAT(none.body, HasSubstr("a token is needed"));
  EXPECT_EQ(wrong.status, 401);
  EXPECT_THAT(wrong.body, HasSubstr("the token is not the hub's"));
  EXPECT_EQ(hub.client("0123456789abcdef0123").call("GET", "/api/v1/jobs").value().status, 200);
  EXPECT_EQ(hub.client().call("GET", "/healthz").value().status, 200);
  EXPECT_EQ(hub.client().call("GET", "/metrics").value().status, 401);
  EXPECT_EQ(hub.stop(SIGTERM), 0);
}

}  // namespace
}  // namespace fathom
