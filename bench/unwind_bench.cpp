// SPDX-License-Identifier: Apache-2.0
// What unwind tables cost to build and to keep, and what unwinding costs a frame and a sample, on
// samples that a program took of itself, against libdw on the same samples in the same run.
//
//   build/release/bench/unwind_bench [SAMPLES] [ELF FILE ...]
//
// Takes 2,000 samples unless told, and tables of libc, libstdc++ and the largest compiler parts
// present.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "../tests/symbol/unwind_sample_file.h"
#include "base/clock.h"
#include "symbol/unwind_process.h"
#include "unwind_peer_libdw.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 5;

// CPU time of the quickest of some rounds: the machine is shared.
double best_ns(const std::function<void()>& work) {
  double best = 1e18;
  for (int i = 0; i < kRounds; ++i) {
    const int64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    work();
    best = std::min(best, double(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start));
  }
  return best;
}

void bench_table(const std::string& path) {
  auto elf = ElfFile::open(path);
  if (!elf.ok()) return;
  UnwindSections sections;
  const double read_ns = best_ns([&] {
    sections = {};
    (void)add_unwind_sections(elf.value(), sections);
  });
  UnwindTable table;
  const double build_ns = best_ns([&] { table = build_unwind_table(sections.source); });
  const size_t rows = table.rows().starts.size();
  fmt::print(
      "{:<24} {:>8.1f} ms read {:>8.1f} ms built {:>9} rows {:>6} rules {:>6.1f} MB "
      "{:>5} misread\n",
      fs::path(path).filename().string(), read_ns / 1e6, build_ns / 1e6, rows,
      table.rows().rules.size(), double(table.memory_bytes()) / 1e6,
      table.counts().bad_entries + table.counts().bad_programs + table.counts().partly_read);
}

struct Cost {
  double sample_ns = 0, frame_ns = 0;
  size_t frames = 0;
};

Cost cost_of(const std::vector<TruthSample>& samples,
             const std::function<size_t(const TruthSample&)>& unwind) {
  Cost cost;
  for (const TruthSample& sample : samples) cost.frames += unwind(sample);  // warms caches
  const double ns = best_ns([&] {
    for (const TruthSample& sample : samples) unwind(sample);
  });
  cost.sample_ns = ns / double(samples.size());
  cost.frame_ns = ns / double(cost.frames);
  return cost;
}

void print(const char* name, const Cost& cost, size_t samples) {
  fmt::print("{:<24} {:>8.1f} ns a frame {:>8.2f} us a sample {:>8.1f} frames a sample\n", name,
             cost.frame_ns, cost.sample_ns / 1e3, double(cost.frames) / double(samples));
}

// The same through the address spaces of a session.
void bench_session(const std::vector<TruthSample>& samples, const MappedModules& mapped) {
  ModuleCache modules;
  AddressSpaces spaces(modules);
  UnwindCache cache;
  for (const MapEvent& event : mapped.events(getpid())) spaces.map(event);
  ProcessUnwindModules process(spaces, cache);
  process.aim_at(getpid(), INT64_MAX);
  Unwinder unwinder(process);
  UnwoundStack stack;
  const Cost cost = cost_of(samples, [&](const TruthSample& sample) {
    unwinder.unwind(sample.registers, sample.copy, stack);
    return stack.frames.size();
  });
  print("fathom, address spaces", cost, samples.size());
}

void bench_unwinding(const std::string& bytes, const std::string& maps) {
  const std::vector<TruthSample> samples = parse_samples(bytes);
  MappedModules modules(maps);
  Unwinder unwinder(modules);
  UnwoundStack stack;
  size_t complete = 0;
  for (const TruthSample& sample : samples) {
    unwinder.unwind(sample.registers, sample.copy, stack);
    if (stack.end == UnwindEnd::kRoot) ++complete;
  }
  fmt::print("{} samples, {:.2f} % complete\n", samples.size(),
             100 * double(complete) / double(samples.size()));
  const Cost ours = cost_of(samples, [&](const TruthSample& sample) {
    unwinder.unwind(sample.registers, sample.copy, stack);
    return stack.frames.size();
  });
  print("fathom", ours, samples.size());
  bench_session(samples, modules);
  LibdwPeer libdw(modules);
  if (libdw.absent()) {
    fmt::print("libdw is absent: install libdw-dev and build again for the comparison\n");
    return;
  }
  const Cost theirs =
      cost_of(samples, [&](const TruthSample& sample) { return libdw.unwind(sample).size(); });
  print("libdw", theirs, samples.size());
  fmt::print("a frame: {:.1f} times as fast as libdw\n", theirs.frame_ns / ours.frame_ns);
}

int run(const std::string& self, int count, std::vector<std::string> files) {
  if (files.empty())
    files = {"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
             "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus",
             "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
             "/usr/lib/x86_64-linux-gnu/libclang-cpp.so.14"};
  for (const std::string& file : files) bench_table(file);
  const fs::path program =
      fs::absolute(self).parent_path().parent_path() / "workloads" / "unwind_samples";
  const std::string out = fs::temp_directory_path() / fmt::format("unwind-bench-{}", getpid());
  const std::string command = fmt::format("{} timer {} {}", program.string(), count, out);
  const bool ran = std::system(command.c_str()) == 0;
  auto bytes = read_file(out, size_t{1} << 30);
  auto maps = read_file(out + ".maps");
  fs::remove(out);
  fs::remove(out + ".maps");
  if (!ran || !bytes.ok() || !maps.ok()) {
    fmt::print(stderr, "{} did not work\n", command);
    return 1;
  }
  bench_unwinding(bytes.value(), maps.value());
  return 0;
}

}  // namespace
}  // namespace fathom

int main(int count, char** words) {
  const int samples = count > 1 ? std::atoi(words[1]) : 2000;
  return fathom::run(words[0], samples, {words + std::min(count, 2), words + count});
}
