// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <regex>

#include "support/folders.h"
#include "support/memory_sink.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

// What a probe was told, in order; the session makes its own probe, so it is kept here.
struct ProbeLog {
  std::vector<std::string> calls;
  int64_t ticks = 0, begin_ns = 0;
  int64_t living = 0;            // what live() says
  int64_t living_for_ticks = 0;  // living becomes 0 then
  bool refuses = false;
  bool target_ran_before_start = false;
  std::string mark;  // a file the target makes
};
ProbeLog log;

class LoggingProbe final : public Probe {
 public:
  Status start(const Target& target, RecordStream& /*out*/) override {
    log.calls.emplace_back("start");
    log.target_ran_before_start = std::filesystem::exists(log.mark);
    if (log.refuses) return Error{Code::kUnsupported, "cannot measure"};
    pid_ = target.pid();
    return {};
  }
  void begin(int64_t now_ns) override {
    log.calls.emplace_back("begin");
    log.begin_ns = now_ns;
  }
  void tick(int64_t /*now_ns*/) override {
    if (++log.ticks == log.living_for_ticks) log.living = 0;
  }
  void departed(const Departure& departure) override {
    log.calls.emplace_back(departure.pid == pid_ && departure.is_main ? "main departed"
                                                                      : "orphan departed");
  }
  void finish(int64_t /*now_ns*/) override { log.calls.emplace_back("finish"); }
  [[nodiscard]] ProbeReport report() const override {
    return {"rung", "settings", 11, 5, "why", 77};
  }
  void total(Run& run) const override { run.processes = 42; }
  void live(LiveFigures& figures) const override { figures.processes = log.living; }

 private:
  int64_t pid_ = 0;
};

constexpr ProbeInfo kLogging = {.name = "logging",
                                .summary = "keeps what it is told",
                                .on_by_default = false,
                                .make = [](const ProbeSettings&) -> std::unique_ptr<Probe> {
                                  return std::make_unique<LoggingProbe>();
                                },
                                .examine = nullptr};

class SessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("FATHOM_HOME", build_folder().c_str(), 1);
    log = {};
    log.mark = folder_ / "ran";
    options_.launcher = find_launcher("process");
    options_.label = "label";
    options_.settings.interval_ns = 5'000'000;
    options_.grace_ns = 20'000'000'000;
    options_.request.cwd = folder_.path();
    options_.probes = {&kLogging};
  }
  void TearDown() override { unsetenv("FATHOM_HOME"); }

  Result<SessionResult> run(const std::string& script) {
    options_.request.command = {"sh", "-c", script};
    return run_session(options_, "id", sink_);
  }
  SessionResult must_run(const std::string& script) {
    auto result = run(script);
    EXPECT_TRUE(result.ok()) << result.error().message;
    collected_ = sink_.collected();
    return result.ok() ? result.value() : SessionResult();
  }
  const fathom::Run& row() { return collected_->rows.of<fathom::Run>().at(0); }

  TempFolder folder_;
  SessionOptions options_;
  MemorySink sink_;
  std::unique_ptr<Collected> collected_;
};

TEST_F(SessionTest, WritesTheRun) {
  const SessionResult result = must_run("touch ran; exit 7");
  EXPECT_EQ(WEXITSTATUS(result.status), 7);
  EXPECT_EQ(result.reason, EndReason::kExited);
  ASSERT_EQ(collected_->rows.of<fathom::Run>().size(), 1U);
  EXPECT_EQ(collected_->text(row().id), "id");
  EXPECT_EQ(collected_->text(row().label), "label");
  EXPECT_EQ(collected_->text(row().end_reason), "exited");
  EXPECT_EQ(collected_->text(row().launcher), "process");
  EXPECT_EQ(collected_->text(row().cwd), folder_.path());
  EXPECT_EQ(row().exit_status, 7);
  EXPECT_EQ(row().exit_signal, std::nullopt);
  EXPECT_EQ(row().processes, 42) << "the probe's total";
  EXPECT_EQ(row().dropped, 5) << "what the probe lost";
  EXPECT_EQ(row().recorder_buffer_bytes, 77);
  EXPECT_GT(row().end_ns, row().start_ns);
  EXPECT_GT(row().recorder_cpu_ns, 0);
}

