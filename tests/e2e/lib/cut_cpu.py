#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cut_cpu.py RUN FROM_MS TO_MS: whether a part of a run has the CPU time that its looks tell, of a program that
never uses more than one core. How much of a core it got is up to the machine: only the sums are known."""
import csv
import io
import json
import os
import subprocess
import sys

ROUNDING_NS = 10_000_000  # where the kernel tells ticks


def report(run, *flags):
    command = [os.environ["FATHOM"], "report", run, *flags]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()


def cpu_ns(run, *flags):
    row = json.loads(report(run, "--as", "json", *flags))["run"]
    return row["user_ns"] + row["system_ns"], row["end_ns"] - row["start_ns"]


def told_by_looks(run, *flags):
    """What was added between the first and the last look: of the cgroup where it has two, else of the tree."""
    looks = {}
    for row in csv.DictReader(io.StringIO(report(run, "--as", "csv", "--table", "gauges", *flags))):
        looks.setdefault((row["scope"], row["name"]), []).append((int(row["time_ns"]), float(row["value"])))
    total = 0
    for name in ("cpu_user_total", "cpu_system_total"):
        values = sorted(next(found for scope in ("cgroup", "tree") if len(found := looks.get((scope, name), [])) > 1))
        total += values[-1][1] - values[0][1]
    return total


def main():
    run, start_ms, end_ms = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    flags = ["--from", f"{start_ms}ms", "--to", f"{end_ms}ms"]
    whole, _ = cpu_ns(run)
    part, lasted_ns = cpu_ns(run, *flags)
    told = told_by_looks(run, *flags)
    print(f"{part} of {whole} ns, {told:.0f} by looks")
    print("duration", lasted_ns == (end_ms - start_ms) * 1_000_000)
    print("looks", part == told)
    print("cpu", 0 < part < whole and part <= lasted_ns + 2 * ROUNDING_NS)


if __name__ == "__main__":
    main()
