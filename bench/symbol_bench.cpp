// SPDX-License-Identifier: Apache-2.0
// How long it takes to read the symbols of a file and to name an address, beside libdw's
// dwfl_module_addrinfo over the same addresses of the same file, and to read the kernel's list.
//
//   build/release/bench/symbol_bench [FILE...]      (this machine's libc and libstdc++ unless told)
//
// libdw is opened at run time; without it there is no comparison.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "symbol/demangle.h"
#include "symbol/elf_symbols.h"
#include "symbol/kernel_names.h"

namespace fathom {
namespace {

constexpr size_t kLookups = 200'000;
constexpr size_t kPeerLookups = 2'000;

// The part of elfutils/libdwfl.h that is used, so that the header is not needed.
struct DwflCallbacks {
  int (*find_elf)(void*, void**, const char*, uint64_t, char**, void**);
  int (*find_debuginfo)(void*, void**, const char*, uint64_t, const char*, const char*, uint32_t,
                        char**);
  int (*section_address)(void*, void**, const char*, uint64_t, const char*, uint32_t, const void*,
                         uint64_t*);
  char** debuginfo_path;
};

class Peer {
 public:
  explicit Peer(const std::string& path) {
    void* library = dlopen("libdw.so.1", RTLD_NOW);
    if (library == nullptr) return;
    const auto load = [&]<class Function>(Function*& function, const char* name) {
      function = reinterpret_cast<Function*>(dlsym(library, name));
      return function != nullptr;
    };
    void* (*begin)(const DwflCallbacks*) = nullptr;
    void (*report_begin)(void*) = nullptr;
    void* (*report)(void*, const char*, const char*, int) = nullptr;
    int (*report_end)(void*, void*, void*) = nullptr;
    if (!load(begin, "dwfl_begin") || !load(report_begin, "dwfl_report_begin") ||
        !load(report, "dwfl_report_offline") || !load(report_end, "dwfl_report_end") ||
        !load(addrinfo_, "dwfl_module_addrinfo") || !load(info_, "dwfl_module_info"))
      return;
    static DwflCallbacks callbacks{};
    callbacks.section_address = reinterpret_cast<decltype(callbacks.section_address)>(
        dlsym(library, "dwfl_offline_section_address"));
    // Separate debug files are for ours to find, not a part of the race.
    callbacks.find_debuginfo = [](void*, void**, const char*, uint64_t, const char*, const char*,
                                  uint32_t, char**) { return -1; };
    dwfl_ = begin(&callbacks);
    if (dwfl_ == nullptr) return;
    report_begin(dwfl_);
    module_ = report(dwfl_, "", path.c_str(), -1);
    report_end(dwfl_, nullptr, nullptr);
    if (module_ != nullptr)
      info_(module_, nullptr, &start_, nullptr, nullptr, nullptr, nullptr, nullptr);
  }
  [[nodiscard]] bool usable() const { return module_ != nullptr; }
  [[nodiscard]] const char* name(uint64_t address) const {
    uint64_t offset = 0;
    Symbol64 symbol{};
    return addrinfo_(module_, start_ + address, &offset, &symbol, nullptr, nullptr, nullptr);
  }

 private:
  struct Symbol64 {
    uint64_t words[3];
  };
  void* dwfl_ = nullptr;
  void* module_ = nullptr;
  uint64_t start_ = 0;
  const char* (*addrinfo_)(void*, uint64_t, uint64_t*, Symbol64*, uint32_t*, void**,
                           uint64_t*) = nullptr;
  const char* (*info_)(void*, void***, uint64_t*, uint64_t*, uint64_t*, uint64_t*, const char**,
                       const char**) = nullptr;
};

double per_item_ns(int64_t started_ns, size_t items) {
  return static_cast<double>(monotonic_ns() - started_ns) / static_cast<double>(items);
}

// Addresses inside symbols, at random.
std::vector<uint64_t> some_addresses(const SymbolTable& table) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < kLookups; ++i) {
    const Symbol symbol = table.at(static_cast<uint32_t>(random() % table.size()));
    addresses.push_back(symbol.start + random() % std::max<uint64_t>(symbol.size, 1));
  }
  return addresses;
}

