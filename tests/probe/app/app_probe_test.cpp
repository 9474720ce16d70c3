// SPDX-License-Identifier: Apache-2.0
// The probe with clients that are sockets of this very process, in two threads or one.
#include "probe/app/app_probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/clock.h"
#include "base/fd.h"
#include "probe/quiet_wake.h"
#include "support/memory_sink.h"
#include "support/still_target.h"

namespace fathom {
namespace {

using testing::HasSubstr;

Fd connect_to(const std::string& path) {
  Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return fd;
}

class AppProbeTest : public testing::Test {
 protected:
  AppProbeTest() {
    LaunchRequest request;
    request.command = {"true"};
    EXPECT_TRUE(probe_->prepare(request).ok());
    path_ = request.environment.at(0).substr(std::string(kAppSocketVariable).size() + 1);
    EXPECT_TRUE(probe_->start(target_, out_).ok());
    probe_->begin(monotonic_ns());
  }

  void finish() {
    probe_->finish(monotonic_ns());
    out_.flush();
    all_ = sink_.collected();
  }
  [[nodiscard]] std::string gauges() const {
    std::string text;
    for (const Gauge& gauge : all_->rows.of<Gauge>())
      text += fmt::format("{} {}={:g}{};", all_->text(gauge.scope), all_->text(gauge.name),
                          gauge.value, all_->text(gauge.unit));
    return text;
  }

