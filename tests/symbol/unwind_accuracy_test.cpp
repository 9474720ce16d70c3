// SPDX-License-Identifier: Apache-2.0
// Unwinds what the workload unwind_samples saw of itself, after it has ended, and compares with
// what libgcc's unwinder found inside it, address by address.
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/folders.h"
#include "support/temp_folder.h"
#include "symbol/unwind_process.h"
#include "symbol/unwind_sample_file.h"

namespace fathom {
namespace {

const std::string kProgram = build_folder() + "/workloads/unwind_samples";
const std::string kSource = source_folder() + "/tests/workloads/unwind_samples.cpp";

struct Score {
  size_t samples = 0, root = 0, as_truth = 0, deeper = 0, frames = 0;

  [[nodiscard]] double root_share() const { return double(root) / double(samples); }
  [[nodiscard]] double right_share() const { return double(as_truth + deeper) / double(samples); }
};

void count(const TruthSample& sample, const UnwoundStack& stack, Score& score) {
  ++score.samples;
  score.frames += stack.frames.size();
  if (stack.end == UnwindEnd::kRoot) ++score.root;
  const size_t common = std::min(stack.frames.size(), sample.truth.size());
  for (size_t i = 0; i < common; ++i)
    if (stack.frames[i].address != sample.truth[i]) return;
  if (stack.frames.size() == sample.truth.size()) ++score.as_truth;
  // Where libgcc knows no way on, as in stubs of static programs.
  else if (stack.frames.size() > common && stack.end == UnwindEnd::kRoot)
    ++score.deeper;
}

class UnwindAccuracy : public ::testing::Test {
 protected:
  void run(const std::string& program, const std::string& mode, int samples) {
    const std::string out = folder_.path() + "/samples";
    const std::string command = fmt::format("timeout 60 {} {} {} {}", program, mode, samples, out);
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    auto bytes = read_file(out, size_t{1} << 30);
    ASSERT_TRUE(bytes.ok());
    bytes_ = std::move(bytes).value();
    samples_ = parse_samples(bytes_);
    ASSERT_EQ(samples_.size(), static_cast<size_t>(samples));
    modules_ = std::make_unique<MappedModules>(read_file(out + ".maps").value());
  }

  // Root and truth for 99.5 % of the samples. What is left is the middle of _Unwind_Resume, which
  // overwrites its own return address; libgcc loses those too.
  void expect_right() {
    ASSERT_NE(modules_, nullptr) << "the program failed";
    Score score;
    Unwinder unwinder(*modules_);
    UnwoundStack stack;
    for (const TruthSample& sample : samples_) {
      unwinder.unwind(sample.registers, sample.copy, stack);
      count(sample, stack, score);
    }
    fmt::print("{} samples, {:.1f} frames each, {:.2f} % to the root, {:.2f} % right\n",
               score.samples, double(score.frames) / double(score.samples),
               100 * score.root_share(), 100 * score.right_share());
    EXPECT_GE(score.root_share(), 0.995);
    EXPECT_GE(score.right_share(), 0.995);
  }

  // Skips where there is no compiler.
  bool compile(const std::string& flags, const std::string& to) {
    const std::string command = fmt::format(
        "nice g++ -std=c++20 -O2 -w -D_GNU_SOURCE -pthread {} {} -o {} -lm -ldl 2>/dev/null", flags,
        kSource, to);
    return std::system(command.c_str()) == 0;
  }
  void compiled_is_right(const std::string& flags) {
    const std::string program = folder_.path() + "/program";
    if (!compile(flags, program)) GTEST_SKIP() << "g++ " << flags << " does not work here";
    for (const char* mode : {"timer", "step"}) {
      run(program, mode, 1500);
      expect_right();
    }
  }

  TempFolder folder_;
  std::string bytes_;
  std::vector<TruthSample> samples_;
  std::unique_ptr<MappedModules> modules_;
};

TEST_F(UnwindAccuracy, AtRandomTimes) {
  run(kProgram, "timer", 4000);
  expect_right();
}

TEST_F(UnwindAccuracy, AtEveryKindOfInstruction) {
  run(kProgram, "step", 8000);
  expect_right();
}

TEST_F(UnwindAccuracy, Static) { compiled_is_right("-static -DUNWIND_SAMPLES_STATIC"); }
TEST_F(UnwindAccuracy, StaticPie) { compiled_is_right("-static-pie -DUNWIND_SAMPLES_STATIC"); }
TEST_F(UnwindAccuracy, StrippedNotPie) { compiled_is_right("-s -no-pie"); }
TEST_F(UnwindAccuracy, LazyBinding) { compiled_is_right("-Wl,-z,lazy"); }
TEST_F(UnwindAccuracy, FramePointers) { compiled_is_right("-fno-omit-frame-pointer"); }

// The program has no .eh_frame of its own: libgcc stops where we go on.
TEST_F(UnwindAccuracy, CompressedDebugFrame) {
  compiled_is_right("-g -gz=zlib -fno-exceptions -fno-asynchronous-unwind-tables");
}

// What is missing from shorter copies is said, and enough.
TEST_F(UnwindAccuracy, CutCopies) {
  run(kProgram, "timer", 300);
  Unwinder unwinder(*modules_);
  UnwoundStack whole, cut;
  for (const TruthSample& sample : samples_) {
    unwinder.unwind(sample.registers, sample.copy, whole);
    if (whole.end != UnwindEnd::kRoot) continue;
    StackCopy copy = sample.copy;
    size_t rounds = 0;
    for (size_t size = 0;; size += cut.missing_bytes, ++rounds) {
      ASSERT_LE(size, sample.copy.bytes.size());
      copy.bytes = sample.copy.bytes.first(size);
      unwinder.unwind(sample.registers, copy, cut);
      if (cut.end != UnwindEnd::kCut) break;
      ASSERT_GT(cut.missing_bytes, 0U);
    }
    ASSERT_EQ(cut.end, UnwindEnd::kRoot);
    ASSERT_EQ(cut.frames, whole.frames);
    EXPECT_LE(rounds, whole.frames.size() * 2 + 20);
  }
}

// Through the address spaces: this process attached to, modules found by mapping.
TEST(UnwindProcess, FindsTablesOfAProcess) {
  ModuleCache modules;
  AddressSpaces spaces(modules);
  UnwindCache cache;
  ASSERT_TRUE(spaces.attach(getpid(), 0).ok());
  ProcessUnwindModules process(spaces, cache);
  process.aim_at(getpid(), INT64_MAX);
  const auto here = reinterpret_cast<uint64_t>(&vdso_image);
  const UnwindModule module = process.find(here);
  ASSERT_NE(module.table, nullptr);
  EXPECT_NE(module.table->find(here - module.bias), nullptr);
  const auto libc = reinterpret_cast<uint64_t>(&getenv);
  const UnwindModule other = process.find(libc);
  ASSERT_NE(other.table, nullptr);
  EXPECT_NE(other.table->find(libc - other.bias), nullptr);
  EXPECT_EQ(process.find(16).start, process.find(16).end);
  std::array<uint8_t, 4> code = {};
  ASSERT_EQ(process.read_code(libc, code), 4U);
  EXPECT_EQ(std::memcmp(code.data(), reinterpret_cast<const void*>(libc), 4), 0);
}

}  // namespace
}  // namespace fathom
