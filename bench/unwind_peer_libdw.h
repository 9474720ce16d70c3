// SPDX-License-Identifier: Apache-2.0
// libdw unwinding the same samples, the way perf does it: modules reported once, then registers and
// stack copies handed to it sample by sample. Opened at run time; absent() where its header or
// library is not there. One thread.
#pragma once

#include <dlfcn.h>

#include "../tests/symbol/unwind_sample_file.h"

#if __has_include(<elfutils/libdwfl.h>)
#include <elfutils/libdwfl.h>

namespace fathom {

class LibdwPeer {
 public:
  explicit LibdwPeer(const MappedModules& modules) {
    library_ = dlopen("libdw.so.1", RTLD_NOW);
    if (library_ == nullptr) return;
    call<decltype(dwfl_report_begin)>("dwfl_report_begin")(begin());
    for (const auto& [name, bias] : modules.biases()) {
      if (name.starts_with('[')) continue;
      call<decltype(dwfl_report_elf)>("dwfl_report_elf")(dwfl_, name.c_str(), name.c_str(), -1,
                                                         bias, true);
    }
    call<decltype(dwfl_report_end)>("dwfl_report_end")(dwfl_, nullptr, nullptr);
    static const Dwfl_Thread_Callbacks kCallbacks = {next_thread,   get_thread, read_memory,
                                                     set_registers, nullptr,    nullptr};
    attached_ = call<decltype(dwfl_attach_state)>("dwfl_attach_state")(dwfl_, nullptr, 1,
                                                                       &kCallbacks, this);
    frames_of_ = call<decltype(dwfl_getthread_frames)>("dwfl_getthread_frames");
    frame_pc_ = call<decltype(dwfl_frame_pc)>("dwfl_frame_pc");
    set_all_ = call<decltype(dwfl_thread_state_registers)>("dwfl_thread_state_registers");
    set_pc_ = call<decltype(dwfl_thread_state_register_pc)>("dwfl_thread_state_register_pc");
  }

  [[nodiscard]] bool absent() const { return library_ == nullptr || !attached_; }

  const std::vector<uint64_t>& unwind(const TruthSample& sample) {
    sample_ = &sample;
    addresses_.clear();
    frames_of_(dwfl_, 1, on_frame, this);
    return addresses_;
  }

 private:
  template <class F>
  F* call(const char* name) {
    return reinterpret_cast<F*>(dlsym(library_, name));
  }
  Dwfl* begin() {
    static Dwfl_Callbacks callbacks = {};
    callbacks.find_elf = call<decltype(dwfl_build_id_find_elf)>("dwfl_build_id_find_elf");
    callbacks.find_debuginfo = [](Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*,
                                  const char*, GElf_Word, char**) { return -1; };
    return dwfl_ = call<decltype(dwfl_begin)>("dwfl_begin")(&callbacks);
  }

  static pid_t next_thread(Dwfl*, void*, void** thread) {
    if (*thread != nullptr) return 0;
    *thread = thread;
    return 1;
  }
  static bool get_thread(Dwfl*, pid_t, void* self, void** thread) {
    *thread = self;
    return true;
  }
  static bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* to, void* argument) {
    const StackCopy& copy = static_cast<LibdwPeer*>(argument)->sample_->copy;
    const uint64_t offset = address - copy.address;
    if (offset > copy.bytes.size() - 8) return false;
    std::memcpy(to, copy.bytes.data() + offset, 8);
    return true;
  }
  static bool set_registers(Dwfl_Thread* thread, void* argument) {
    auto& self = *static_cast<LibdwPeer*>(argument);
    const auto& values = self.sample_->registers.value;
    std::array<Dwarf_Word, unwind_arch::kRegisters> words;
    std::copy(values.begin(), values.end(), words.begin());
    self.set_pc_(thread, values[unwind_arch::kPc]);
    return self.set_all_(thread, 0, static_cast<unsigned>(words.size()), words.data());
  }
  static int on_frame(Dwfl_Frame* frame, void* argument) {
    auto& self = *static_cast<LibdwPeer*>(argument);
    Dwarf_Addr pc = 0;
    if (!self.frame_pc_(frame, &pc, nullptr)) return DWARF_CB_ABORT;
    self.addresses_.push_back(pc);
    return DWARF_CB_OK;
  }

  void* library_ = nullptr;
  Dwfl* dwfl_ = nullptr;
  bool attached_ = false;
  decltype(&dwfl_getthread_frames) frames_of_ = nullptr;
  decltype(&dwfl_frame_pc) frame_pc_ = nullptr;
  decltype(&dwfl_thread_state_registers) set_all_ = nullptr;
  decltype(&dwfl_thread_state_register_pc) set_pc_ = nullptr;
  const TruthSample* sample_ = nullptr;
  std::vector<uint64_t> addresses_;
};

}  // namespace fathom

#else

namespace fathom {

class LibdwPeer {
 public:
  explicit LibdwPeer(const MappedModules&) {}
  [[nodiscard]] bool absent() const { return true; }
  const std::vector<uint64_t>& unwind(const TruthSample&) { return addresses_; }

 private:
  std::vector<uint64_t> addresses_;
};

}  // namespace fathom

#endif
