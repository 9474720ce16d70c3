#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""on_terminal.py [--size ROWSxCOLUMNS] [--send TEXT-AFTER:BYTES]... -- COMMAND: runs it on a terminal of its own.

Everything that the terminal gets is written to stdout, byte by byte; --send types BYTES (C escapes) once
TEXT-AFTER has been seen since the last one. Exits with the command's status, 98 after 40 s of silence."""
import argparse
import fcntl
import os
import pty
import select
import struct
import sys
import termios


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", default="24x80")
    parser.add_argument("--send", action="append", default=[])
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def follow(master, sends):
    seen = b""
    while True:
        if not select.select([master], [], [], 40)[0]:
            return False
        try:
            data = os.read(master, 65536)
        except OSError:  # the last one closed the terminal
            return True
        if not data:
            return True
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        seen += data
        while sends and sends[0][0] in seen:
            after, typed = sends.pop(0)
            seen = seen[seen.index(after) + len(after):]
            os.write(master, typed)


def main():
    options = parse()
    sends = []
    for send in options.send:
        after, _, typed = send.rpartition(":")
        sends.append((after.encode(), typed.encode().decode("unicode_escape").encode("latin-1")))
    rows, columns = (int(number) for number in options.size.split("x"))
    pid, master = pty.fork()
    if pid == 0:  # the size before anybody can ask for it
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execvp(options.command[0], options.command)
    if not follow(master, sends):
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        return 98
    status = os.waitpid(pid, 0)[1]
    return os.waitstatus_to_exitcode(status) % 256


if __name__ == "__main__":
    sys.exit(main())
