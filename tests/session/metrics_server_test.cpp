// SPDX-License-Identifier: Apache-2.0
// The server with clients that mean well, and with those that do not.
#include "session/metrics_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <random>

#include "base/clock.h"
#include "base/http_client.h"
#include "base/text.h"

namespace fathom {
namespace {

using testing::HasSubstr;
using testing::Not;

class MetricsServerTest : public testing::Test {
 protected:
  MetricsServerTest() {
    auto started = MetricsServer::start("0");
    EXPECT_TRUE(started.ok());
    server_ = std::move(started).value();
    const std::string url = server_->url();
    const size_t colon = url.rfind(':');
    port_ = static_cast<uint16_t>(
        parse_number(url.substr(colon + 1, url.rfind('/') - colon - 1)).value());
  }

  [[nodiscard]] Fd connected() const {
    Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  [[nodiscard]] std::string ask(std::string_view request) const {
    const Fd client = connected();
    EXPECT_TRUE(write_all(client.get(), request).ok());
    return read_up_to(client.get(), size_t{1} << 20, "answer").value_or("");
  }
  [[nodiscard]] std::string scrape() const {
    return ask("GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text\r\n\r\n");
  }

  void give(double value) {
    Interner names;
    Rows rows;
    rows.of<Gauge>().push_back(
        {++time_ns_, names.string("app"), names.string("loss"), names.string("nats"), value});
    server_->take(rows, names.dictionary());
  }

  std::unique_ptr<MetricsServer> server_;
  uint16_t port_ = 0;
  int64_t time_ns_ = 0;
};

TEST_F(MetricsServerTest, ServesWhatWasGivenLast) {
  EXPECT_TRUE(server_->loopback());
  EXPECT_THAT(scrape(), HasSubstr("\r\n\r\n# EOF\n"));
  give(4);
  give(23);
  EXPECT_THAT(scrape(), HasSubstr("\nfathom_app_loss_nats 23\n# EOF\n"));
  give(7);
  EXPECT_THAT(scrape(), HasSubstr("\nfathom_app_loss_nats 7\n# EOF\n"));
  EXPECT_THAT(ask("GET /other HTTP/1.1\r\n\r\n"), HasSubstr("404 Not Found"));
}

TEST_F(MetricsServerTest, TheFormatIsTheOneThatIsAskedFor) {
  give(4);
  const std::string plain = ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(plain, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(plain, Not(HasSubstr("# EOF")));
  EXPECT_THAT(scrape(), HasSubstr("Content-Type: application/openmetrics-text; version=1.0.0"));
}

// The rule is that of the hub: base/http_host.h.
TEST_F(MetricsServerTest, AForeignHostIsRejected) {
  for (const char* host : {"localhost", "127.0.0.1:9464", "[::1]"})
    EXPECT_THAT(ask(std::string("GET /metrics HTTP/1.1\r\nhOST: ") + host + "\r\n\r\n"),
                HasSubstr("200 OK"));
  EXPECT_THAT(ask("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
              HasSubstr("403 Forbidden"));
  EXPECT_THAT(ask("GET /metrics HTTP/1.1\r\nHost: a\r\nHost: localhost\r\n\r\n"),
              HasSubstr("400 Bad"));
}

TEST(MetricsServer, BeyondLoopbackATokenIsRequired) {
  EXPECT_EQ(MetricsServer::start("0.0.0.0:0").error().code, Code::kPermission);
  EXPECT_EQ(MetricsServer::start("0.0.0.0:0", "short").error().code, Code::kPermission);
  const auto server = MetricsServer::start("0.0.0.0:0", "0123456789abcdef").value();
  EXPECT_TRUE(server->needs_token());
  const HttpUrl url =
      HttpUrl::parse("127.0.0.1" + server->url().substr(server->url().rfind(':')), "").value();
  const HttpUrl place{url.host, url.port, ""};
  EXPECT_EQ(HttpClient(place, "").call("GET", "/metrics").value().status, 401);
  EXPECT_EQ(HttpClient(place, "0123456789abcdeF").call("GET", "/metrics").value().status, 401);
  EXPECT_EQ(HttpClient(place, "0123456789abcdef").call("GET", "/metrics").value().status, 200);
  EXPECT_FALSE(MetricsServer::start("0", "0123456789abcdef").value()->needs_token());
}

TEST_F(MetricsServerTest, SlowClientsDoNotKeepOthersWaiting) {
  std::vector<Fd> slow;
  for (int i = 0; i < 300; ++i) {
    slow.push_back(connected());
    EXPECT_TRUE(write_all(slow.back().get(), "GET /met").ok());
  }
  give(1);
  EXPECT_THAT(scrape(), HasSubstr("fathom_app_loss_nats 1\n"));
  pollfd last{slow.back().get(), POLLIN, 0};
  EXPECT_EQ(poll(&last, 1, 0), 0) << "it was waited for until it was given up";
}

// Who asks is answered, also where more than are served at a time come before anybody looks.
TEST_F(MetricsServerTest, ManyWhoComeAtOnceAreAllAnswered) {
  give(1);
  std::vector<Fd> clients;
  for (int i = 0; i < 300; ++i) {
    clients.push_back(connected());
    EXPECT_TRUE(write_all(clients.back().get(), "GET /metrics HTTP/1.1\r\n\r\n").ok());
  }
  for (const Fd& client : clients)
    EXPECT_THAT(read_up_to(client.get(), size_t{1} << 20, "answer").value_or(""),
                HasSubstr("fathom_app_loss_nats 1\n"));
}

TEST_F(MetricsServerTest, HugeAndMeaninglessRequestsAreRefused) {
  std::mt19937 random(23);
  for (int i = 0; i < 50; ++i) {
    const Fd client = connected();
    std::string noise(20'000, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    (void)send(client.get(), noise.data(), noise.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  const Fd endless = connected();
  const std::string line = "GET /metrics HTTP/1.1\r\nX: " + std::string(100'000, 'x');
  (void)send(endless.get(), line.data(), line.size(), MSG_NOSIGNAL);
  EXPECT_THAT(read_up_to(endless.get(), 100, "answer").value_or(""), HasSubstr("431"));
  EXPECT_THAT(scrape(), HasSubstr("200 OK"));
}

TEST_F(MetricsServerTest, ThoseWhoNeverReadDoNotStopIt) {
  for (int i = 0; i < 3000; ++i) give(i);
  std::vector<Fd> deaf;
  for (int i = 0; i < 20; ++i) {
    deaf.push_back(connected());
    EXPECT_TRUE(write_all(deaf.back().get(), "GET /metrics HTTP/1.1\r\n\r\n").ok());
  }
  EXPECT_THAT(scrape(), HasSubstr("fathom_app_loss_nats 2999\n"));
  const int64_t before_ns = monotonic_ns();
  server_.reset();
  EXPECT_LT(monotonic_ns() - before_ns, 9 * kNsPerSecond) << "as long as it has patience";
}

TEST(MetricsServer, SaysWhatIsWrongWithAnAddress) {
  for (const char* address : {"", "x", "::", "70000", "-1", "1.2.3.4.5:80", "127.0.0.1:x"}) {
    const auto server = MetricsServer::start(address);
    ASSERT_FALSE(server.ok()) << address;
    EXPECT_EQ(server.error().code, Code::kInvalid) << address;
  }
  const auto first = MetricsServer::start("127.0.0.1:0");
  ASSERT_TRUE(first.ok());
  const std::string url = first.value()->url();
  const auto second = MetricsServer::start(url.substr(7, url.rfind('/') - 7));
  EXPECT_FALSE(second.ok());
}

}  // namespace
}  // namespace fathom
