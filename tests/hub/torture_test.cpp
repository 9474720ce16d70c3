// SPDX-License-Identifier: Apache-2.0
// Many clients, a hub that is killed and started again, a Redis that is, answers that are lost:
// every sum is exact and no row is lost or doubled. FATHOM_LONG: 200 clients x 1,000 batches.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "base/text.h"
#include "record/frame.h"
#include "sink/hub_link.h"
#include "support/hub_process.h"
#include "support/redis_server.h"

namespace fathom {
namespace {

struct Plan {
  int clients, batches, hub_kills, redis_kills;
};

Plan plan() {
  if (getenv("FATHOM_LONG") != nullptr) return {200, 1000, 20, 5};
  return {16, 50, 4, 2};
}

constexpr int kNodes = 50;

std::string node_name(int node) { return "node " + std::to_string(node); }

// What batch `sequence` of `client` adds: known to the test without asking anybody.
void contents(int client, int sequence, std::map<int, int64_t>& nodes, bool& row) {
  std::minstd_rand random(static_cast<unsigned>(client * 100'003 + sequence));
  const int count = 1 + static_cast<int>(random() % 8);
  for (int i = 0; i < count; ++i)
    nodes[static_cast<int>(random() % kNodes)] += static_cast<int64_t>(random() % 1000);
  row = random() % 4 == 0;
}

std::string frame_of(int client, int sequence) {
  std::map<int, int64_t> nodes;
  bool row = false;
  contents(client, sequence, nodes, row);
  Interner names;
  Rows rows;
  for (const auto& [node, sum] : nodes)
    rows.of<NodeSum>().push_back({names.string(node_name(node)),
                                  {},
                                  names.string("p"),
                                  names.string("e"),
                                  names.string("count"),
                                  sum});
  if (row) {
    const DetailItem items[] = {{names.string("time"), 1.0},
                                {names.string("client"), int64_t{client}},
                                {names.string("batch"), int64_t{sequence}}};
    rows.of<Row>().push_back({names.string(""), 0, names.detail(items)});
  }
  return FrameEncoder().encode(names.dictionary(), rows).value();
}

// One client: sends, sends twice, cuts its connection, and goes on from what was acknowledged.
void run_client(const HttpUrl& url, int client, int batches, std::atomic<int64_t>& done) {
  std::mt19937 random(static_cast<unsigned>(client));
  HttpClient http(url, "", 30'000);
  const std::string target =
      "/api/v1/jobs/2001/batches?run=client-" + std::to_string(client) + "&sequence=";
  for (int acknowledged = 0; acknowledged < batches;) {
    const int last = std::min(batches, acknowledged + 1 + static_cast<int>(random() % 6));
    int sent = 0;
    for (int i = acknowledged + 1; i <= last; ++i) {
      const std::string frame = frame_of(client, i);
      const int copies = random() % 8 == 0 ? 2 : 1;
      for (int copy = 0; copy < copies; ++copy)
        if (http.send("POST", target + std::to_string(i), kFramesType, frame).ok()) ++sent;
    }
    if (random() % 10 == 0) http.drop();  // without hearing the answers
    for (; sent > 0; --sent) {
      const auto answer = http.receive();
      if (!answer.ok()) break;
      if (answer.value().status != 200 && answer.value().status != 409) continue;
      const auto stands = static_cast<int>(json_number(answer.value().body, "acknowledged"));
      done += std::max(0, stands - acknowledged);
      acknowledged = std::max(acknowledged, stands);
    }
    if (sent > 0) {
      http.drop();
      usleep(2'000);
    }
  }
}

void check(const HubProcess& hub, const Plan& plan) {
  std::map<std::string, int64_t> expected;
  std::map<std::string, int> rows;
  for (int client = 0; client < plan.clients; ++client) {
    for (int sequence = 1; sequence <= plan.batches; ++sequence) {
      std::map<int, int64_t> nodes;
      bool row = false;
      contents(client, sequence, nodes, row);
      for (const auto& [node, sum] : nodes) expected[node_name(node)] += sum;
      if (row)
        ++rows["\"client\":" + std::to_string(client) + ",\"batch\":" + std::to_string(sequence) +
               ","];
    }
  }
  HttpClient http = hub.client();
  const std::string profile = http.call("GET", "/api/v1/jobs/2001/profile").value().body;
  for (const auto& [node, sum] : expected)
    EXPECT_NE(
        profile.find("{\"" + node + "\":{\"execname\":\"p\",\"e\":" + std::to_string(sum) + "}}\n"),
        std::string::npos)
        << node << " should be " << sum;
  const std::string dump = http.call("GET", "/api/v1/jobs/2001/rows").value().body;
  size_t count = 0;
  for (const std::string_view line : split_words(dump, '\n')) {
    const size_t at = line.find("\"client\":");
    const std::string key(line.substr(at, line.find("\"fathom\"") - at));
    EXPECT_EQ(rows.count(key), 1U) << key;
    EXPECT_EQ(--rows[key], 0) << key << " stands twice";
    ++count;
  }
  EXPECT_EQ(count, rows.size());
}

void torture(HubProcess& hub, RedisServer* redis) {
  const Plan plan = fathom::plan();
  ASSERT_EQ(
      hub.client().call("POST", "/api/v1/jobs", "application/json", "{\"id\":2001}").value().status,
      201);
  std::atomic<int64_t> done{0};
  std::vector<std::thread> clients;
  clients.reserve(static_cast<size_t>(plan.clients));
  for (int client = 0; client < plan.clients; ++client)
    clients.emplace_back([&, client] { run_client(hub.url(), client, plan.batches, done); });
  const int64_t all = int64_t{plan.clients} * plan.batches;
  const int kills = plan.hub_kills + (redis != nullptr ? plan.redis_kills : 0);
  for (int i = 0; i < kills; ++i) {  // spread over the work, not over time
    while (done < all * (i + 1) / (kills + 2)) usleep(500);
    if (redis != nullptr && i % (kills / plan.redis_kills) == 1) {
      redis->stop(SIGKILL);
      redis->start();
    } else {
      EXPECT_EQ(hub.stop(SIGKILL), 128 + SIGKILL);
      hub.start();
    }
  }
  for (std::thread& client : clients) client.join();
  check(hub, plan);
  EXPECT_EQ(hub.stop(SIGTERM), 0);
}

TEST(Torture, SqliteIsExact) {
  HubProcess hub;
  torture(hub, nullptr);
}

TEST(Torture, RedisIsExact) {
  if (!RedisServer::available()) GTEST_SKIP() << "redis-server is not installed";
  RedisServer redis;
  HubProcess hub({"--store", redis.url()});
  torture(hub, &redis);
}

TEST(Torture, TwoHubsOnOneRedisServeOneJob) {
  if (!RedisServer::available()) GTEST_SKIP() << "redis-server is not installed";
  RedisServer redis;
  HubProcess left({"--store", redis.url()}), right({"--store", redis.url()});
  ASSERT_EQ(left.client()
                .call("POST", "/api/v1/jobs", "application/json", "{\"id\":2001}")
                .value()
                .status,
            201);
  // Whoever watches one hub sees what comes to the other.
  std::atomic<bool> watching{false};
  std::string heard;
  std::thread watcher([&] {
    HttpClient http = right.client();
    (void)http.stream("/api/v1/jobs/2001/events", [&](std::string_view part) -> Status {
      watching = true;
      heard += part;
      if (heard.find("\"watched\":1") != std::string::npos) return Error{Code::kExists, "seen"};
      return {};
    });
  });
  while (!watching) usleep(1'000);
  Plan small{8, 40, 0, 0};
  std::atomic<int64_t> done{0};
  std::vector<std::thread> clients;
  clients.reserve(static_cast<size_t>(small.clients));
  for (int client = 0; client < small.clients; ++client)
    clients.emplace_back([&, client] {
      // Half on one hub, the rest, and some of the same again, on the other.
      run_client(left.url(), client, small.batches / 2, done);
      run_client(right.url(), client, small.batches, done);
    });
  for (std::thread& client : clients) client.join();
  ASSERT_EQ(left.client()
                .call("POST", "/api/v1/jobs/2001/lines?run=watched&sequence=1", "text/plain",
                      "{\"mark\":\"here\"}")
                .value()
                .status,
            200);
  watcher.join();
  EXPECT_NE(heard.find("\"text\":\"here\""), std::string::npos);
  check(left, small);
  check(right, small);
  EXPECT_EQ(left.stop(SIGTERM), 0);
  EXPECT_EQ(right.stop(SIGTERM), 0);
}

}  // namespace
}  // namespace fathom
