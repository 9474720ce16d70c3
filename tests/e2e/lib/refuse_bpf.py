#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""refuse_bpf.py ERRNO WHAT COMMAND...: runs it where bpf() fails, as on a kernel that has none of it (WHAT all) or takes
maps and none of our programs (WHAT load). By a seccomp filter, which the command's children have, too."""
import ctypes
import errno
import os
import platform
import struct
import sys

BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]
PROG_LOAD = 5
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBER_AT, FIRST_ARGUMENT_AT = 0, 16
ALLOW, FAIL = 0x7FFF0000, 0x00050000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2


def main():
    number, what, command = getattr(errno, sys.argv[1]), sys.argv[2], sys.argv[3:]
    steps = [(LOAD_WORD, 0, 0, NUMBER_AT), (JUMP_IF_EQUAL, 0, 1 if what == "all" else 3, BPF)]
    if what == "load":
        steps += [(LOAD_WORD, 0, 0, FIRST_ARGUMENT_AT), (JUMP_IF_EQUAL, 0, 1, PROG_LOAD)]
    steps += [(RETURN, 0, 0, FAIL | number), (RETURN, 0, 0, ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, MODE_FILTER, program, 0, 0)):
        if libc.prctl(*arguments) != 0:
            sys.exit(f"prctl {arguments[0]}: {os.strerror(ctypes.get_errno())}")
    os.execvp(command[0], command)


main()
