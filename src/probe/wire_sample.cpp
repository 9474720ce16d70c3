// SPDX-License-Identifier: Apache-2.0
#include "probe/wire_sample.h"

namespace fathom {
namespace {

UnwindRegisters registers_of(const WireRegisters& from) {
  // By DWARF number.
  const std::array<uint64_t, unwind_arch::kRegisters> values = {
      from.ax, from.dx,  from.cx,  from.bx,  from.si,  from.di,  from.bp,  from.sp, from.r8,
      from.r9, from.r10, from.r11, from.r12, from.r13, from.r14, from.r15, from.ip};
  return {values, unwind_arch::kAllRegisters};
}

RawSample::User user_of(const WireSample& sample) {
  if ((sample.flags & kWireIs32Bit) != 0) return RawSample::User::k32Bit;
  if ((sample.flags & kWireHasUser) == 0) return RawSample::User::kNone;
  return (sample.flags & kWireNoMemory) != 0 ? RawSample::User::kNotInRam
                                             : RawSample::User::kCopied;
}

}  // namespace

RawSample raw_sample(const WireSample& from) {
  RawSample sample;
  sample.time_ns = static_cast<int64_t>(from.time_ns);
  sample.pid = from.pid;
  sample.tid = from.tid;
  sample.cpu = from.cpu;
  sample.weight = static_cast<int64_t>(from.period);
  sample.sampler = from.sampler;
  sample.kernel = {from.kernel, from.kernel_frames};
  sample.user = user_of(from);
  sample.registers = registers_of(from.registers);
  sample.copy = {from.registers.sp,
                 ByteSpan(reinterpret_cast<const uint8_t*>(&from + 1), from.stack_bytes)};
  return sample;
}

}  // namespace fathom
