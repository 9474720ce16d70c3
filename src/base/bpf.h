// SPDX-License-Identifier: Apache-2.0
// What every BPF program of ours needs around libbpf: its chatter kept for the error message
// instead of stderr, its errno turned into an Error that says what unlocks it. Any thread; the log
// is per thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace fathom {

// Whether BPF programs that find kernel fields by themselves can work here at all: type information
// is there, and process ids in the kernel are the ones this process sees. Also silences libbpf.
// Call it first.
Status check_bpf();

// Puts the maps of `fds` into a map of maps, each under the key at its index. The kernel waits
// until no program can still see what was there before: once for all of them, where it can
// (Linux 5.17).
Status place_maps(int map_of_maps, std::span<const uint32_t> keys, std::span<const int> fds,
                  std::string_view doing);

// Has the kernel measure the time in BPF programs, in those of others as well, until the descriptor
// is closed. Invalid: it cannot, or this process may not ask for it.
Fd measure_bpf_time();
// Whether it does so anyway (sysctl kernel.bpf_stats_enabled).
bool is_bpf_time_measured();
// The measured time of these programs together.
int64_t bpf_run_time_ns(std::span<const int> programs);

// For an errno of libbpf (its sign does not matter), with the last complaints of libbpf on this
// thread.
[[nodiscard]] Error bpf_error(std::string_view doing, int error_number);

}  // namespace fathom
