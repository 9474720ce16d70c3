// SPDX-License-Identifier: Apache-2.0
#include "symbol/source_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <random>

#include "symbol/made_binary.h"
#include "symbol/symbolizer.h"

namespace fathom {
namespace {

constexpr const char* kInlinedSource = R"(
namespace deep {
struct Counter {
  volatile int count = 0;
  void up(int by) {
    count = count + by;
    count = count * 3;
  }
};
inline __attribute__((always_inline)) void twice(Counter& counter, int by) {
  counter.up(by);
  counter.up(by + 1);
}
__attribute__((noinline)) int work(int rounds) {
  Counter counter;
  for (int i = 0; i < rounds; ++i) {
    twice(counter, i);
    counter.up(7);
  }
  return counter.count;
}
}
int main(int argc, char**) { return deep::work(argc); }
)";

class SourceLinesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!dwarf_api().ok()) GTEST_SKIP() << dwarf_api().error().message;
    if (!make("c++")) GTEST_SKIP() << "no C++ compiler";
    find_work();
  }
  void find_work() {
    for (const auto& [address, entry] : nm_functions(path_, folder_)) {
      if (!entry.names.contains("_ZN4deep4workEi")) continue;
      work_ = address;
      size_ = entry.size;
    }
    ASSERT_GT(size_, 16U);
  }
  bool make(const std::string& compiler) const {
    return write_file(folder_ / "deep.cpp", kInlinedSource).ok() &&
           shell(compiler + " -O2 -g -fno-omit-frame-pointer -Wl,--build-id=sha1 -o " + path_ +
                 " " + (folder_ / "deep.cpp"));
  }
  // "name file:line\n" for each, outermost first.
  static std::string text_of(const std::vector<SourceFrame>& frames) {
    std::string text;
    for (const SourceFrame& frame : frames)
      text += fmt::format("{} {}:{}\n", frame.name, frame.file, frame.line);
    return text;
  }
  // The same by addr2line, which tells the innermost first.
  [[nodiscard]] std::string by(const std::string& addr2line, uint64_t address) const {
    const std::string out = folder_ / "lines.txt";
    EXPECT_TRUE(shell(fmt::format("{} -i -f -e {} {:#x} >{}", addr2line, path_, address, out)));
    std::istringstream lines(read_file(out).value_or(""));
    std::string text;
    for (std::string name, place; std::getline(lines, name) && std::getline(lines, place);) {
      place.resize(std::min(place.find(" (discriminator"), place.size()));
      if (place.ends_with(":?")) place.back() = '0';
      text.insert(0, name + " " + place + "\n");
    }
    return text;
  }
  // As if a process had mapped the file at kAt.
  static void map(Symbolizer& symbolizer, const std::string& path) {
    struct stat facts {};
    ASSERT_EQ(stat(path.c_str(), &facts), 0);
    symbolizer.spaces().map({.pid = kPid,
                             .start = kAt,
                             .length = 0x100000,
                             .device = facts.st_dev,
                             .inode = facts.st_ino,
                             .path = path});
  }
  [[nodiscard]] static std::string frames_text(Interner& names, std::span<const FrameId> frames) {
    std::string text;
    for (const FrameId id : frames) {
      const Frame& frame = names.dictionary().frames[index_of(id)];
      const std::string file(names.text(frame.file));
      text += fmt::format("{}{} {}:{}\n", frame.kind == FrameKind::kInlined ? "+" : "",
                          names.text(frame.symbol), file.substr(file.rfind('/') + 1), frame.line);
    }
    return text;
  }

  static constexpr uint64_t kAt = 0x10000000;
  static constexpr int64_t kPid = int64_t{1} << 40;
  TempFolder folder_;
  std::string path_ = folder_ / "deep";
  uint64_t work_ = 0, size_ = 0;
};

// Each compiler's by its own: GNU's leaves out some of what clang inlined.
TEST_F(SourceLinesTest, AsAddr2lineSays) {
  const std::pair<const char*, const char*> kTools[] = {{"c++ -gdwarf-5", "addr2line"},
                                                        {"c++ -gdwarf-4", "addr2line"},
                                                        {"clang++", "llvm-addr2line"}};
  for (const auto& [compiler, addr2line] : kTools) {
    if (!shell(std::string("command -v ") + addr2line) || !make(compiler)) continue;
    find_work();
    const auto file = open_file(path_, 0);
    auto process = LineProcess::start(dwarf_api().value(), file.value().get());
    ASSERT_TRUE(process.ok());
    size_t deepest = 0;
    for (uint64_t address = work_; address < work_ + size_; ++address) {
      const auto frames = process.value()->find(address);
      ASSERT_TRUE(frames.ok());
      EXPECT_EQ(text_of(frames.value()), by(addr2line, address)) << compiler << " " << address;
      deepest = std::max(deepest, frames.value().size());
    }
    EXPECT_EQ(deepest, 3U) << compiler;
    EXPECT_TRUE(process.value()->find(0).value().empty());
  }
}

