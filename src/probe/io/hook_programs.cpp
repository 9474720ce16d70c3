// SPDX-License-Identifier: Apache-2.0
#include "probe/io/hook_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/bpf.h"
#include "base/perf_event.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr const char* kConstantsMap = ".rodata.hook";
constexpr size_t kLogBytes = size_t{64} << 10;

bool by_registers(HookRung rung) { return rung == HookRung::kKprobe || rung == HookRung::kUprobe; }

// A number that the kernel tells of one of its event sources; -1: it has none.
int64_t source_number(HookRung rung, const char* file, size_t skip) {
  const std::string path = fmt::format("/sys/bus/event_source/devices/{}/{}",
                                       rung == HookRung::kKprobe ? "kprobe" : "uprobe", file);
  const auto text = read_start(path, 64);
  if (!text.ok() || text.value().size() <= skip) return -1;
  const std::vector<std::string_view> words = split_words(text.value(), '\n');
  const auto number = parse_number(words.front().substr(skip));
  return number.ok() ? number.value() : -1;
}

// kprobes and uprobes are events, which a program is then given to.
Result<Fd> open_probe(const HookSide& side) {
  const int64_t type = source_number(side.rung, "type", 0);
  if (type < 0)
    return Error{Code::kUnsupported, side.rung == HookRung::kKprobe ? "this kernel has no kprobes"
                                                                    : "this kernel has no uprobes"};
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = static_cast<uint32_t>(type);
  attr.config1 = reinterpret_cast<uint64_t>(side.where.c_str());
  attr.config2 = side.offset;
  if (side.kind == kHookLeave) {
    const int64_t bit = source_number(side.rung, "format/retprobe", std::strlen("config:"));
    attr.config |= uint64_t{1} << (bit < 0 ? 0 : bit);
  }
  return open_perf_event(attr, -1, 0);
}

bpf_attach_type attach_type_of(const HookSide& side) {
  if (side.rung == HookRung::kTracepoint) return BPF_TRACE_RAW_TP;
  return side.kind == kHookLeave ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
}

Result<Fd> load_program(const HookSide& side, const bpf_insn* code, size_t length,
                        const FunctionTypes& types) {
  LIBBPF_OPTS(bpf_prog_load_opts, options);
  if (types.count > 0) {
    options.prog_btf_fd = types.types_fd;
    options.func_info = types.records.data();
    options.func_info_rec_size = types.record_bytes;
    options.func_info_cnt = types.count;
  }
  if (!by_registers(side.rung)) {
    options.expected_attach_type = attach_type_of(side);
    options.attach_btf_id = side.place.type;
    options.attach_btf_obj_fd = static_cast<uint32_t>(side.place.module_fd);
  }
  const bpf_prog_type type = by_registers(side.rung) ? BPF_PROG_TYPE_KPROBE : BPF_PROG_TYPE_TRACING;
  Fd loaded(bpf_prog_load(type, "fathom_hook", "GPL", code, length, &options));
  if (loaded.valid()) return loaded;
  const int failed = errno;
  if (side.rung == HookRung::kFentry && failed == EPERM)
    return Error{Code::kPermission, "this kernel takes no programs on functions (" +
                                        std::string(std::strerror(failed)) + ")"};
  // Once more, for what the kernel says of it.
  std::string log(kLogBytes, '\0');
  options.log_buf = log.data();
  options.log_size = static_cast<uint32_t>(log.size());
  options.log_level = 1;
  const Fd again(bpf_prog_load(type, "fathom_hook", "GPL", code, length, &options));
  log.resize(std::strlen(log.c_str()));
  std::string_view last;
  for (const std::string_view line : split_words(log, '\n'))
    if (!line.starts_with("processed") && !line.starts_with("peak_") &&
        !line.starts_with("max_states"))
      last = line;
  return errno_error(fmt::format("load a program ({})", printable(last)), failed);
}

// The event that a kprobe or uprobe is; others need none.
Result<Fd> open_event(const HookSide& side) {
  return by_registers(side.rung) ? open_probe(side) : Result<Fd>(Fd());
}

