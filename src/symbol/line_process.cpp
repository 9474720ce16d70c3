// SPDX-License-Identifier: Apache-2.0
#include "symbol/line_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "base/sandbox.h"

namespace fathom {
namespace {

constexpr size_t kMostAnswerBytes = 64 << 10;
constexpr size_t kMostTextBytes = 4096;
constexpr size_t kMostFrames = 64;
constexpr int kFirstAnswerMs = 5000;  // it reads the list of units first
constexpr int kAnswerMs = 1000;
constexpr rlim_t kMostCpuSeconds = 60;
constexpr rlim_t kMostMemoryBytes = rlim_t{8} << 30;

// "=", so that no answer is empty, then name NUL file NUL line NUL for each frame.
std::string encode(const std::vector<SourceFrame>& frames) {
  std::string bytes = "=";
  for (const SourceFrame& frame : frames) {
    for (const std::string* text : {&frame.name, &frame.file})
      bytes.append(*text, 0, kMostTextBytes) += '\0';
    bytes += std::to_string(frame.line) + '\0';
  }
  return bytes;
}

std::string_view take_text(std::string_view& bytes) {
  const size_t length = std::min(bytes.find('\0'), bytes.size());
  const std::string_view text = bytes.substr(0, length);
  bytes.remove_prefix(std::min(length + 1, bytes.size()));
  return text;
}

std::vector<SourceFrame> decode(std::string_view bytes) {
  std::vector<SourceFrame> frames;
  bytes.remove_prefix(1);
  while (!bytes.empty() && frames.size() < kMostFrames) {
    SourceFrame& frame = frames.emplace_back();
    frame.name = take_text(bytes);
    frame.file = take_text(bytes);
    const std::string_view line = take_text(bytes);
    std::from_chars(line.data(), line.data() + line.size(), frame.line);
  }
  return frames;
}

void limit(__rlimit_resource_t what, rlim_t most) {
  const rlimit value{most, most};
  setrlimit(what, &value);
}

// Nothing of the recorder's may be held open or written by accident; a crash is told by the end of
// the socket alone.
void become_small(int socket, int file) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) ::signal(signal, SIG_DFL);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_IGN);
  const int low = std::min(socket, file), high = std::max(socket, file);
  if (low > 3) syscall(SYS_close_range, 3, low - 1, 0);
  if (high > low + 1) syscall(SYS_close_range, low + 1, high - 1, 0);
  syscall(SYS_close_range, high + 1, ~0U, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, kMostCpuSeconds);
#ifndef __SANITIZE_ADDRESS__
  limit(RLIMIT_AS, kMostMemoryBytes);
#endif
}

[[noreturn]] void answer_until_closed(const DwarfApi& api, int socket, int file) {
  become_small(socket, file);
  if (!drop_privileges().ok()) _exit(1);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of the user clears it
  DwarfLines lines(api, file);       // opens the file that several debug files share, too
  if (!allow_only_open_files().ok()) _exit(1);
  lines.read_units();
  std::vector<SourceFrame> frames;
  uint64_t address = 0;
  while (recv(socket, &address, sizeof address, 0) == sizeof address) {
    lines.find(address, frames);
    std::string bytes = encode(frames);
    if (bytes.size() > kMostAnswerBytes) bytes.resize(1);
    if (send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) break;
  }
  _exit(0);
}

Error gone() { return Error{Code::kCorrupt, "debug information that cannot be read"}; }

}  // namespace

Result<std::unique_ptr<LineProcess>> LineProcess::start(const DwarfApi& api, int file) {
  int ends[2] = {};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return errno_error("socketpair");
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return errno_error("fork");
  if (pid == 0) answer_until_closed(api, theirs.get(), file);
  return std::unique_ptr<LineProcess>(new LineProcess(std::move(ours), pid));
}

LineProcess::~LineProcess() {
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<std::vector<SourceFrame>> LineProcess::find(uint64_t address) {
  if (send(socket_.get(), &address, sizeof address, MSG_NOSIGNAL) != sizeof address) return gone();
  pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  const int wait_ms = answered_ ? kAnswerMs : kFirstAnswerMs;
  int got_ready = 0;
  while ((got_ready = poll(&ready, 1, wait_ms)) < 0 && errno == EINTR) {
  }
  if (got_ready <= 0 || (ready.revents & POLLIN) == 0) return gone();
  std::string bytes(kMostAnswerBytes, '\0');
  const ssize_t got = recv(socket_.get(), bytes.data(), bytes.size(), 0);
  if (got <= 0) return gone();
  answered_ = true;
  return decode(std::string_view(bytes).substr(0, static_cast<size_t>(got)));
}

}  // namespace fathom