  StillTarget target_;
  MemorySink sink_;
  RecordStream out_{sink_};
  std::unique_ptr<Probe> probe_ = make_app_probe({});
  std::string path_;
  std::unique_ptr<Collected> all_;
};

TEST_F(AppProbeTest, ReadsSplitAndCoalescedMessages) {
  const Fd client = connect_to(path_);
  for (const char* piece : {R"({"a":{"val)", "ue\":1}}\n", "\n{\"b\":2}\n\n{\"c\":3}\n{\"mark\"",
                            ":\"here\"}\n{\"d\":4}"}) {
    EXPECT_TRUE(write_all(client.get(), piece).ok());
    probe_->wake(monotonic_ns());
    usleep(2000);
  }
  finish();
  EXPECT_EQ(gauges(), "app a=1;app b=2;app c=3;app d=4;");
  ASSERT_EQ(all_->rows.of<Mark>().size(), 1U);
  EXPECT_EQ(all_->text(all_->rows.of<Mark>()[0].text), "here");
  EXPECT_EQ(probe_->report().seen, 5);
  EXPECT_EQ(probe_->report().dropped, 0);
}

TEST_F(AppProbeTest, GarbageIsCountedAndWhatFollowsIsRead) {
  const Fd client = connect_to(path_);
  std::string flood(200'000, '{');
  std::atomic<bool> written = false;
  std::thread writer([&] {
    EXPECT_TRUE(
        write_all(client.get(), "no json\n" + flood + "\n\x01\x02\n{\"a\":1}\n{\"b\"").ok());
    shutdown(client.get(), SHUT_WR);
    written = true;
  });
  while (!written) {
    probe_->wake(monotonic_ns());
    usleep(2000);  // the probe does not look at every wake
  }
  writer.join();
  finish();
  EXPECT_EQ(gauges(), "app a=1;");
  EXPECT_EQ(probe_->report().dropped, 4);
  EXPECT_THAT(probe_->report().why, HasSubstr("no sense as metrics: 3"));
  EXPECT_THAT(probe_->report().why, HasSubstr("longer than 64 KiB: 1"));
}

TEST_F(AppProbeTest, TimesAreTheSendersWhereTheyAreOfTheRun) {
  const int64_t now_ns = monotonic_ns();
  const int64_t real_ns = now_ns + real_offset_ns();
  const Fd client = connect_to(path_);
  EXPECT_TRUE(write_all(client.get(), fmt::format("{{\"a\":1,\"time_ns\":{}}}\n"
                                                  "{{\"b\":{{\"value\":1,\"timestamp\":{}}}}}\n"
                                                  "{{\"c\":1,\"timestamp\":1e300}}\n"
                                                  "{{\"d\":1,\"time_ns\":-9223372036854775808}}\n"
                                                  "{{\"e\":1,\"timestamp\":17}}\n",
                                                  now_ns + 5, static_cast<double>(real_ns) / 1e9))
                  .ok());
  finish();
  const auto& rows = all_->rows.of<Gauge>();
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].time_ns, now_ns + 5);
  EXPECT_NEAR(static_cast<double>(rows[1].time_ns - now_ns), 0, 1e6);
  for (size_t i = 2; i < 5; ++i) EXPECT_GE(rows[i].time_ns, now_ns);
  EXPECT_THAT(probe_->report().why, HasSubstr("outside the run"));
  EXPECT_EQ(probe_->report().dropped, 0);
}

TEST_F(AppProbeTest, ProcessesAreToldApart) {
  const Fd client = connect_to(path_);
  EXPECT_TRUE(write_all(client.get(), "{\"a\":1}\n").ok());
  probe_->wake(monotonic_ns());
  const pid_t child = fork();
  if (child == 0) {
    const Fd own = connect_to(path_);
    _exit(write_all(own.get(), "{\"a\":2}\n").ok() ? 0 : 1);
  }
  waitpid(child, nullptr, 0);
  finish();
  EXPECT_EQ(gauges(), fmt::format("app a=1;app {} a=2;", child));
}

TEST_F(AppProbeTest, ManyClientsComeAndGo) {
  for (int round = 0; round < 3; ++round) {
    std::vector<Fd> clients;
    for (int i = 0; i < 300; ++i) {
      clients.push_back(connect_to(path_));
      EXPECT_TRUE(write_all(clients.back().get(), "{\"a\":1}\n").ok());
    }
    usleep(2000);
    probe_->wake(monotonic_ns());
  }
  finish();
  EXPECT_EQ(all_->rows.of<Gauge>().size(), 900U);
  EXPECT_EQ(probe_->report().dropped, 0);
}

// As one that had no CPU meanwhile.
TEST_F(AppProbeTest, ARecorderThatIsLateRefusesNobodyWhoHasGone) {
  for (int i = 0; i < 900; ++i) {
    const Fd client = connect_to(path_);
    EXPECT_TRUE(write_all(client.get(), "{\"a\":1}\n").ok());
  }
  finish();
  EXPECT_EQ(all_->rows.of<Gauge>().size(), 900U);
  EXPECT_EQ(probe_->report().dropped, 0);
}

// More than is read at a time, and than a moment is enough for.
TEST_F(AppProbeTest, WhatWasSaidBeforeTheEndIsReadHoweverMuchItIs) {
  std::string said;
  while (said.size() < 60'000) said += "{\"a\":1}\n";
  std::vector<Fd> clients;
  size_t lines = 0;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(connect_to(path_));
    for (int times = 0; times < 2; ++times) {
      EXPECT_TRUE(write_all(clients.back().get(), said).ok());
      lines += said.size() / 8;
    }
  }
  finish();
  EXPECT_EQ(all_->rows.of<Gauge>().size(), lines);
  EXPECT_EQ(probe_->report().dropped, 0);
  EXPECT_LT(send(clients.back().get(), "x", 1, MSG_NOSIGNAL), 0) << "nobody reads any more";
}

TEST_F(AppProbeTest, TooManyClientsAreRefusedAndCounted) {
  std::vector<Fd> clients;
  for (int i = 0; i < 520; ++i) clients.push_back(connect_to(path_));
  finish();
  EXPECT_EQ(probe_->report().dropped, 8);
  EXPECT_THAT(probe_->report().why, HasSubstr("refused"));
}

TEST_F(AppProbeTest, WithoutDescriptorsTheyAreRefusedAndCounted) {
  std::vector<Fd> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(connect_to(path_));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const Fd lowest_free(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const rlimit none{static_cast<rlim_t>(lowest_free.get()) + 1, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  probe_->wake(monotonic_ns());
  probe_->finish(monotonic_ns());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(probe_->report().dropped, 3);
}

// As the session's loop does: edge by edge.
TEST_F(AppProbeTest, WakesForWhatComesButNotForEachMessage) {
  const Fd loop(epoll_create1(0));
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  ASSERT_EQ(epoll_ctl(loop.get(), EPOLL_CTL_ADD, probe_->wake_fds().at(0), &event), 0);
  constexpr int kMessages = 20'000;
  std::thread writer([&] {
    const Fd client = connect_to(path_);
    for (int i = 0; i < kMessages; ++i) (void)write_all(client.get(), "{\"a\":1}\n");
    usleep(30'000);
    (void)write_all(client.get(), "{\"late\":1}\n");
  });
  const int64_t before_ns = monotonic_ns();
  int64_t wakes = 0;
  while (probe_->report().seen < kMessages + 1 && epoll_wait(loop.get(), &event, 1, 10'000) == 1) {
    probe_->wake(monotonic_ns());
    ++wakes;
  }
  writer.join();
  EXPECT_EQ(probe_->report().seen, kMessages + 1);
  // For the news, and once more when a pause is over in which nothing came.
  const int64_t pauses = (monotonic_ns() - before_ns) / QuietWake::kPauseNs;
  EXPECT_LE(wakes, 2 * pauses + 10);
  finish();
}

TEST_F(AppProbeTest, TheSocketGoesWithTheProbe) {
  EXPECT_EQ(access(path_.c_str(), F_OK), 0);
  probe_.reset();
  EXPECT_NE(access(path_.c_str(), F_OK), 0);
  EXPECT_NE(access(path_.substr(0, path_.rfind('/')).c_str(), F_OK), 0);
}

TEST(AppProbe, HasNothingToSayOfWhatRunsAlready) {
  LaunchRequest request;
  request.attach_to = "1";
  const auto probe = make_app_probe({});
  EXPECT_TRUE(probe->prepare(request).ok());
  EXPECT_TRUE(request.environment.empty());
  StillTarget target;
  MemorySink sink;
  RecordStream out(sink);
  EXPECT_TRUE(probe->start(target, out).ok());
  probe->tick(1);
  probe->finish(2);
  EXPECT_TRUE(probe->wake_fds().empty());
  EXPECT_EQ(probe->report().seen, 0);
}

}  // namespace
}  // namespace fathom