// Attached as long as the descriptor that is returned is open.
Result<Fd> attach_program(Fd event, int program) {
  if (!event.valid()) {
    Fd link(bpf_raw_tracepoint_open(nullptr, program));
    if (!link.valid()) return errno_error("attach a program");
    return link;
  }
  if (ioctl(event.get(), PERF_EVENT_IOC_SET_BPF, program) != 0 ||
      ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0) != 0)
    return errno_error("give a program to a probe");
  return event;
}

class TryHooks final : public HookAttacher {
 public:
  Status attach(const std::vector<HookSide>& sides) override {
    for (const HookSide& side : sides) TRY(attach_one(side));
    return {};
  }

 private:
  static Status attach_one(const HookSide& side) {
    const bpf_insn nothing[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0},
                                {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
    TRY_ASSIGN(Fd event, open_event(side));
    TRY_ASSIGN(const Fd program, load_program(side, nothing, std::size(nothing), {}));
    TRY_ASSIGN(const Fd attached, attach_program(std::move(event), program.get()));
    return {};
  }
};

}  // namespace

std::unique_ptr<HookAttacher> try_hooks() { return std::make_unique<TryHooks>(); }

// The constants are a map that only this program has, which the kernel reads as it loads it.
Result<Fd> HookPrograms::load(const HookSide& side) {
  WireHook hook{};
  hook.function = function_;
  hook.kind = static_cast<uint8_t>(side.kind);
  hook.file = static_cast<uint8_t>(side.place.file);
  hook.file_argument = side.place.file_argument;
  hook.result = side.place.arguments;
  if (side.kind == kHookLeave && side.rung != HookRung::kTracepoint)
    hook.of_result = static_cast<uint8_t>(side.place.result);
  hook.user = side.rung == HookRung::kUprobe ? 1 : 0;
  LIBBPF_OPTS(bpf_map_create_opts, flags, .map_flags = BPF_F_RDONLY_PROG);
  Fd constants(
      bpf_map_create(BPF_MAP_TYPE_ARRAY, "fathom_hook", sizeof(uint32_t), sizeof hook, 1, &flags));
  const uint32_t zero = 0;
  if (!constants.valid() || bpf_map_update_elem(constants.get(), &zero, &hook, BPF_ANY) != 0 ||
      bpf_map_freeze(constants.get()) != 0)
    return errno_error("make the constants of a program");

  const bool registers = by_registers(side.rung);
  const bpf_program* from =
      registers ? skeleton_.progs.hook_registers : skeleton_.progs.hook_traced;
  const bpf_map* shared = bpf_object__find_map_by_name(skeleton_.obj, kConstantsMap);
  const bpf_insn* first = bpf_program__insns(from);
  std::vector<bpf_insn> code(first, first + bpf_program__insn_cnt(from));
  for (bpf_insn& instruction : code) {
    if (instruction.code == (BPF_LD | BPF_IMM | BPF_DW) &&
        instruction.src_reg == BPF_PSEUDO_MAP_VALUE && instruction.imm == bpf_map__fd(shared))
      instruction.imm = constants.get();
  }
  TRY_ASSIGN(Fd program, load_program(side, code.data(), code.size(),
                                      registers ? registers_types_ : traced_types_));
  constants_.push_back(std::move(constants));
  return program;
}

Status HookPrograms::attach(const std::vector<HookSide>& sides) {
  std::vector<Fd> events, programs, attached;
  // Before programs are loaded, which takes longer: a kernel may have no kprobes at all.
  for (const HookSide& side : sides) {
    TRY_ASSIGN(Fd event, open_event(side));
    events.push_back(std::move(event));
  }
  // The last first: whoever enters is seen to leave.
  for (size_t i = sides.size(); i-- > 0;) {
    TRY_ASSIGN(Fd program, load(sides[i]));
    TRY_ASSIGN(Fd link, attach_program(std::move(events[i]), program.get()));
    programs.push_back(std::move(program));
    attached.push_back(std::move(link));
  }
  for (Fd& program : programs) programs_.push_back(std::move(program));
  for (Fd& link : attached) attached_.push_back(std::move(link));
  return {};
}

int64_t HookPrograms::missed() const {
  int64_t sum = 0;
  for (const Fd& program : programs_) {
    bpf_prog_info info{};
    uint32_t size = sizeof info;
    if (bpf_obj_get_info_by_fd(program.get(), &info, &size) == 0)
      sum += static_cast<int64_t>(info.recursion_misses);
  }
  return sum;
}

}  // namespace fathom
