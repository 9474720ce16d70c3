// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"

namespace fathom {
namespace {

Progress sample() {
  Progress progress;
  progress.elapsed_ns = 75 * kNsPerSecond;
  progress.records = 12345;
  progress.figures.cpu_cores = 1.5;
  progress.figures.memory_bytes = 2e6;
  progress.figures.peak_memory_bytes = 3e6;
  progress.figures.read_bytes_per_s = 0;
  progress.figures.written_bytes_per_s = 4096;
  progress.figures.processes = 2;
  return progress;
}

TEST(ProgressText, SaysWhatIsKnown) {
  const std::string text = progress_text(sample());
  for (const char* part : {"01:15", "cpu 1.50", "mem 2.0 MB", "peak 3.0 MB", "w 4.1 kB/s",
                           "2 processes", "12k records, 0 lost"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(ProgressText, EightyColumnsHaveAllThatIsAsked) {
  Progress progress = sample();
  progress.figures.read_bytes_per_s = 12.3e6;
  const std::string seen = fit("  " + progress_text(progress), 80);
  for (const char* part : {"01:15", "cpu", "mem", "r 12 MB/s", "w 4.1 kB/s", "12k records, 0 lost"})
    EXPECT_NE(seen.find(part), std::string::npos) << seen;
  progress.dropped = 7;
  EXPECT_EQ(progress_text(progress).find("7 LOST"), 7U);
}

TEST(ProgressText, LeavesOutWhatIsNot) {
  const std::string text = progress_text(Progress{});
  for (const char* part : {"cpu", "mem", "/s", "process"}) {
    EXPECT_EQ(text.find(part), std::string::npos) << text;
  }
}

TEST(ProgressText, SaysWhatItIsAttachedTo) {
  Progress progress = sample();
  EXPECT_EQ(progress_text(progress).find("attached"), std::string::npos);
  progress.attached_to = "pid 123 (nginx)";
  EXPECT_NE(progress_text(progress).find("01:15  attached to pid 123 (nginx) · cpu 1.50 · "),
            std::string::npos)
      << progress_text(progress);
  progress.attached_to = std::string(200, 'x');
  EXPECT_NE(progress_text(progress).find("… · cpu "), std::string::npos);
}

// stderr on a terminal of our own for the time of a test.
class OnTerminal : public ::testing::Test {
 protected:
  void SetUp() override {
    winsize size{.ws_row = 24, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
    int master = -1;
    int slave = -1;
    ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
    master_ = Fd(master);
    slave_ = Fd(slave);
    saved_ = Fd(dup(STDERR_FILENO));
    dup2(slave, STDERR_FILENO);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
  }
  void TearDown() override { dup2(saved_.get(), STDERR_FILENO); }

  void resize(unsigned short rows, unsigned short columns) const {
    const winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ioctl(slave_.get(), TIOCSWINSZ, &size);
  }
  // What the terminal got since the last call.
  [[nodiscard]] std::string got() const {
    std::string text;
    char buffer[4096];
    pollfd ready{master_.get(), POLLIN, 0};
    while (poll(&ready, 1, 20) == 1) {
      const ssize_t size = read(master_.get(), buffer, sizeof buffer);
      if (size <= 0) break;
      text.append(buffer, static_cast<size_t>(size));
    }
    return text;
  }

  Fd master_, slave_, saved_;
};

TEST_F(OnTerminal, ModeFollowsTheTerminal) {
  EXPECT_EQ(ProgressLine::mode_for("auto"), ProgressLine::Mode::kTerminal);
  EXPECT_EQ(ProgressLine::mode_for("never"), ProgressLine::Mode::kOff);
  setenv("TERM", "dumb", 1);
  EXPECT_EQ(ProgressLine::mode_for("auto"), ProgressLine::Mode::kOff);
  EXPECT_EQ(ProgressLine::mode_for("always"), ProgressLine::Mode::kPlain);
  setenv("TERM", "xterm", 1);
  resize(4, 80);
  EXPECT_EQ(ProgressLine::mode_for("auto"), ProgressLine::Mode::kOff);
}

TEST_F(OnTerminal, DrawsInTheLastRowAndFitsIt) {
  ProgressLine line(ProgressLine::Mode::kTerminal);
  line.show(sample());
  const std::string text = got();
  EXPECT_NE(text.find("\x1b[1;23r"), std::string::npos) << "the region above it scrolls";
  EXPECT_NE(text.find("\x1b[24;1H\x1b[2K"), std::string::npos);
  EXPECT_NE(text.find("…"), std::string::npos) << "it is cut at 60 columns";
  line.clear();
  EXPECT_NE(got().find("\x1b[r\x1b[24;1H\x1b[2K"), std::string::npos);
  line.clear();
  EXPECT_EQ(got(), "");
}

TEST_F(OnTerminal, TheRegionIsSetOncePerSize) {
  ProgressLine line(ProgressLine::Mode::kTerminal);
  line.show(sample());
  (void)got();
  line.show(sample());
  EXPECT_EQ(got().find("\x1b[1;23r"), std::string::npos);
  resize(30, 60);
  line.show(sample());
  EXPECT_NE(got().find("\x1b[1;29r"), std::string::npos);
}

TEST_F(OnTerminal, GoesWhenTheTerminalBecomesTooSmall) {
  ProgressLine line(ProgressLine::Mode::kTerminal);
  line.show(sample());
  (void)got();
  resize(3, 60);
  line.show(sample());
  EXPECT_NE(got().find("\x1b[r"), std::string::npos);
  line.show(sample());
  EXPECT_EQ(got(), "");
}

TEST_F(OnTerminal, HidesWhileAProgramHasTheTerminalRaw) {
  ProgressLine line(ProgressLine::Mode::kTerminal);
  line.show(sample());
  (void)got();
  termios settings{};
  ASSERT_EQ(tcgetattr(slave_.get(), &settings), 0);
  const termios cooked = settings;
  cfmakeraw(&settings);
  tcsetattr(slave_.get(), TCSANOW, &settings);
  line.show(sample());
  EXPECT_NE(got().find("\x1b[r"), std::string::npos);
  line.show(sample());
  EXPECT_EQ(got(), "");
  tcsetattr(slave_.get(), TCSANOW, &cooked);
  line.show(sample());
  EXPECT_NE(got().find("01:15"), std::string::npos);
}

TEST_F(OnTerminal, NoColourWhereNoneIsWanted) {
  setenv("NO_COLOR", "1", 1);
  ProgressLine line(ProgressLine::Mode::kTerminal);
  line.show(sample());
  const std::string text = got();
  EXPECT_EQ(text.find("\x1b[2m"), std::string::npos);
  EXPECT_NE(text.find("01:15"), std::string::npos);
  unsetenv("NO_COLOR");
}

TEST_F(OnTerminal, PlainModeWritesLines) {
  ProgressLine line(ProgressLine::Mode::kPlain);
  line.show(sample());
  const std::string text = got();
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_TRUE(text.starts_with("fathom: 01:15")) << text;
}

TEST_F(OnTerminal, OffWritesNothing) {
  ProgressLine line(ProgressLine::Mode::kOff);
  line.show(sample());
  line.clear();
  EXPECT_EQ(got(), "");
}

TEST(ProgressLineMode, NoTerminalNoLine) {
  const Fd saved(dup(STDERR_FILENO));
  const Fd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
  dup2(null.get(), STDERR_FILENO);
  const auto automatic = ProgressLine::mode_for("auto");
  const auto always = ProgressLine::mode_for("always");
  dup2(saved.get(), STDERR_FILENO);
  EXPECT_EQ(automatic, ProgressLine::Mode::kOff);
  EXPECT_EQ(always, ProgressLine::Mode::kPlain);
}

}  // namespace
}  // namespace fathom
