// SPDX-License-Identifier: Apache-2.0
#include "symbol/symbolizer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "symbol/made_binary.h"
#include "symbol/unwind_process.h"

namespace fathom {
namespace {

__attribute__((noinline)) int a_function_of_the_test(int x) { return x + 1; }

struct Answer {
  std::string symbol, module;
  FrameKind kind;
};
Answer answer(const Interner& names, FrameId id) {
  const Frame& frame = names.dictionary().frames[index_of(id)];
  return {std::string(names.text(frame.symbol)), std::string(names.text(frame.module)), frame.kind};
}

TEST(Symbolizer, OwnFunctions) {
  Interner names;
  Symbolizer symbolizer(names);
  const auto address = reinterpret_cast<uint64_t>(&a_function_of_the_test);
  const FrameId id = symbolizer.user(getpid(), address);
  const Answer own = answer(names, id);
  EXPECT_EQ(own.symbol, "fathom::(anonymous namespace)::a_function_of_the_test(int)");
  EXPECT_EQ(own.module, read_proc_exe(proc_folder(getpid())).value());
  EXPECT_EQ(own.kind, FrameKind::kNative);
  EXPECT_EQ(symbolizer.user(getpid(), address + 1), id);
  const Answer libc =
      answer(names, symbolizer.user(getpid(), reinterpret_cast<uint64_t>(&getppid)));
  EXPECT_NE(libc.symbol, "[unknown]");
  EXPECT_EQ(symbolizer.found(), 3);
}

TEST(Symbolizer, MissesKeepTheModuleAndAreCounted) {
  Interner names;
  Symbolizer symbolizer(names, {.offsets = true});
  EXPECT_EQ(answer(names, symbolizer.user(getpid(), 16)).symbol, "[unknown]");
  EXPECT_EQ(symbolizer.missed(Miss::kNoMapping), 1);
  const int64_t gone = int64_t{1} << 40;
  symbolizer.user(gone, 16);
  EXPECT_EQ(symbolizer.missed(Miss::kNoProcess), 1);
  symbolizer.spaces().map({.pid = gone, .start = 0x1000, .length = 0x1000, .path = "/gone/x.so"});
  const Answer file = answer(names, symbolizer.user(gone, 0x1234));
  EXPECT_EQ(file.symbol, "[x.so+0x234]");
  EXPECT_EQ(file.module, "/gone/x.so");
  EXPECT_EQ(symbolizer.missed(Miss::kUnreadable), 1);
  for (int i = 0; i < static_cast<int>(Miss::kCount); ++i)
    EXPECT_STRNE(miss_name(static_cast<Miss>(i)), "?");
}

TEST(Symbolizer, CompiledCodeByPerfMap) {
  Interner names;
  Symbolizer symbolizer(names);
  void* code = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(code, MAP_FAILED);
  const auto address = reinterpret_cast<uint64_t>(code);
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  char line[128];
  snprintf(line, sizeof line, "%lx 100 <script>;\x1b[31m\xff name\n", address);
  ASSERT_TRUE(write_file(path, line).ok());
  const Answer jit = answer(names, symbolizer.user(getpid(), address + 5));
  const Answer none = answer(names, symbolizer.user(getpid(), address + 0x200));
  unlink(path.c_str());
  munmap(code, 4096);
  EXPECT_EQ(jit.module, "[jit]");
  EXPECT_TRUE(jit.symbol.starts_with("<script>;"));
  EXPECT_EQ(jit.symbol.find('\x1b'), std::string::npos);
  EXPECT_EQ(jit.symbol.find('\xff'), std::string::npos);
  EXPECT_EQ(none.symbol, "[unknown]");
  EXPECT_EQ(none.module, "[anon]");
  EXPECT_EQ(symbolizer.missed(Miss::kNoJitName), 1);
}

// folder/made, stripped, as if a process had mapped it at kMadeAt.
constexpr uint64_t kMadeAt = 0x10000000;
constexpr int64_t kMadePid = int64_t{1} << 40;
bool map_stripped(const TempFolder& folder, Symbolizer& symbolizer) {
  struct stat facts {};
  const std::string path = folder / "stripped";
  if (!shell("strip -o " + path + " " + (folder / "made")) || stat(path.c_str(), &facts) != 0)
    return false;
  symbolizer.spaces().map({.pid = kMadePid,
                           .start = kMadeAt,
                           .length = 0x100000,
                           .device = facts.st_dev,
                           .inode = facts.st_ino,
                           .path = path});
  return true;
}

TEST(Symbolizer, FunctionsWithoutANameAreToldApartByTheirStart) {
  const TempFolder folder;
  if (!make_binary(folder)) GTEST_SKIP() << "no C compiler";
  Interner names;
  Symbolizer symbolizer(names);
  UnwindCache tables;
  ProcessUnwindModules modules(symbolizer.spaces(), tables);
  ASSERT_TRUE(map_stripped(folder, symbolizer));
  uint64_t hidden = 0, shown = 0, size = 0;
  for (const auto& [address, entry] : nm_functions(folder / "made", folder)) {
    if (entry.names.contains("hidden_one")) hidden = address, size = entry.size;
    if (entry.names.contains("shown_two")) shown = address;
  }
  ASSERT_GT(size, 4U);
  const auto ask = [&](uint64_t linked) {
    return answer(names, symbolizer.user(kMadePid, kMadeAt + linked)).symbol;
  };
  EXPECT_EQ(ask(hidden), "[unknown]");
  symbolizer.use_function_starts([&](const Module& module, uint64_t address) {
    return modules.function_start(module, address);
  });
  const std::string name = fmt::format("[stripped+{:#x}]", hidden);
  EXPECT_EQ(ask(hidden), name);
  EXPECT_EQ(ask(hidden + size - 1), name);
  EXPECT_EQ(ask(shown + 1), fmt::format("[stripped+{:#x}]", shown));
  EXPECT_EQ(ask(0x40), "[unknown]");  // the ELF header: no function
  EXPECT_EQ(symbolizer.missed(Miss::kNoSymbol), 5);
  EXPECT_EQ(symbolizer.found(), 0);
}

TEST(Symbolizer, Kernel) {
  Interner names;
  Symbolizer symbolizer(names);
  const Answer nothing = answer(names, symbolizer.user(getpid(), 0xffffffffffffff00));
  EXPECT_EQ(nothing.kind, FrameKind::kKernel);
  EXPECT_EQ(nothing.module, "[kernel]");
  EXPECT_EQ(
      symbolizer.missed(symbolizer.kernel_error() ? Miss::kKernelHidden : Miss::kKernelUnknown), 1);
}

}  // namespace
}  // namespace fathom
