// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_table_builder.h"

#include <algorithm>

#include "symbol/cfi_program.h"

namespace fathom {
namespace {

namespace arch = unwind_arch;

constexpr size_t kMostRules = 65'536;
constexpr size_t kMostProbes = 128;  // a half-full table needs a few; a hostile module gets no more
constexpr uint16_t kNoRule = 0;
// Shorter gaps between functions are padding: the row before goes on. The shortest code that has no
// table and matters, a signal trampoline, is longer.
constexpr uint64_t kPadding = 8;

// Rules with numbers, equal ones once. Open addressing; slots hold number + 1.
class RuleNumbers {
 public:
  RuleNumbers() : slots_(1024) {
    UnwindRule none;
    none.mark_changes();
    number_of(none);
  }

  // kMostRules when there are too many.
  size_t number_of(const UnwindRule& rule) {
    const size_t first = hash(rule);
    for (size_t at = first; at < first + kMostProbes; ++at) {
      uint32_t& slot = slots_[at & (slots_.size() - 1)];
      if (slot == 0) return add(rule, slot);
      if (rules_[slot - 1] == rule) return slot - 1;
    }
    return kMostRules;
  }
  std::vector<UnwindRule> take() { return std::move(rules_); }

 private:
  static size_t hash(const UnwindRule& rule) {
    std::array<uint32_t, sizeof rule / 4> words;
    std::memcpy(words.data(), &rule, sizeof rule);
    uint64_t sum = 0;
    for (const uint32_t word : words) sum = (std::rotl(sum, 5) ^ word) * 0x9e3779b97f4a7c15;
    return static_cast<size_t>(sum >> 32);
  }

  size_t add(const UnwindRule& rule, uint32_t& slot) {
    if (rules_.size() == kMostRules) return kMostRules;
    rules_.push_back(rule);
    slot = static_cast<uint32_t>(rules_.size());
    const size_t number = rules_.size() - 1;
    if (rules_.size() * 2 > slots_.size()) grow();
    return number;
  }

  void grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (size_t number = 0; number < rules_.size(); ++number) {
      size_t at = hash(rules_[number]);
      while (slots_[at & (slots_.size() - 1)] != 0) ++at;
      slots_[at & (slots_.size() - 1)] = static_cast<uint32_t>(number + 1);
    }
  }

  std::vector<UnwindRule> rules_;
  std::vector<uint32_t> slots_;
};

// An FDE while it waits for its turn; smaller than a CfiFde, and there are many.
struct Waiting {
  uint64_t start;
  uint64_t end;
  const uint8_t* program;
  uint32_t program_size;
  uint32_t section : 4;
  uint32_t cie : 28;
};
constexpr size_t kMostSections = 16;
constexpr uint32_t kMostCies = uint32_t{1} << 28;

// The signal frame as libc and the vdso describe it is one known layout: one rule, with all
// registers.
void simplify_signal_frame(UnwindRule& rule) {
  const Slot at_pc = Slot::checked(
      Slot::kAtStack, int64_t{rule.cfa_offset} - arch::kSignalStackPointer + arch::kSignalPc);
  if (rule.cfa != CfaKind::kDeref || rule.cfa_register != arch::kStackPointer ||
      rule.cfa_addend != 0 || rule.pc() != at_pc)
    return;
  const int32_t offset = rule.cfa_offset - arch::kSignalStackPointer;
  rule = UnwindRule();
  rule.cfa = CfaKind::kSignal;
  rule.cfa_register = arch::kStackPointer;
  rule.cfa_offset = offset;
  rule.is_signal = 1;
}

class Builder : public CfiRowSink {
 public:
  explicit Builder(const UnwindSource& source) : source_(source) {}

  UnwindTable build() {
    const size_t sections = std::min(source_.sections.size(), kMostSections);
    readers_.reserve(sections);
    for (size_t i = 0; i < sections; ++i) collect(static_cast<uint32_t>(i));
    const auto by_start = [](const Waiting& a, const Waiting& b) {
      return a.start != b.start ? a.start < b.start : a.section < b.section;
    };
    if (!std::is_sorted(waiting_.begin(), waiting_.end(), by_start))
      std::stable_sort(waiting_.begin(), waiting_.end(), by_start);
    if (!waiting_.empty()) rows_.base = waiting_.front().start;
    for (size_t i = 0; i < waiting_.size(); ++i) run(i);
    if (!waiting_.empty()) push(covered_, kNoRule);  // the end marker
    rows_.starts.shrink_to_fit();
    rows_.rule_ids.shrink_to_fit();
    rows_.functions.shrink_to_fit();
    rows_.rules = rules_.take();
    return UnwindTable(std::move(rows_));
  }

