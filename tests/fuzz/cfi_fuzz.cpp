// SPDX-License-Identifier: Apache-2.0
// Builds unwind tables from arbitrary bytes and unwinds with them. The first byte says what the
// bytes are taken for: .eh_frame, .debug_frame, a whole ELF file, a stored table. Whatever comes,
// tables must be sound and unwinding must end within its limit.
//
//   build/fuzz/fuzz/cfi_fuzz -max_total_time=120 CORPUS
#include <cstdlib>

#include "symbol/elf_file.h"
#include "symbol/unwind_sections.h"
#include "symbol/unwind_table_file.h"
#include "symbol/unwinder.h"

namespace fathom {
namespace {

constexpr uint64_t kStack = 0x7ffc00000000;
constexpr size_t kMostFrames = 64;

class OneModule : public UnwindModules {
 public:
  explicit OneModule(const UnwindTable& table) : table_(table) {}
  UnwindModule find(uint64_t address) override { return {address, address + 1, &table_, 0}; }

 private:
  const UnwindTable& table_;
};

void require(bool condition) {
  if (!condition) std::abort();
}

// Every row's first address as the pc, registers and stack from the input.
void use(const UnwindTable& table, ByteSpan bytes) {
  require(UnwindTable::is_sound(table.rows()));
  OneModule modules(table);
  Unwinder unwinder(modules, kMostFrames);
  UnwoundStack stack;
  UnwindRegisters registers;
  for (unsigned i = 0; i < unwind_arch::kRegisters; ++i)
    registers.set(i, kStack + (i < bytes.size() ? bytes[i] * 8U : 0));
  registers.set(unwind_arch::kStackPointer, kStack);
  size_t looked_at = 0;
  for (const uint32_t start : table.rows().starts) {
    registers.set(unwind_arch::kPc, table.rows().base + start);
    unwinder.unwind(registers, {kStack, bytes}, stack);
    require(stack.frames.size() <= kMostFrames);
    if (++looked_at == 64) break;
  }
}

Result<UnwindTable> table_from(uint8_t kind, ByteSpan bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  switch (kind % 4) {
    case 0:
    case 1:
      return build_unwind_table({{{bytes, 0x1000, kind % 4 == 1, (kind & 4) != 0}}, {}});
    case 2: {
      TRY_ASSIGN(const ElfFile elf, ElfFile::from_memory(text));
      return unwind_table_of(elf);
    }
    default:
      return decode_unwind_table(text);
  }
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const fathom::ByteSpan bytes(data + 1, size - 1);
  const auto table = fathom::table_from(data[0], bytes);
  if (table.ok()) fathom::use(table.value(), bytes);
  return 0;
}
