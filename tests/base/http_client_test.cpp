// SPDX-License-Identifier: Apache-2.0
// The client against servers that say what a test wants them to.
#include "base/http_client.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace fathom {
namespace {

using testing::HasSubstr;

// Answers every connection with the next of some texts once a head has come, and ends it.
class Canned {
 public:
  explicit Canned(std::vector<std::string> texts)
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(bind(fd_.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    listen(fd_.get(), 16);
    getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&at), &size);
    port_ = std::to_string(ntohs(at.sin_port));
    thread_ = std::thread([this, texts = std::move(texts)] {
      for (const std::string& text : texts) {
        const Fd peer(accept(fd_.get(), nullptr, nullptr));
        char room[65536];
        std::string heard;
        while (heard.find("\r\n\r\n") == std::string::npos) {
          const ssize_t got = recv(peer.get(), room, sizeof room, 0);
          if (got <= 0) break;
          heard.append(room, static_cast<size_t>(got));
        }
        heard_ += heard;
        (void)!send(peer.get(), text.data(), text.size(), MSG_NOSIGNAL);
      }
    });
  }
  ~Canned() { thread_.join(); }
  Canned(const Canned&) = delete;
  Canned& operator=(const Canned&) = delete;
  [[nodiscard]] HttpClient client() const {
    return HttpClient(HttpUrl{"127.0.0.1", port_, ""}, "secret", 5'000);
  }
  std::string heard_;  // after the answer has come

 private:
  Fd fd_;
  std::string port_;
  std::thread thread_;
};

Result<HttpAnswer> answer_to(const std::string& text) {
  const Canned server({text});
  HttpClient client = server.client();
  return client.call("GET", "/x");
}

TEST(HttpUrl, HasManyForms) {
  EXPECT_EQ(HttpUrl::parse("http://h:1/p/", "9").value().text(), "http://h:1/p");
  EXPECT_EQ(HttpUrl::parse("h", "9").value().text(), "http://h:9");
  EXPECT_EQ(HttpUrl::parse("http://[::1]:7", "9").value().host, "::1");
  EXPECT_EQ(HttpUrl::parse("http://[::1]", "9").value().text(), "http://[::1]:9");
  for (const char* wrong : {"", "https://h", "http://", "http://h:0", "http://h:x", "h:99999",
                            "http://h\r\nX: y", "http://a b"})
    EXPECT_FALSE(HttpUrl::parse(wrong, "9").ok()) << wrong;
}

TEST(HttpUrl, NamesAreQuoted) { EXPECT_EQ(url_quote("a b/&\xff\n"), "a%20b%2F%26%FF%0A"); }

TEST(HttpClient, ReadsBodiesOfAllKinds) {
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc").value().body, "abc");
  EXPECT_EQ(
      answer_to(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
          .value()
          .body,
      "abc");
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nabc").value().body, "abc");
  EXPECT_EQ(answer_to("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
                .value()
                .status,
            404);
}

TEST(HttpClient, SaysWhoItIs) {
  Canned server({"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"});
  HttpClient client = server.client();
  ASSERT_TRUE(client.call("POST", "/x?y", "text/plain", "body").ok());
  EXPECT_THAT(server.heard_, HasSubstr("POST /x?y HTTP/1.1\r\n"));
  EXPECT_THAT(server.heard_, HasSubstr("Authorization: Bearer secret\r\n"));
  EXPECT_THAT(server.heard_, HasSubstr("Content-Length: 4\r\n"));
}

TEST(HttpClient, DamagedAnswersAreErrors) {
  for (const char* text :
       {"", "garbage\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "HTTP/1.1 200"}) {
    const auto answer = answer_to(text);
    ASSERT_FALSE(answer.ok()) << text;
    EXPECT_EQ(answer.error().code, Code::kIo) << text;
  }
  EXPECT_FALSE(answer_to("HTTP/1.1 200 OK\r\nA: " + std::string(200'000, 'x')).ok());
}

TEST(HttpClient, NobodyThereIsAnErrorThatSaysWhatToDo) {
  HttpClient client(HttpUrl{"127.0.0.1", "1", ""}, "");
  const auto answer = client.call("GET", "/");
  EXPECT_THAT(answer.error().message, HasSubstr("http://127.0.0.1:1"));
  EXPECT_THAT(answer.error().hint, HasSubstr("fathom serve"));
}

// A server that sends `text` again and again, until the client leaves.
class Endless {
 public:
  Endless(std::string start, std::string text)
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(bind(fd_.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    listen(fd_.get(), 16);
    getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&at), &size);
    port_ = std::to_string(ntohs(at.sin_port));
    thread_ = std::thread([this, start = std::move(start), text = std::move(text)] {
      const Fd peer(accept(fd_.get(), nullptr, nullptr));
      bool open = send(peer.get(), start.data(), start.size(), MSG_NOSIGNAL) >= 0;
      while (open) {
        usleep(10'000);  // what a slow server does
        char request[4096];
        open = recv(peer.get(), request, sizeof request, MSG_DONTWAIT) != 0 &&
               send(peer.get(), text.data(), text.size(), MSG_NOSIGNAL) >= 0;
      }
    });
  }
  ~Endless() { thread_.join(); }
  Endless(const Endless&) = delete;
  Endless& operator=(const Endless&) = delete;
  [[nodiscard]] HttpClient client() const {
    return HttpClient(HttpUrl{"127.0.0.1", port_, ""}, "", 60'000);
  }

 private:
  Fd fd_;
  std::string port_;
  std::thread thread_;
};

// Each byte restarts the timeout between bytes; without a limit of the exchange this never ends.
TEST(HttpClient, AByteAtATimeDoesNotExtendTheExchange) {
  const Endless server("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", "x");
  HttpClient client = server.client();
  client.set_exchange_limit_ns(200'000'000);
  const auto answer = client.call("GET", "/");
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("no complete response within 200 ms"));
}

TEST(HttpClient, AWaitEndsWhenItIsStopped) {
  const Endless server("HTTP/1.1 200 OK\r\n", "");
  HttpClient client = server.client();
  std::atomic<bool> stop{false};
  client.stop_when(&stop);
  std::thread stopper([&] { stop = true; });
  const auto answer = client.call("GET", "/");
  stopper.join();
  EXPECT_THAT(answer.error().message, HasSubstr("given up"));
}

TEST(HttpClient, BodiesAreBoundedWhetherAnnouncedOrNot) {
  const Canned announced({"HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n"});
  HttpClient client = announced.client();
  EXPECT_THAT(client.call("GET", "/").error().message, HasSubstr("exceeds"));
  const Endless chunked("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                        "10000\r\n" + std::string(65536, 'x') + "\r\n");
  HttpClient other = chunked.client();
  other.set_max_body_bytes(1 << 20);
  EXPECT_THAT(other.call("GET", "/").error().message, HasSubstr("exceeds 1.0 MB"));
}

TEST(HttpClient, AConnectionThatEndedMeanwhileIsMadeAnew) {
  const Canned server({"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
                       "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb"});
  HttpClient client = server.client();
  EXPECT_EQ(client.call("GET", "/").value().body, "a");
  EXPECT_EQ(client.call("GET", "/").value().body, "b");
}

}  // namespace
}  // namespace fathom
