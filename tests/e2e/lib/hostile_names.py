#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile_names.py elf|jit: records a program whose functions have names nobody would choose, from a real ELF file or
from a perf map, and looks at what the recording says: every function is there, and no byte of a name is raw."""
import json
import os
import subprocess
import sys

FATHOM = os.environ["FATHOM"]
LONG = 64 << 10
NAMES = [b"<script>alert(1)</script>", b"quote\" and ' and \\", b"semi;colon;main 17", b"tab\tbell\a\x1b[31mred\r",
         b"\xff\xfe\x80 not UTF-8 \xc3", "ünïcödé ✓ \u202egnp".encode(), b"a$(touch owned)`touch owned`", b"{\"a\": 1}, NULL",
         b"../../../etc/passwd", b"%s%n%d {} {0}", b"=cmd|' /C calc'!A0", b"L" * LONG]
NEWLINE = b"new\nline"  # a perf map ends names there
FUNCTION = """__attribute__((noinline)) void {name}(void) {{
  unsigned long value = 1;
  for (long i = 0; i < 20000000; ++i) {{ value = value * 3 + 1; __asm__ volatile("" : "+r"(value)); }}
}}
"""


def make_elf():
    """A program with names as long as ours, which are then put in their place."""
    names = NAMES + [NEWLINE]
    stand_ins = [(f"f{number}_" + "x" * len(name))[:len(name)] for number, name in enumerate(names)]
    source = "".join(FUNCTION.format(name=name) for name in stand_ins)
    source += "int main(void) {\n" + "".join(f"  {name}();\n" for name in stand_ins) + "  return 0;\n}\n"
    with open("hostile.c", "w", encoding="ascii") as file:
        file.write(source)
    subprocess.run(["gcc", "-O2", "-fno-ipa-icf", "-o", "hostile", "hostile.c"], check=True)
    with open("hostile", "rb") as file:
        data = file.read()
    for name, stand_in in zip(names, stand_ins):
        assert data.count(stand_in.encode() + b"\0") == 1, stand_in[:40]
        data = data.replace(stand_in.encode() + b"\0", name + b"\0")
    with open("hostile", "wb") as file:
        file.write(data)
    return ["./hostile"], names


def make_jit():
    with open("names", "wb") as file:
        file.write(b"\n".join(NAMES) + b"\n")
    return [os.path.join(os.environ["WORKLOADS"], "jit_named"), "names", "20"], NAMES


def query(sql):
    out = subprocess.run([FATHOM, "query", "a", "--json", sql], check=True, stdout=subprocess.PIPE).stdout
    return [tuple(row.values()) for row in json.loads(out)]


def main():
    command, names = {"elf": make_elf, "jit": make_jit}[sys.argv[1]]()
    subprocess.run([FATHOM, "run", "-q", "--probe", "stacks", "-F", "999", "-o", "a", "--"] + command, check=True)
    for (pid,) in query("select pid from processes"):
        if os.path.exists(f"/tmp/perf-{pid}.map"):
            os.unlink(f"/tmp/perf-{pid}.map")
    frames = query("select distinct k.symbol, k.module from samples s join stacks k on s.stack = k.id "
                   "where k.kind = 'native'")
    wanted = "hostile" if sys.argv[1] == "elf" else "[jit]"
    symbols = {symbol for symbol, module in frames if os.path.basename(module) == wanted}
    problems = []
    # The longest is cut or refused, whichever, but in all outputs alike.
    plain = [name.decode() for name in names if name.isascii() and name.decode().isprintable() and len(name) < LONG]
    problems += [f"{name!r} is missing" for name in plain if name not in symbols]
    problems += [f"{symbol[:80]!r} has raw bytes" for symbol in symbols
                 if any(ord(letter) < 32 or 126 < ord(letter) < 160 for letter in symbol)]
    if len(symbols - {"main", "[unknown]"}) < len(names) - 1:
        problems.append(f"{len(names)} functions ran, {len(symbols)} names were found")
    if not any(symbol.startswith("LLLL") for symbol in symbols):
        problems.append("the longest name is missing")
    if query("select count(*) from samples") == [(0,)] or os.path.exists("owned"):
        problems.append("no samples, or a name was executed")
    for problem in problems + [ascii(symbol[:100]) for symbol in symbols if problems]:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