TEST_F(SessionTest, WritesWhatTheProbeDid) {
  must_run("true");
  ASSERT_EQ(collected_->rows.of<ProbeStatus>().size(), 1U);
  const ProbeStatus& status = collected_->rows.of<ProbeStatus>()[0];
  EXPECT_EQ(collected_->text(status.probe), "logging");
  EXPECT_EQ(collected_->text(status.rung), "rung");
  EXPECT_EQ(collected_->text(status.why), "why");
  EXPECT_EQ(status.seen, 11);
  EXPECT_EQ(status.dropped, 5);
}

TEST_F(SessionTest, TheProbeIsThereBeforeTheTargetRuns) {
  must_run("touch ran; sleep 0.1");
  EXPECT_FALSE(log.target_ran_before_start);
  EXPECT_EQ(log.calls, (std::vector<std::string>{"start", "begin", "main departed", "finish"}));
  EXPECT_GE(log.ticks, 2);
  EXPECT_GT(log.begin_ns, 0);
  EXPECT_LE(log.begin_ns, row().start_ns);
}

TEST_F(SessionTest, ACommandThatCannotStartIsAnError) {
  options_.request.command = {"no-such-command"};
  const auto result = run_session(options_, "id", sink_);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::kCommandNotFound);
}

TEST_F(SessionTest, AProbeThatCannotStartIsAnErrorAndNothingRuns) {
  log.refuses = true;
  const auto result = run("touch ran");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "start probe logging: cannot measure");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ran"));
}

TEST_F(SessionTest, DurationEndsItWithTerm) {
  options_.duration_ns = 50'000'000;
  const SessionResult result = must_run("exec sleep 100");
  EXPECT_EQ(result.reason, EndReason::kDuration);
  EXPECT_EQ(WTERMSIG(result.status), SIGTERM);
  EXPECT_EQ(collected_->text(row().end_reason), "duration");
  EXPECT_EQ(row().exit_signal, SIGTERM);
}

TEST_F(SessionTest, TimeoutKillsWhatIgnoresTerm) {
  options_.timeout_ns = 50'000'000;
  options_.grace_ns = 50'000'000;
  const SessionResult result = must_run("trap '' TERM; while :; do sleep 0.01; done");
  EXPECT_EQ(result.reason, EndReason::kTimeout);
  EXPECT_EQ(WTERMSIG(result.status), SIGKILL);
}

TEST_F(SessionTest, ASignalToUsIsTheTargets) {
  const std::string us = std::to_string(getpid());
  const SessionResult result =
      must_run("trap 'exit 9' TERM; kill -TERM " + us + "; while :; do sleep 0.01; done");
  EXPECT_EQ(result.reason, EndReason::kInterrupted);
  EXPECT_EQ(WEXITSTATUS(result.status), 9);
}

TEST_F(SessionTest, DeathBySignalIsTold) {
  const SessionResult result = must_run("kill -KILL $$");
  EXPECT_EQ(result.reason, EndReason::kSignalled);
  EXPECT_EQ(row().exit_signal, SIGKILL);
  EXPECT_EQ(row().exit_status, std::nullopt);
}

TEST_F(SessionTest, WaitAllWaitsForWhatTheProbesSee) {
  options_.wait_all = true;
  log.living = 1;
  log.living_for_ticks = 20;
  must_run("exit 3");
  EXPECT_GE(log.ticks, 20);
  EXPECT_EQ(row().exit_status, 3);
}

TEST_F(SessionTest, WithoutWaitAllItDoesNot) {
  log.living = 1;
  must_run("exit 3");
  EXPECT_EQ(row().exit_status, 3);
}

TEST_F(SessionTest, ProgressIsTold) {
  int64_t told = 0;
  options_.on_progress = [&](const Progress& progress) {
    ++told;
    EXPECT_GT(progress.elapsed_ns, 0);
    EXPECT_EQ(progress.dropped, 5);
  };
  must_run("sleep 0.6");
  EXPECT_GE(told, 1);
}

TEST(RunId, SortsByTimeAndIsUnique) {
  const std::string one = new_run_id();
  const std::string two = new_run_id();
  EXPECT_TRUE(std::regex_match(one, std::regex("[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}"))) << one;
  EXPECT_NE(one, two);
  EXPECT_LE(one.substr(0, 16), two.substr(0, 16));
}

}  // namespace
}  // namespace fathom