TEST_F(SourceLinesTest, FramesHaveLinesAndWhatWasInlined) {
  // Also from a separate debug file.
  const std::string bare = folder_ / "bare";
  ASSERT_TRUE(shell("cd " + folder_.path() +
                    " && objcopy --only-keep-debug deep bare.debug && "
                    "objcopy --strip-all --add-gnu-debuglink=bare.debug deep bare"));
  for (const std::string& path : {path_, bare}) {
    Interner names;
    Symbolizer symbolizer(names, {.lines = true});
    map(symbolizer, path);
    std::set<std::string> seen;
    for (uint64_t at = work_; at < work_ + size_; ++at)
      seen.insert(frames_text(names, symbolizer.user_frames(kPid, kAt + at)));
    EXPECT_TRUE(
        seen.contains("deep::work(int) deep.cpp:17\n"
                      "+deep::twice(deep::Counter&, int) deep.cpp:11\n"
                      "+deep::Counter::up(int) deep.cpp:7\n"))
        << path << "\n"
        << fmt::format("{}", fmt::join(seen, "\n"));
    EXPECT_TRUE(seen.contains("deep::work(int) deep.cpp:18\n+deep::Counter::up(int) deep.cpp:6\n"));
    EXPECT_EQ(symbolizer.without_lines(), 0);
  }
}

TEST_F(SourceLinesTest, WithoutBeingAskedThereAreNone) {
  Interner names;
  Symbolizer symbolizer(names);
  map(symbolizer, path_);
  EXPECT_EQ(frames_text(names, symbolizer.user_frames(kPid, kAt + work_)), "deep::work(int) :0\n");
}

// Whatever debug information says, we live on, and the function keeps its name.
TEST_F(SourceLinesTest, DamagedDebugInformation) {
  const std::string good = read_file(path_).value();
  const auto elf = ElfFile::open(path_);
  ASSERT_TRUE(elf.ok());
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    std::string bad = good;
    for (const ElfSection& section : elf.value().sections()) {
      if (!section.name.starts_with(".debug_")) continue;
      for (int flips = 0; flips <= round % 12; ++flips)
        bad[section.offset + random() % section.size] = static_cast<char>(random());
    }
    const std::string path = folder_ / fmt::format("bad{}", round);
    ASSERT_TRUE(write_file(path, bad).ok());
    Interner names;
    Symbolizer symbolizer(names, {.lines = true});
    map(symbolizer, path);
    for (uint64_t at = work_; at < work_ + size_; at += 7) {
      const auto frames = symbolizer.user_frames(kPid, kAt + at);
      ASSERT_FALSE(frames.empty());
      ASSERT_TRUE(frames_text(names, frames).starts_with("deep::work(int) "));
    }
  }
}

TEST_F(SourceLinesTest, ACrashIsAnError) {
  const auto file = open_file(path_, 0);
  DwarfApi crashing = dwarf_api().value();
  crashing.getsrc_die = [](Dwarf_Die*, Dwarf_Addr) -> Dwarf_Line* { abort(); };
  auto process = LineProcess::start(crashing, file.value().get());
  ASSERT_TRUE(process.ok());
  EXPECT_FALSE(process.value()->find(work_).ok());
  EXPECT_FALSE(process.value()->find(work_).ok());
}

TEST_F(SourceLinesTest, SoIsAnAnswerThatNeverComes) {
  const auto file = open_file(path_, 0);
  DwarfApi stuck = dwarf_api().value();
  stuck.getsrc_die = [](Dwarf_Die*, Dwarf_Addr) -> Dwarf_Line* {
    while (true) pause();
  };
  auto process = LineProcess::start(stuck, file.value().get());
  ASSERT_TRUE(process.ok());
  EXPECT_FALSE(process.value()->find(work_).ok());
}

// What a parser that was taken over would try first: nothing of it may succeed.
bool can_do_harm() {
  if (open("/etc/passwd", O_RDONLY) >= 0) return true;
  if (open("/tmp", O_TMPFILE | O_RDWR, 0600) >= 0) return true;
  if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0) return true;
  if (kill(getppid(), 0) == 0) return true;
  if (syscall(SYS_memfd_create, "x", 0) >= 0) return true;
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) return true;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child > 0) return true;
  char* const words[] = {const_cast<char*>("true"), nullptr};
  execv("/bin/true", words);
  return false;
}

TEST_F(SourceLinesTest, AParserThatIsTakenOverCanOpenAndStartNothing) {
  const auto file = open_file(path_, 0);
  DwarfApi hostile = dwarf_api().value();
  hostile.getsrc_die = [](Dwarf_Die*, Dwarf_Addr) -> Dwarf_Line* {
    if (can_do_harm()) abort();
    return nullptr;
  };
  auto process = LineProcess::start(hostile, file.value().get());
  ASSERT_TRUE(process.ok());
  EXPECT_TRUE(process.value()->find(work_).ok());
}

TEST_F(SourceLinesTest, TheParserHasNoPrivileges) {
  if (geteuid() != 0) GTEST_SKIP() << "only root has some to lose";
  const auto file = open_file(path_, 0);
  auto process = LineProcess::start(dwarf_api().value(), file.value().get());
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE(process.value()->find(work_).ok());
  const auto children = read_file("/proc/thread-self/children").value();
  const std::string status =
      read_file("/proc/" + children.substr(0, children.find(' ')) + "/status").value();
  for (const char* line :
       {"\nUid:\t65534\t65534\t65534\t65534\n", "\nCapPrm:\t0000000000000000\n",
        "\nCapEff:\t0000000000000000\n", "\nNoNewPrivs:\t1\n", "\nSeccomp:\t2\n"})
    EXPECT_NE(status.find(line), std::string::npos) << line << " is not in " << status;
}

}  // namespace
}  // namespace fathom
