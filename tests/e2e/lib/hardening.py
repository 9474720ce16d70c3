# SPDX-License-Identifier: Apache-2.0
"""Reads from built files how they are hardened. hardening.py PROGRAM-FOLDER LIBRARY-FOLDER: prints a line per file."""
import os
import re
import struct
import subprocess
import sys

ENDBR64 = b"\xf3\x0f\x1e\xfa"


def readelf(path, *flags):
    return subprocess.run(["readelf", "-W", *flags, path], check=True, capture_output=True, text=True).stdout


def sections(path):
    """Address, offset and size of each section with content."""
    for line in readelf(path, "-S").splitlines():
        found = re.match(r" *\[ *\d+\] \S+ +(\S+) +([0-9a-f]{16}) ([0-9a-f]+) ([0-9a-f]+)", line)
        if found and found[1] not in ("NOBITS", "NULL"):
            yield tuple(int(found[i], 16) for i in (2, 3, 4))


def global_functions(path, names):
    """Name and address of functions that other files, or pointers, may lead to."""
    for line in readelf(path, "-s").splitlines():
        words = line.split()
        if len(words) == 8 and words[3] == "FUNC" and words[4] in ("GLOBAL", "WEAK") and words[6].isdigit() \
                and int(words[2], 0) > 0 and re.search(names, words[7]):
            yield words[7].split("@")[0], int(words[1], 16)


def without_endbr64(path, names):
    """Number of functions, and those that do not begin with the instruction."""
    content, parts = open(path, "rb").read(), list(sections(path))
    count, without = 0, []
    for name, address in global_functions(path, names):
        offset = next((at + address - start for start, at, size in parts if start <= address < start + size), None)
        if offset is None:
            continue
        count += 1
        if content[offset:offset + 4] != ENDBR64:
            without.append(name)
    return count, without


def properties(path, names):
    header, programs, dynamic = readelf(path, "-h"), readelf(path, "-l"), readelf(path, "-d")
    symbols = readelf(path, "-s")
    kind = struct.unpack_from("<H", open(path, "rb").read(18), 16)[0]
    has = {"pie": kind == 3, "relro": "GNU_RELRO" in programs,
           "now": bool(re.search(r"FLAGS_1.*\bNOW\b|\bBIND_NOW\b", dynamic)), "no-exec-stack":
           bool(re.search(r"GNU_STACK.* RW ", programs)), "no-writable-code": not re.search(r"LOAD.* RWE ", programs),
           "stack-protector": "__stack_chk_fail" in symbols, "fortify": bool(re.search(r"__\w+_chk\b", symbols.replace("__stack_chk", "")))}
    count, without = without_endbr64(path, names) if "X86-64" in header else (1, [])
    has["endbr64"] = count > 0 and not without
    if without:
        print(f"{os.path.basename(path)}: {len(without)} of {count} functions without endbr64: {' '.join(without[:5])}")
    return has


def main():
    programs, libraries = sys.argv[1:]
    every = {"pie", "relro", "now", "no-exec-stack", "no-writable-code", "stack-protector", "fortify", "endbr64"}
    library = every - {"stack-protector", "fortify"}  # docs/design/0012 says why
    helper = library - {"endbr64"}  # without symbols, by which it could be seen
    ours = r"6fathom"  # mangled names in our namespace
    exported = r"^[a-z_A-Z0-9]+(@|$)"
    files = [(programs, "fathom", every, ours), (libraries, "fathom-spawn", helper, "^main$"),
             (libraries, "fathom-hold", helper, "^main$"),
             (libraries, "libfathom-io.so", library - {"relro"}, exported),
             (libraries, "libfathom-io-malloc.so", library - {"relro"}, exported),
             (libraries, "libfathom-cuda.so", library, exported)]
    for folder, name, wanted, names in files:
        has = properties(os.path.join(folder, name), names)
        missing = sorted(wanted - {key for key, value in has.items() if value})
        print(f"{name}: " + (f"not hardened: {', '.join(missing)}" if missing else "hardened as documented"))


main()
