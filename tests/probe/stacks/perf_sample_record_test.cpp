// SPDX-License-Identifier: Apache-2.0
#include "probe/stacks/perf_sample_record.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "symbol/unwind_arch.h"

namespace fathom {
namespace {

constexpr size_t kRegisters = 17;  // bits of unwind_arch::kPerfMask
constexpr uint64_t kUserMarker = static_cast<uint64_t>(-512);

// The words of a record as the kernel writes it.
std::vector<uint64_t> whole_sample(uint64_t abi = PERF_SAMPLE_REGS_ABI_64) {
  std::vector<uint64_t> words = {0, 77, uint64_t{4321} << 32 | 1234, 5'000'000'000, 1, 1'001'001};
  const std::vector<uint64_t> chain = {static_cast<uint64_t>(-128), 0xffffffff81000010,
                                       0xffffffff81000020, kUserMarker};
  words.push_back(chain.size());
  words.insert(words.end(), chain.begin(), chain.end());
  words.push_back(abi);
  if (abi != PERF_SAMPLE_REGS_ABI_NONE) {
    for (uint64_t i = 0; i < kRegisters; ++i) words.push_back(0x7000 + i);
    words.push_back(64);                                  // room
    for (uint64_t i = 0; i < 8; ++i) words.push_back(i);  // the copy
    words.push_back(48);                                  // copied
  }
  perf_event_header header{PERF_RECORD_SAMPLE, 0, static_cast<uint16_t>(words.size() * 8)};
  std::memcpy(words.data(), &header, sizeof header);
  return words;
}

const perf_event_header& header_of(const std::vector<uint64_t>& words) {
  return *reinterpret_cast<const perf_event_header*>(words.data());
}

// Uses every byte the sample refers to, for the sanitizers.
uint64_t touch(const RawSample& sample) {
  uint64_t sum = 0;
  for (const uint64_t address : sample.kernel) sum += address;
  for (size_t i = 0; i < sample.copy.bytes.size(); ++i) sum += sample.copy.bytes[i];
  return sum;
}

TEST(PerfSampleRecord, WholeSample) {
  const auto words = whole_sample();
  std::vector<uint64_t> kernel;
  const RawSample sample = read_perf_sample(header_of(words), kernel);
  EXPECT_EQ(sample.pid, 1234);
  EXPECT_EQ(sample.tid, 4321);
  EXPECT_EQ(sample.time_ns, 5'000'000'000);
  EXPECT_EQ(sample.cpu, 1);
  EXPECT_EQ(sample.weight, 1'001'001);
  ASSERT_EQ(sample.kernel.size(), 2U);  // without the markers
  EXPECT_EQ(sample.kernel[0], 0xffffffff81000010);
  EXPECT_EQ(sample.user, RawSample::User::kCopied);
  EXPECT_EQ(sample.registers.sp(), 0x7007U);
  EXPECT_EQ(sample.registers.pc(), 0x7008U);
  EXPECT_EQ(sample.copy.address, 0x7007U);
  EXPECT_EQ(sample.copy.bytes.size(), 48U);
}

TEST(PerfSampleRecord, WithoutUserPart) {
  const auto words = whole_sample(PERF_SAMPLE_REGS_ABI_NONE);
  std::vector<uint64_t> kernel;
  const RawSample sample = read_perf_sample(header_of(words), kernel);
  EXPECT_EQ(sample.user, RawSample::User::kNone);
  EXPECT_TRUE(sample.copy.bytes.empty());
  EXPECT_EQ(sample.kernel.size(), 2U);
}

TEST(PerfSampleRecord, OfAThreadThatHasAllButEnded) {
  auto words = whole_sample();
  words[2] = uint64_t{UINT32_MAX} << 32 | 1234;
  std::vector<uint64_t> kernel;
  const RawSample sample = read_perf_sample(header_of(words), kernel);
  EXPECT_EQ(sample.pid, 1234);
  EXPECT_EQ(sample.tid, -1);
}

TEST(PerfSampleRecord, OfA32BitProgram) {
  const auto words = whole_sample(PERF_SAMPLE_REGS_ABI_32);
  std::vector<uint64_t> kernel;
  EXPECT_EQ(read_perf_sample(header_of(words), kernel).user, RawSample::User::k32Bit);
}

TEST(PerfSampleRecord, CutAnywhere) {
  const auto whole = whole_sample();
  for (size_t kept = 1; kept < whole.size(); ++kept) {
    std::vector<uint64_t> words(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(kept));
    perf_event_header header{PERF_RECORD_SAMPLE, 0, static_cast<uint16_t>(kept * 8)};
    std::memcpy(words.data(), &header, sizeof header);
    std::vector<uint64_t> kernel;
    const RawSample sample = read_perf_sample(header_of(words), kernel);
    touch(sample);
    EXPECT_LE(sample.copy.bytes.size(), kept * 8);
    EXPECT_EQ(sample.pid, kept > 2 ? 1234 : 0) << kept;
  }
}

TEST(PerfSampleRecord, AnyWordMayBeAnything) {
  std::mt19937_64 random(17);
  const uint64_t odd[] = {
      0, 1, 8, 63, 64, 65, UINT32_MAX, UINT64_MAX, UINT64_MAX / 8 + 1, uint64_t{1} << 61};
  for (int round = 0; round < 50'000; ++round) {
    auto words = whole_sample();
    for (int i = 0; i < 3; ++i) {
      const size_t at = 1 + random() % (words.size() - 1);
      words[at] = random() % 2 == 0 ? odd[random() % std::size(odd)] : random();
    }
    std::vector<uint64_t> kernel;
    const RawSample sample = read_perf_sample(header_of(words), kernel);
    touch(sample);
    ASSERT_LE(sample.kernel.size(), words.size());
    ASSERT_LE(sample.copy.bytes.size(), words.size() * 8);
  }
}

}  // namespace
}  // namespace fathom