  void row(uint64_t start, const UnwindRule& rule) override {
    if (rule.cfa == CfaKind::kRegister && rule.cfa_register == arch::kFramePointer)
      saw_frame_pointer_ = true;
    if (!rule.is_signal) return append(start, number_of(rule));
    UnwindRule simple = rule;
    simplify_signal_frame(simple);
    append(start, number_of(simple));
  }

 private:
  void collect(uint32_t section) {
    CfiReader& reader = readers_.emplace_back(source_.sections[section]);
    while (const std::optional<CfiFde> fde = reader.next()) {
      ++rows_.counts.fdes;
      if (!is_code(fde->start)) {
        ++rows_.counts.outside;
      } else if (fde->cie < kMostCies && fde->program.size() <= UINT32_MAX) {
        waiting_.push_back({fde->start, fde->end, fde->program.data(),
                            static_cast<uint32_t>(fde->program.size()), section & 15,
                            fde->cie & (kMostCies - 1)});
      } else {
        ++rows_.counts.dropped_rows;
      }
    }
    rows_.counts.bad_entries += reader.bad_entries();
    initial_.emplace_back(reader.cies().size());
    for (size_t i = 0; i < reader.cies().size(); ++i) {
      const CfiCie& cie = reader.cies()[i];
      if (!cie.is_usable) continue;
      Initial& initial = initial_.back()[i];
      initial.is_good = run_cie_program(cie, initial.rule) != CfiVerdict::kBad;
    }
  }

  [[nodiscard]] bool is_code(uint64_t address) const {
    const auto holds = [&](const UnwindSource::Range& range) {
      return address >= range.start && address < range.end;
    };
    return source_.code.empty() || std::any_of(source_.code.begin(), source_.code.end(), holds);
  }

  void run(size_t index) {
    const Waiting& at = waiting_[index];
    if (index > 0 && at.start == waiting_[index - 1].start) {  // the earlier section's holds
      ++rows_.counts.overlaps;
      return;
    }
    size_t next = index + 1;
    while (next < waiting_.size() && waiting_[next].start == at.start) ++next;
    const bool is_cut = next < waiting_.size() && waiting_[next].start < at.end;
    if (is_cut) ++rows_.counts.overlaps;
    limit_ = is_cut ? waiting_[next].start : at.end;
    if (at.start > covered_ + kPadding && !rows_.starts.empty()) append(covered_, kNoRule);
    if (const uint64_t offset = at.start - rows_.base; offset <= UINT32_MAX)
      rows_.functions.push_back(static_cast<uint32_t>(offset));
    run_program(at);
    covered_ = limit_;
  }

  void run_program(const Waiting& at) {
    const Initial& initial = initial_[at.section][at.cie];
    if (!initial.is_good) {
      ++rows_.counts.bad_programs;
      return append(at.start, kNoRule);
    }
    const CfiSection& section = source_.sections[at.section];
    const auto offset = static_cast<uint64_t>(at.program - section.bytes.data());
    const CfiFde fde = {at.start, limit_, ByteSpan(at.program, at.program_size),
                        section.address + offset, at.cie};
    saw_frame_pointer_ = false;
    const CfiVerdict verdict =
        run_fde_program(readers_[at.section].cie(at.cie), initial.rule, fde, *this);
    if (saw_frame_pointer_) ++rows_.counts.frame_pointer_fdes;
    if (verdict == CfiVerdict::kBad) ++rows_.counts.bad_programs;
    if (verdict == CfiVerdict::kPartly) ++rows_.counts.partly_read;
  }

  uint16_t number_of(UnwindRule rule) {
    rule.mark_changes();
    const size_t number = rules_.number_of(rule);
    if (number < kMostRules) return static_cast<uint16_t>(number);
    ++rows_.counts.dropped_rows;
    return kNoRule;
  }

  void append(uint64_t start, uint16_t rule) {
    if (rows_.starts.empty() || rows_.rule_ids.back() != rule) push(start, rule);
  }

  void push(uint64_t start, uint16_t rule) {
    const uint64_t offset = start - rows_.base;
    if (offset > UINT32_MAX) {
      ++rows_.counts.dropped_rows;
      return;
    }
    rows_.starts.push_back(static_cast<uint32_t>(offset));
    rows_.rule_ids.push_back(rule);
  }

  struct Initial {
    UnwindRule rule;
    bool is_good = false;
  };

  const UnwindSource& source_;
  std::vector<CfiReader> readers_;
  std::vector<std::vector<Initial>> initial_;
  std::vector<Waiting> waiting_;
  RuleNumbers rules_;
  UnwindTable::Rows rows_;
  uint64_t covered_ = 0;  // where the rows so far end
  uint64_t limit_ = 0;    // where the FDE being run ends
  bool saw_frame_pointer_ = false;
};

}  // namespace

UnwindTable build_unwind_table(const UnwindSource& source) { return Builder(source).build(); }

}  // namespace fathom
