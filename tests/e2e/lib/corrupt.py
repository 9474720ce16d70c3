#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""corrupt.py flip|cut RUN FILE TIMES: damages FILE of RUN in a copy, TIMES times, and looks at the copy with every
command that reads recordings. Each must end by itself, and either show something or say what is wrong."""
import os
import random
import shutil
import subprocess
import sys
import time

FATHOM = os.environ["FATHOM"]
COMMANDS = [("report", "COPY"), ("report", "COPY", "--as", "json"), ("report", "COPY", "--as", "csv"),
            ("report", "COPY", "--as", "csv", "--table", "gauges"), ("pack", "COPY", "-o", "copy.tar"),
            ("convert", "COPY"), ("report", "COPY")]


def damage(how, data):
    if how == "cut":
        return data[:random.randrange(len(data))]
    data = bytearray(data)
    for _ in range(random.choice([1, 1, 3, 40])):
        data[random.randrange(len(data))] ^= random.randrange(1, 256)
    return bytes(data)


def problem_of(words):
    if words[0] == "pack" and os.path.exists("copy.tar"):
        os.unlink("copy.tar")
    done = subprocess.run([FATHOM] + ["copy.fathom" if word == "COPY" else word for word in words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    err = done.stderr.decode()
    if done.returncode not in (0, 1, 2) or "terminate called" in err or "CHECK" in err:
        return f"{' '.join(words)}: status {done.returncode}: {err}"
    if done.returncode != 0 and "fathom: error: " not in err:
        return f"{' '.join(words)}: status {done.returncode} without an error: {err}"
    return None


def main():
    how, run, name, times = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    seed = int(os.environ.get("SEED", time.time_ns() % 1_000_000))
    random.seed(seed)
    with open(f"{run}.fathom/{name}", "rb") as file:
        data = file.read()
    for number in range(times):
        shutil.rmtree("copy.fathom", ignore_errors=True)
        shutil.copytree(f"{run}.fathom", "copy.fathom")
        with open(f"copy.fathom/{name}", "wb") as file:
            file.write(damage(how, data))
        for words in COMMANDS:
            problem = problem_of(words)
            if problem:
                print(f"SEED={seed}, number {number}: {problem}")
                return 1
    print(f"{times} times {how} of {name}: all is said")
    return 0


if __name__ == "__main__":
    sys.exit(main())