double peer_ns(const Peer& peer, const std::vector<uint64_t>& addresses) {
  (void)peer.name(addresses[0]);  // reads the table
  const int64_t started = monotonic_ns();
  size_t found = 0;
  for (size_t i = 0; i < kPeerLookups; ++i) found += peer.name(addresses[i]) != nullptr;
  const double each = per_item_ns(started, kPeerLookups);
  if (found < kPeerLookups * 9 / 10)
    fmt::print("  libdw named only {} of {}\n", found, kPeerLookups);
  return each;
}

Status measure_file(const std::string& path) {
  std::vector<double> loads;
  ElfSymbols symbols;
  for (int round = 0; round < 15; ++round) {
    const int64_t started = monotonic_ns();
    TRY_ASSIGN(const ElfFile elf, ElfFile::open(path));
    symbols = load_elf_symbols(elf);
    loads.push_back(per_item_ns(started, 1) / 1e6);
  }
  std::ranges::sort(loads);
  const SymbolTable& table = symbols.table;
  if (table.empty()) return Error{Code::kNotFound, path + " has no symbols"};
  const auto addresses = some_addresses(table);
  const int64_t started = monotonic_ns();
  uint64_t sum = 0;
  for (const uint64_t address : addresses) sum += table.find_index(address);
  const double each = per_item_ns(started, kLookups);
  const int64_t demangling = monotonic_ns();
  const size_t names = std::min<size_t>(table.size(), 20'000);
  for (uint32_t i = 0; i < names; ++i) sum += demangle(table.at(i).name).size();
  fmt::print("{}: {} symbols, {} kB; load {:.2f} ms, lookup {:.0f} ns, demangle {:.0f} ns{}\n",
             path, table.size(), table.memory_bytes() / 1000, loads.front(), each,
             per_item_ns(demangling, names), sum == 1 ? "!" : "");
  const Peer peer(path);
  if (!peer.usable()) {
    fmt::print("  libdw is absent: no comparison\n");
    return {};
  }
  const double theirs = peer_ns(peer, addresses);
  fmt::print("  libdw's dwfl_module_addrinfo {:.0f} ns: {:.0f} times ours\n", theirs,
             theirs / each);
  return {};
}

// Once from the kernel, once from the file that the first one left.
void measure_kernel() {
  const auto symbols = KernelSymbols::load();
  if (!symbols.ok()) {
    fmt::print("kernel: {} ({})\n", symbols.error().message, symbols.error().hint);
    return;
  }
  const uint64_t address = symbols.value().first();
  std::string folder = "/tmp/symbol_bench.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return;
  fmt::print("kernel: {} functions, {} kB; first name, CPU time:", symbols.value().size(),
             symbols.value().memory_bytes() / 1000);
  for (int round = 0; round < 2; ++round) {
    const int64_t started = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    KernelNames names(folder);
    (void)names.find(address);
    fmt::print(" {} {:.1f} ms", names.from_file() ? "by the file" : "by the kernel",
               static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - started) / 1e6);
  }
  fmt::print("\n");
  std::filesystem::remove_all(folder);
}

// Where the loader found a library of this process.
std::string path_of(void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace
}  // namespace fathom

int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc);
  if (files.empty()) {
    files.push_back(fathom::path_of(reinterpret_cast<void*>(&getenv)));
    files.emplace_back("/proc/self/exe");
  }
  for (const std::string& file : files)
    if (const auto measured = fathom::measure_file(file); !measured.ok())
      fmt::print("{}\n", measured.error().message);
  fathom::measure_kernel();
  return 0;
}
