// SPDX-License-Identifier: Apache-2.0
#include "symbol/elf_symbols.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "symbol/debug_file.h"
#include "symbol/made_binary.h"
#include "symbol/xz.h"

namespace fathom {
namespace {

std::string name_at(const SymbolTable& table, uint64_t address) {
  const auto symbol = table.find(address);
  return symbol ? std::string(symbol->name) : "-";
}

// Each function that nm knows, at its first and last byte.
void compare_with_nm(const SymbolTable& table, const std::map<uint64_t, NmEntry>& functions) {
  for (auto at = functions.begin(); at != functions.end(); ++at) {
    const auto& [start, entry] = *at;
    const auto first = table.find(start);
    ASSERT_TRUE(first.has_value()) << *entry.names.begin();
    EXPECT_EQ(first->start, start) << *entry.names.begin() << " is found as " << first->name;
    EXPECT_TRUE(entry.names.contains(std::string(first->name))) << first->name;
    const auto next = std::next(at);
    if (entry.size == 0 || (next != functions.end() && next->first < start + entry.size)) continue;
    const auto last = table.find(start + entry.size - 1);
    ASSERT_TRUE(last.has_value()) << *entry.names.begin();
    EXPECT_TRUE(entry.names.contains(std::string(last->name))) << last->name;
  }
}

TEST(ElfSymbols, ThisTestAsNmSays) {
  const TempFolder folder;
  const auto elf = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(elf.ok());
  const ElfSymbols symbols = load_elf_symbols(elf.value());
  const auto functions = nm_functions("/proc/" + std::to_string(getpid()) + "/exe", folder);
  ASSERT_GT(functions.size(), 500U);
  EXPECT_TRUE(symbols.has_symtab);
  EXPECT_EQ(symbols.damaged, 0);
  compare_with_nm(symbols.table, functions);
}

TEST(ElfSymbols, LibcAsNmSays) {
  const TempFolder folder;
  ASSERT_TRUE(shell("cp $(ldd /bin/sh | awk '/libc.so/{print $3}') " + (folder / "libc")));
  const auto elf = ElfFile::open(folder / "libc");
  ASSERT_TRUE(elf.ok());
  const ElfSymbols symbols = load_elf_symbols(elf.value());
  const auto functions = nm_functions(folder / "libc", folder, "-D");
  ASSERT_GT(functions.size(), 1000U);
  compare_with_nm(symbols.table, functions);
}

TEST(ElfSymbols, LocalsAliasesLabelsAndStubs) {
  const TempFolder folder;
  for (const char* options : {"", "-fcf-protection=full", "-static-pie", "-Wl,-z,now"}) {
    ASSERT_TRUE(make_binary(folder, options)) << options;
    const auto elf = ElfFile::open(folder / "made");
    const SymbolTable table = load_elf_symbols(elf.value()).table;
    std::map<std::string, uint64_t> address;
    for (uint32_t i = 0; i < table.size(); ++i)
      address[std::string(table.at(i).name)] = table.at(i).start;
    EXPECT_TRUE(address.contains("hidden_one"));
    EXPECT_TRUE(address.contains("shown_two"));  // and not its alias, which is longer
    EXPECT_EQ(name_at(table, address["unsized"] + 2), "unsized");
    EXPECT_EQ(name_at(table, address["unsized"] + 3), "after_unsized");
    if (std::string(options) == "-static-pie") continue;
    EXPECT_TRUE(address.contains("puts@plt")) << options;
    EXPECT_TRUE(address.contains("printf@plt")) << options;
    EXPECT_TRUE(shell("objdump -d --no-show-raw-insn " + (folder / "made") + " | grep -qi '" +
                      [&] {
                        char text[32];
                        snprintf(text, sizeof text, "%016lx", address["puts@plt"]);
                        return std::string(text);
                      }() +
                      " <puts@plt>'"))
        << options;
  }
}

TEST(ElfSymbols, StrippedWithDebugFileByBuildId) {
  const TempFolder folder;
  ASSERT_TRUE(make_binary(folder));
  const std::string made = folder / "made";
  const auto whole = ElfFile::open(made);
  const SymbolTable expected = load_elf_symbols(whole.value()).table;
  const std::string id = whole.value().build_id_hex();
  const std::string debug = "/usr/lib/debug/.build-id/" + id.substr(0, 2);
  ASSERT_TRUE(shell("mkdir -p " + folder.path() + debug + " && objcopy --only-keep-debug " + made +
                    " " + folder.path() + debug + "/" + id.substr(2) + ".debug && strip -o " +
                    (folder / "stripped") + " " + made));
  const auto stripped = ElfFile::open(folder / "stripped");
  EXPECT_TRUE(wants_debug_file(stripped.value()));
  EXPECT_FALSE(wants_debug_file(whole.value()));
  const Fd root = open_file(folder.path(), O_PATH | O_DIRECTORY).value();
  const int roots[] = {root.get()};
  const auto found = find_debug_file(stripped.value(), "/bin/stripped", roots);
  ASSERT_TRUE(found.ok());
  const SymbolTable table = load_elf_symbols(stripped.value(), &found.value()).table;
  ASSERT_EQ(table.size(), expected.size());
  for (uint32_t i = 0; i < table.size(); ++i) EXPECT_EQ(table.at(i).name, expected.at(i).name);

  // Somebody else's debug file in that place is not taken.
  ASSERT_TRUE(write_file(folder / "made.c", "int main(void) { return 3; }").ok());
  ASSERT_TRUE(shell("cc -Wl,--build-id=sha1 -o " + folder.path() + debug + "/" + id.substr(2) +
                    ".debug " + (folder / "made.c")));
  EXPECT_FALSE(find_debug_file(stripped.value(), "/bin/stripped", roots).ok());
}

TEST(ElfSymbols, DebugLinkByChecksum) {
  const TempFolder folder;
  ASSERT_TRUE(make_binary(folder, "-Wl,--build-id=none"));
  ASSERT_TRUE(shell("cd " + folder.path() +
                    " && mkdir -p opt/.debug && objcopy --only-keep-debug "
                    "made opt/.debug/made.debug && strip -o opt/made made && objcopy "
                    "--add-gnu-debuglink=opt/.debug/made.debug opt/made"));
  const auto elf = ElfFile::open(folder / "opt/made");
  const Fd root = open_file(folder.path(), O_PATH | O_DIRECTORY).value();
  const int roots[] = {root.get()};
  EXPECT_TRUE(find_debug_file(elf.value(), "/opt/made", roots).ok());
  ASSERT_TRUE(shell("printf x >>" + (folder / "opt/.debug/made.debug")));
  EXPECT_FALSE(find_debug_file(elf.value(), "/opt/made", roots).ok());
}

TEST(ElfSymbols, GnuDebugdata) {
  const TempFolder folder;
  ASSERT_TRUE(make_binary(folder));
  ASSERT_TRUE(
      shell("cd " + folder.path() +
            " && objcopy --only-keep-debug made mini && objcopy -S "
            "--remove-section .comment --keep-symbols=/dev/null mini; objcopy "
            "--only-keep-debug made mini && strip --strip-debug mini && xz -k mini && strip "
            "-o packed made && objcopy --add-section .gnu_debugdata=mini.xz packed"));
  const auto elf = ElfFile::open(folder / "packed");
  const ElfSymbols symbols = load_elf_symbols(elf.value());
  EXPECT_EQ(symbols.damaged, 0);
  const SymbolTable expected = load_elf_symbols(ElfFile::open(folder / "made").value()).table;
  EXPECT_EQ(symbols.table.size(), expected.size());

  ASSERT_TRUE(shell("cd " + folder.path() +
                    " && printf 'xxxxxxxx' | dd of=mini.xz bs=1 seek=200 "
                    "conv=notrunc 2>/dev/null && strip -o bad made && objcopy --add-section "
                    ".gnu_debugdata=mini.xz bad"));
  EXPECT_EQ(load_elf_symbols(ElfFile::open(folder / "bad").value()).damaged, 1);
}

TEST(Xz, BombsAreBounded) {
  const TempFolder folder;
  ASSERT_TRUE(shell("head -c 20000000 /dev/zero | xz >" + (folder / "bomb")));
  const std::string packed = read_file(folder / "bomb").value();
  EXPECT_EQ(unpack_xz(packed, 1 << 20).error().code, Code::kCorrupt);
  EXPECT_EQ(unpack_xz(packed, 32 << 20).value().size(), 20'000'000U);
  EXPECT_FALSE(unpack_xz(packed.substr(0, packed.size() - 1), 32 << 20).ok());
  EXPECT_FALSE(unpack_xz("", 1 << 20).ok());
}

}  // namespace
}  // namespace fathom
