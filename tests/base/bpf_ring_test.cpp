// SPDX-License-Identifier: Apache-2.0
// The reading side against a ring laid out as the kernel's, in a file of memory that the test
// writes as the kernel would. The kernel's own is read in
// tests/probe/stacks/sample_source_test.cpp.
#include "base/bpf_ring.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "base/fd.h"

namespace fathom {
namespace {

class BpfRingTest : public ::testing::Test {
 protected:
  static constexpr size_t kData = 4096;

  BpfRingTest()
      : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        file_(memfd_create("ring", MFD_CLOEXEC)) {
    const size_t size = 2 * page_ + 2 * kData;
    EXPECT_EQ(ftruncate(file_.get(), static_cast<off_t>(size)), 0);
    memory_ =
        static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0));
  }
  ~BpfRingTest() override { munmap(memory_, 2 * page_ + 2 * kData); }

  unsigned long& consumer() { return *reinterpret_cast<unsigned long*>(memory_); }
  unsigned long& producer() { return *reinterpret_cast<unsigned long*>(memory_ + page_); }

  // Writes as the kernel: every byte shows up twice, the second time after the ring's end.
  void write_at(size_t at, const void* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) {
      const size_t place = (at + i) % kData;
      const char byte = static_cast<const char*>(bytes)[i];
      memory_[2 * page_ + place] = memory_[2 * page_ + kData + place] = byte;
    }
  }
  void add(const std::string& text, uint32_t flags = 0) {
    const uint32_t word = static_cast<uint32_t>(text.size()) | flags;
    write_at(producer(), &word, sizeof word);
    write_at(producer() + BPF_RINGBUF_HDR_SZ, text.data(), text.size());
    producer() += (text.size() + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
  }
  static std::string text(std::span<const std::byte> record) {
    return {reinterpret_cast<const char*>(record.data()), record.size()};
  }

  size_t page_;
  Fd file_;
  char* memory_ = nullptr;
};

TEST_F(BpfRingTest, RecordsInOrderAndLeftUntilTaken) {
  auto ring = BpfRing::map(file_.get(), kData);
  ASSERT_TRUE(ring.ok());
  EXPECT_TRUE(ring.value().peek().empty());
  add("first");
  add("the second one");
  EXPECT_EQ(text(ring.value().peek()), "first");
  EXPECT_EQ(text(ring.value().peek()), "first");
  EXPECT_EQ(consumer(), 0U);
  ring.value().pop();
  EXPECT_EQ(consumer(), 16U);
  EXPECT_EQ(text(ring.value().peek()), "the second one");
  ring.value().pop();
  EXPECT_TRUE(ring.value().peek().empty());
  EXPECT_EQ(consumer(), producer());
}

TEST_F(BpfRingTest, ARecordBeingWrittenHoldsBackThoseBehindIt) {
  auto ring = BpfRing::map(file_.get(), kData);
  add("busy", BPF_RINGBUF_BUSY_BIT);
  add("done");
  EXPECT_TRUE(ring.value().peek().empty());
  const uint32_t finished = 4;
  write_at(0, &finished, sizeof finished);
  EXPECT_EQ(text(ring.value().peek()), "busy");
}

TEST_F(BpfRingTest, DiscardedRecordsAreSteppedOver) {
  auto ring = BpfRing::map(file_.get(), kData);
  add("gone", BPF_RINGBUF_DISCARD_BIT);
  add("gone too", BPF_RINGBUF_DISCARD_BIT);
  add("kept");
  EXPECT_EQ(text(ring.value().peek()), "kept");
  ring.value().pop();
  EXPECT_EQ(consumer(), producer());
}

TEST_F(BpfRingTest, RecordsAcrossTheEndAreInOnePiece) {
  auto ring = BpfRing::map(file_.get(), kData);
  for (int i = 0; i < 100; ++i) {
    const std::string told(1000 + static_cast<size_t>(i), static_cast<char>('a' + i % 26));
    add(told);
    ASSERT_EQ(text(ring.value().peek()), told);
    ring.value().pop();
  }
}

TEST_F(BpfRingTest, WhatIsNoRingIsRefused) {
  const Fd none(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_FALSE(BpfRing::map(none.get(), kData).ok());
}

}  // namespace
}  // namespace fathom
