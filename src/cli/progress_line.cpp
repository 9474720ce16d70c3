// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "base/text_style.h"

namespace fathom {
namespace {

constexpr int kFewestRows = 5;
constexpr size_t kTitleColumns = 32;

void emit(const std::string& bytes) { (void)write_all(STDERR_FILENO, bytes); }

bool raw_mode() {
  termios settings{};
  return tcgetattr(STDERR_FILENO, &settings) == 0 && (settings.c_lflag & ICANON) == 0;
}

winsize terminal_size() {
  winsize size{};
  ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
  return size;
}

std::string short_count(int64_t count) {
  return count < 10'000 ? format_count(count) : format_count(count / 1000) + "k";
}

}  // namespace

// A terminal cuts the line at its end: what matters less stands last.
std::string progress_text(const Progress& progress) {
  const int64_t seconds = progress.elapsed_ns / kNsPerSecond;
  const LiveFigures& figures = progress.figures;
  std::vector<std::string> parts;
  if (!progress.attached_to.empty())
    parts.push_back("attached to " + fit(progress.attached_to, kTitleColumns));
  if (progress.dropped > 0) parts.push_back(format_count(progress.dropped) + " LOST");
  if (figures.cpu_cores >= 0) parts.push_back(fmt::format("cpu {:.2f}", figures.cpu_cores));
  if (figures.memory_bytes >= 0) parts.push_back("mem " + format_bytes(figures.memory_bytes));
  if (figures.read_bytes_per_s >= 1)
    parts.push_back("r " + format_bytes(figures.read_bytes_per_s) + "/s");
  if (figures.written_bytes_per_s >= 1)
    parts.push_back("w " + format_bytes(figures.written_bytes_per_s) + "/s");
  parts.push_back(short_count(progress.records) + " records" +
                  (progress.dropped == 0 ? ", 0 lost" : ""));
  if (figures.processes >= 0)
    parts.push_back(
        fmt::format("{} process{}", figures.processes, figures.processes == 1 ? "" : "es"));
  if (figures.peak_memory_bytes > figures.memory_bytes)
    parts.push_back("peak " + format_bytes(figures.peak_memory_bytes));
  return fmt::format("{:02}:{:02}  {}", seconds / 60, seconds % 60, join(parts, " · "));
}

ProgressLine::Mode ProgressLine::mode_for(const std::string& wanted) {
  if (wanted == "never") return Mode::kOff;
  const char* terminal = getenv("TERM");
  const bool capable = isatty(STDERR_FILENO) != 0 && terminal != nullptr &&
                       std::string_view(terminal) != "dumb" &&
                       terminal_size().ws_row >= kFewestRows;
  if (capable) return Mode::kTerminal;
  return wanted == "always" ? Mode::kPlain : Mode::kOff;
}

void ProgressLine::show(const Progress& progress) {
  if (mode_ == Mode::kOff) return;
  if (mode_ == Mode::kPlain) return emit("fathom: " + progress_text(progress) + "\n");
  if (raw_mode()) return clear();
  draw(progress_text(progress));
}

void ProgressLine::draw(const std::string& text) {
  const winsize size = terminal_size();
  if (size.ws_row < kFewestRows) return clear();
  if (rows_ != size.ws_row) {
    clear();
    rows_ = size.ws_row;
    // One row of room (an index keeps the column, where a prompt may stand), the region above it,
    // and the cursor back where it was.
    emit(
        fmt::format("\x1b"
                    "D\x1b"
                    "7\x1b[1;{}r\x1b"
                    "8\x1b[1A",
                    rows_ - 1));
  }
  const std::string line =
      styled(Style::kFaint, fit("  " + text, size.ws_col), colours_wanted(STDERR_FILENO));
  emit(
      fmt::format("\x1b"
                  "7\x1b[{};1H\x1b[2K{}\x1b"
                  "8",
                  rows_, line));
}

void ProgressLine::clear() {
  if (rows_ == 0) return;
  emit(
      fmt::format("\x1b"
                  "7\x1b[r\x1b[{};1H\x1b[2K\x1b"
                  "8",
                  rows_));
  rows_ = 0;
}

}  // namespace fathom
