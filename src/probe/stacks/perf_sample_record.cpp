// SPDX-License-Identifier: Apache-2.0
#include "probe/stacks/perf_sample_record.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "symbol/unwind_arch.h"

namespace fathom {
namespace {

constexpr uint64_t kFirstMarker = static_cast<uint64_t>(-4095);  // PERF_CONTEXT_MAX

// Walks over the fields of a sample. Past the end everything is 0.
class Fields {
 public:
  explicit Fields(const perf_event_header& header)
      : at_(reinterpret_cast<const char*>(&header) + sizeof(header)),
        end_(reinterpret_cast<const char*>(&header) + header.size) {}

  uint64_t word() {
    uint64_t value = 0;
    if (const auto bytes = take(sizeof value); !bytes.empty())
      std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::span<const uint64_t> words(uint64_t count) {
    if (count > left() / 8) return {};
    const auto bytes = take(count * 8);
    return {reinterpret_cast<const uint64_t*>(bytes.data()), count};
  }
  std::span<const uint8_t> take(uint64_t size) {
    if (size > left()) {
      at_ = end_;
      return {};
    }
    const auto* bytes = reinterpret_cast<const uint8_t*>(at_);
    at_ += size;
    return {bytes, size};
  }

 private:
  [[nodiscard]] size_t left() const { return static_cast<size_t>(end_ - at_); }
  const char* at_;
  const char* end_;
};

}  // namespace

// In the order of the sample_type bits in sample_events.cpp.
RawSample read_perf_sample(const perf_event_header& header, std::vector<uint64_t>& kernel) {
  Fields fields(header);
  RawSample sample;
  fields.word();  // identifier
  const uint64_t ids = fields.word();
  sample.pid = static_cast<int32_t>(ids);  // -1 when the kernel has given the number back
  sample.tid = static_cast<int32_t>(ids >> 32);
  sample.time_ns = static_cast<int64_t>(fields.word());
  sample.cpu = static_cast<uint32_t>(fields.word());
  sample.weight = static_cast<int64_t>(fields.word());
  kernel.clear();
  for (const uint64_t address : fields.words(fields.word()))
    if (address < kFirstMarker) kernel.push_back(address);
  sample.kernel = kernel;
  const uint64_t abi = fields.word();
  if (abi == PERF_SAMPLE_REGS_ABI_NONE) return sample;
  const auto registers = fields.words(std::popcount(unwind_arch::kPerfMask));
  sample.registers = registers_from_perf(unwind_arch::kPerfMask, registers);
  const auto bytes = fields.take(fields.word());
  const uint64_t copied = bytes.empty() ? 0 : std::min<uint64_t>(fields.word(), bytes.size());
  sample.user = abi == PERF_SAMPLE_REGS_ABI_64 ? RawSample::User::kCopied : RawSample::User::k32Bit;
  sample.copy = {sample.registers.sp(), bytes.first(copied)};
  return sample;
}

}  // namespace fathom
