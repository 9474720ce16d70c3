#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recorder_cost.py cpu RECORDING FLAGS... -- COMMAND...: runs COMMAND under `fathom run` and compares the CPU time that the
recording states for the recorder with what wait4(2) accounts to it and its children, less that of the target.

recorder_cost.py bpf: as the target itself, prints the time that the kernel has measured in the BPF programs of the recorder
by now, in nanoseconds (fdinfo of its descriptors; kernel.bpf_stats_enabled must be 1)."""
import json
import os
import re
import subprocess
import sys

# The rest is used when the row is written: closing the journal, the end of the process.
LEAST_SHARE = 0.88


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def recorder():
    """The process named fathom that this one descends from."""
    pid = os.getpid()
    while os.path.basename(os.readlink(f"/proc/{pid}/exe")) != "fathom":
        pid = parent_of(pid)
    return pid


def bpf_run_time_ns():
    folder = f"/proc/{recorder()}/fdinfo"
    times = {}
    for name in os.listdir(folder):
        with open(f"{folder}/{name}", encoding="utf-8") as file:
            text = file.read()
        program, time = (re.search(rf"^{key}:\s*(\d+)$", text, re.M) for key in ("prog_id", "run_time_ns"))
        if program and time:  # a link to a program has the id alone
            times[program.group(1)] = int(time.group(1))
    return sum(times.values())


def compare_cpu(recording, arguments):
    fathom = os.environ["FATHOM"]
    child = subprocess.Popen([fathom, "run", "-q", "-o", recording, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        return f"fathom run ended with {child.returncode}"
    run = json.loads(subprocess.run([fathom, "report", recording, "--as", "json"], check=True,
                                    stdout=subprocess.PIPE).stdout)["run"]
    accounted = round((usage.ru_utime + usage.ru_stime) * 1e9) - run["user_ns"] - run["system_ns"]
    stated = run["recorder_cpu_ns"]
    print(f"stated {stated / 1e6:.2f} ms, accounted {accounted / 1e6:.2f} ms: {stated / accounted:.3f}")
    return 0 if LEAST_SHARE <= stated / accounted <= 1.02 else "the recorder's CPU time is not what was accounted to it"


if __name__ == "__main__":
    if sys.argv[1] == "bpf":
        print(bpf_run_time_ns())
    else:
        sys.exit(compare_cpu(sys.argv[2], sys.argv[3:]))
