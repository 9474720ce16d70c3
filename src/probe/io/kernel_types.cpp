// SPDX-License-Identifier: Apache-2.0
#include "probe/io/kernel_types.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "base/bpf.h"
#include "base/text.h"
#include "base/tracefs.h"

namespace fathom {
namespace {

constexpr std::string_view kTracepointPrefix = "btf_trace_";
constexpr size_t kMostEventsBytes = size_t{4} << 20;
constexpr int kMostTypedefs = 16;
constexpr uint8_t kMostArguments = 6;  // that programs on functions are given

// Past typedefs and qualifiers; whether one of the names on the way was `name`.
const btf_type* plain(const btf* types, uint32_t id, std::string_view name = {},
                      bool* named = nullptr) {
  const btf_type* type = btf__type_by_id(types, id);
  for (int i = 0; type != nullptr && i < kMostTypedefs; ++i) {
    if (!btf_is_typedef(type) && !btf_is_mod(type)) return type;
    if (named != nullptr && btf_is_typedef(type) &&
        name == btf__name_by_offset(types, type->name_off))
      *named = true;
    type = btf__type_by_id(types, type->type);
  }
  return type;
}

WireHookFile file_in(const btf* types, uint32_t id) {
  struct Known {
    std::string_view name;
    WireHookFile file;
  };
  static constexpr std::array kKnown = {Known{"file", kHookOfFile},
                                        Known{"inode", kHookOfInode},
                                        Known{"dentry", kHookOfDentry},
                                        Known{"path", kHookOfPath},
                                        Known{"address_space", kHookOfMapping},
                                        Known{"folio", kHookOfFolio},
                                        Known{"kiocb", kHookOfKiocb}};
  const btf_type* pointer = plain(types, id);
  if (pointer == nullptr || !btf_is_ptr(pointer)) return kHookNoFile;
  const btf_type* target = plain(types, pointer->type);
  if (target == nullptr || (!btf_is_struct(target) && !btf_is_fwd(target))) return kHookNoFile;
  const std::string_view name = btf__name_by_offset(types, target->name_off);
  const auto found = std::find_if(kKnown.begin(), kKnown.end(),
                                  [&](const Known& known) { return known.name == name; });
  return found != kKnown.end() ? found->file : kHookNoFile;
}

WireHookResult result_of(const btf* types, uint32_t id) {
  bool bytes = false;
  const btf_type* type = plain(types, id, "ssize_t", &bytes);
  if (bytes) return kResultBytes;
  if (type == nullptr || !btf_is_int(type)) return kResultNone;
  return (btf_int_encoding(type) & BTF_INT_SIGNED) != 0 && type->size == 4 ? kResultErrno
                                                                           : kResultNone;
}

// The first argument of a tracepoint is the kernel's own.
void read_arguments(const btf* types, const btf_type* function, bool own_first,
                    KernelPlace& place) {
  const btf_param* parameters = btf_params(function);
  const int first = own_first ? 1 : 0;
  for (int i = first; i < btf_vlen(function); ++i) {
    const auto number = static_cast<uint8_t>(std::min(i - first, 255));
    if (place.file == kHookNoFile && number < kMostArguments) {
      place.file = file_in(types, parameters[i].type);
      place.file_argument = number;
    }
    place.arguments = static_cast<uint8_t>(number + 1);
  }
}

// GROUP of each tracepoint, as far as the kernel tells.
std::unordered_map<std::string, std::string> tracepoint_groups() {
  std::unordered_map<std::string, std::string> groups;
  const auto text = read_tracefs("available_events", kMostEventsBytes);
  if (!text.ok()) return groups;
  for (const std::string_view line : split_words(text.value(), '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    groups.emplace(line.substr(colon + 1), line.substr(0, colon));
  }
  return groups;
}

}  // namespace

namespace {

// The kernel gives a page per read(2), which makes 1,400 of them; since Linux 6.16 its types can be
// mapped. nullptr: not mapped.
btf* map_kernel_types() {
  const auto file = open_file("/sys/kernel/btf/vmlinux", O_RDONLY);
  struct stat status {};
  if (!file.ok() || fstat(file.value().get(), &status) != 0 || status.st_size <= 0) return nullptr;
  const auto size = static_cast<size_t>(status.st_size);
  void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value().get(), 0);
  if (mapped == MAP_FAILED) return nullptr;
  btf* types = btf__new(mapped, static_cast<uint32_t>(size));
  munmap(mapped, size);
  return types;
}

}  // namespace

Result<std::unique_ptr<KernelTypes>> KernelTypes::load() {
  std::unique_ptr<KernelTypes> types(new KernelTypes);
  btf* kernel = map_kernel_types();
  if (kernel == nullptr) kernel = btf__load_vmlinux_btf();
  if (kernel == nullptr) return bpf_error("read the kernel's types", errno);
  types->sources_.push_back({kernel, "", Fd()});
  types->index_tracepoints(0);
  types->add_modules();
  return types;
}

KernelTypes::~KernelTypes() {
  for (auto source = sources_.rbegin(); source != sources_.rend(); ++source)
    btf__free(source->types);
}

// Those that are loaded now. Without the right to ask for them there are none.
void KernelTypes::add_modules() {
  for (uint32_t id = 0; bpf_btf_get_next_id(id, &id) == 0;) {
    Fd fd(bpf_btf_get_fd_by_id(id));
    if (!fd.valid()) continue;
    std::array<char, 64> name{};
    bpf_btf_info info{};
    info.name = reinterpret_cast<uint64_t>(name.data());
    info.name_len = name.size();
    uint32_t size = sizeof info;
    if (bpf_obj_get_info_by_fd(fd.get(), &info, &size) != 0 || info.kernel_btf == 0) continue;
    if (std::string_view(name.data()) == "vmlinux") continue;
    btf* types = btf__load_from_kernel_by_id_split(id, sources_.front().types);
    if (types == nullptr) continue;
    sources_.push_back({types, name.data(), std::move(fd)});
    index_tracepoints(sources_.size() - 1);
  }
}

// The first type of its own; those of modules follow on the kernel's.
uint32_t KernelTypes::first_of(size_t source) const {
  return source == 0 ? 1 : btf__type_cnt(sources_.front().types);
}

void KernelTypes::index_tracepoints(size_t source) {
  const btf* types = sources_[source].types;
  for (uint32_t id = first_of(source); id < btf__type_cnt(types); ++id) {
    const btf_type* type = btf__type_by_id(types, id);
    if (!btf_is_typedef(type)) continue;
    std::string_view name = btf__name_by_offset(types, type->name_off);
    if (!name.starts_with(kTracepointPrefix)) continue;
    name.remove_prefix(kTracepointPrefix.size());
    tracepoints_.try_emplace(name, Found{source, id});
  }
}

void KernelTypes::index_functions() const {
  if (!functions_.empty()) return;
  for (size_t source = 0; source < sources_.size(); ++source) {
    const btf* types = sources_[source].types;
    for (uint32_t id = first_of(source); id < btf__type_cnt(types); ++id) {
      const btf_type* type = btf__type_by_id(types, id);
      if (btf_is_func(type))
        functions_.try_emplace(btf__name_by_offset(types, type->name_off), Found{source, id});
    }
  }
}

const KernelPlace* KernelTypes::place(const std::string& name, bool is_function) const {
  if (is_function) index_functions();
  const Index& names = is_function ? functions_ : tracepoints_;
  const auto found = names.find(name);
  if (found == names.end()) return nullptr;
  const auto [known, added] = places_.try_emplace({name, is_function});
  if (!added) return &known->second;
  const Source& source = sources_[found->second.source];
  KernelPlace& place = known->second;
  place.type = found->second.type;
  place.module = source.module;
  place.module_fd = source.fd.valid() ? source.fd.get() : 0;
  const btf_type* type = plain(source.types, btf__type_by_id(source.types, place.type)->type);
  if (!is_function && type != nullptr && btf_is_ptr(type)) type = plain(source.types, type->type);
  if (type == nullptr || !btf_is_func_proto(type)) return &place;
  read_arguments(source.types, type, !is_function, place);
  if (is_function) place.result = result_of(source.types, type->type);
  return &place;
}

const KernelPlace* KernelTypes::function(const std::string& name) const {
  return place(name, true);
}

const KernelPlace* KernelTypes::tracepoint(const std::string& name) const {
  return place(name, false);
}

std::vector<std::string> KernelTypes::functions_like(const NamePattern& pattern) const {
  index_functions();
  std::vector<std::string> names;
  for (const auto& [name, found] : functions_)
    if (pattern.fits(std::string(name))) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> KernelTypes::tracepoints_like(const NamePattern& pattern) const {
  const auto groups = tracepoint_groups();
  std::vector<std::string> names;
  for (const auto& [view, found] : tracepoints_) {
    std::string name(view);
    const auto group = groups.find(name);
    if (pattern.fits(name) || (group != groups.end() && pattern.fits(group->second + ":" + name)))
      names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace fathom
