# SPDX-License-Identifier: Apache-2.0
"""What a recording or a profile.pfw says of libc calls, as {(function, file): [count, bytes, errors]}, and
whether that is what was expected."""
import csv
import io
import os
import re
import subprocess
import sys

# What a function is called where a C library has it under another name.
SAME = {"__xstat": "stat", "__lxstat": "lstat", "__fxstat": "fstat", "mmap64": "mmap", "open64": "open"}
PROFILE = ("select name, file, pid, sum(count) as n, sum(bytes) as b, sum(errors) as e from counters "
           "where layer = 'c' group by 1, 2, 3")
TRACE = ("select name, file, pid, count(*) as n, sum(bytes) as b, "
         "count(*) filter (result < 0 or detail is not null) as e from spans where layer = 'c' group by 1, 2, 3")


def query(run, sql):
    out = subprocess.run([os.environ["FATHOM"], "query", run, "--csv", sql], check=True, stdout=subprocess.PIPE).stdout
    return list(csv.DictReader(io.StringIO(out.decode())))


def label(file):
    """The last part of a path, and `pipe` for any pipe, whose number nobody knows beforehand."""
    return "pipe" if file.startswith("pipe:[") else os.path.basename(file)


def add(table, key, values):
    row = table.setdefault(key, [0, 0, 0])
    for i, value in enumerate(values):
        row[i] += value


def recorded_by(run, mode):
    """{pid: {(function, file): [count, bytes, errors]}}."""
    processes = {}
    for row in query(run, TRACE if mode == "trace" else PROFILE):
        table = processes.setdefault(int(row["pid"]), {})
        add(table, (SAME.get(row["name"], row["name"]), label(row["file"])), [int(row[key] or 0) for key in "nbe"])
    return processes


def total(processes):
    table = {}
    for rows in processes.values():
        for key, values in rows.items():
            add(table, key, values)
    return table


# Neither is a loss: the bytes and the number of such requests are exact.
UNENDED = re.compile(r"[0-9,]+ requests of disks (are counted without time and error: the kernel ran no BPF program when "
                     r"they completed|were in flight when the recording ended)(; )?")


def why_of(run):
    return query(run, "select probe, why from probes where probe = 'io'")[0]["why"]


def of_probe(run):
    """seen, dropped, and why something is missing."""
    row = query(run, "select seen, dropped from probes where probe = 'io'")[0]
    return int(row["seen"]), int(row["dropped"]), UNENDED.sub("", why_of(run))


def differences(found, expected):
    for key in sorted(found.keys() | expected.keys()):
        if found.get(key) != expected.get(key):
            yield f"{key[0]} of '{key[1]}': found {found.get(key)}, expected {expected.get(key)} (count, bytes, errors)"


def compare(run, found, expected):
    """The exit status: 0 when these calls were recorded, no other, and the probe says so."""
    problems = list(differences(found, expected))
    seen, dropped, why = of_probe(run)
    if dropped or (why and not why.startswith("no system calls: ")):  # as an ordinary user
        problems.append(f"{dropped} dropped: {why}")
    others = int(query(run, "select (select count(*) from spans where layer <> 'c') + (select coalesce(sum(count), 0) "
                            "from counters where layer not in ('c', 'counters')) as n")[0]["n"])
    if seen != others + sum(row[0] for row in found.values()):
        problems.append(f"the probe saw {seen} calls, {others} + {sum(row[0] for row in found.values())} are recorded")
    for problem in problems[:8]:
        print(f"{run}: {problem}", file=sys.stderr)
    return 1 if problems else 0
