// SPDX-License-Identifier: Apache-2.0
// What every BPF program of ours needs around libbpf: its chatter kept for the error message
// instead of stderr, its errno turned into an Error that says what unlocks it. Any thread; the log
// is per thread.
#pragma once

#include <string_view>

#include "base/result.h"

namespace fathom {

// Whether BPF programs that find kernel fields by themselves can work here at all: type information
// is there, and process ids in the kernel are the ones this process sees. Also silences libbpf.
// Call it first.
Status check_bpf();

// For an errno of libbpf (its sign does not matter), with the last complaints of libbpf on this
// thread.
[[nodiscard]] Error bpf_error(std::string_view doing, int error_number);

}  // namespace fathom
