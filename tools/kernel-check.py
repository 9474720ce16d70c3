# SPDX-License-Identifier: Apache-2.0
"""Compares what tools/kernel-check recorded with what the program did: kernel-check.py FATHOM FOLDER PART."""
import csv
import io
import re
import subprocess
import sys

WRITES, WRITTEN = 23, 23 * 4099
READS = -(-WRITTEN // 1009) + 1  # and the one that finds the end
FUNCTIONS = {"ext4": "ext4_file", "xfs": "xfs_file", "btrfs": "btrfs_file", "tmpfs": "shmem_file", "overlay": "ovl"}


def query(fathom, run, sql):
    text = subprocess.run([fathom, "query", run, "--csv", sql], check=True, stdout=subprocess.PIPE).stdout.decode()
    return list(csv.DictReader(io.StringIO(text)))


def calls(fathom, run, traced):
    table = ("select layer, name, file, 1 as count, bytes, duration_ns as time_ns from spans" if traced else
             "select layer, name, file, count, bytes, time_ns from counters")
    rows = query(fathom, run, f"select layer, name, sum(count) as n, sum(bytes) as b, sum(time_ns) as t from ({table}) "
                 "where file like '%/file' group by all")
    return {(row["layer"], row["name"]): (int(row["n"]), int(row["b"] or 0), int(row["t"] or 0)) for row in rows}


def check(fathom, folder, way, kind):
    run = f"{folder}/{way}-{kind}.fathom"
    seen = calls(fathom, run, way in ("traced", "stacked"))
    prefix = FUNCTIONS[kind]
    wanted = {("sys", "write"): (WRITES, WRITTEN), ("sys", "read"): (READS, WRITTEN),
              ("vfs", "vfs_write"): (WRITES, WRITTEN), ("vfs", "vfs_read"): (READS, WRITTEN),
              (kind, f"{prefix}_write_iter"): (WRITES, WRITTEN), (kind, f"{prefix}_read_iter"): (READS, WRITTEN)}
    with open(f"{folder}/plan", encoding="utf-8") as file:
        absent = {line.split()[1] for line in file if "no such function" in line}  # of this kernel
    wanted = {key: figures for key, figures in wanted.items() if key[1] not in absent}
    wrong = [f"{layer} {name}: {seen.get((layer, name))}, not {figures}" for (layer, name), figures in wanted.items()
             if seen.get((layer, name), (0, 0))[:2] != figures]
    for name in ("write", "read"):
        keys = (("sys", name), ("vfs", f"vfs_{name}"), (kind, f"{prefix}_{name}_iter"))
        times = [seen.get(key, (0, 0, 0))[2] for key in keys if key in wanted]
        if times != sorted(times, reverse=True) or min(times) <= 0:
            wrong.append(f"{name}: an inner call took longer than the outer: {times}")
    lost = query(fathom, run, "select dropped, why from probes where probe = 'io'")[0]
    if lost["dropped"] != "0":
        wrong.append(f"{lost['dropped']} lost: {lost['why']}")
    print(f"{'wrong ' if wrong else 'passed'}  {kind} by {way}" + "".join(f"\n        {line}" for line in wrong))
    return not wrong


def check_requests(fathom, folder, run, layer, wanted):
    rows = query(fathom, f"{folder}/{run}.fathom", f"select name, sum(count) as n, sum(bytes) as b, sum(errors) as e "
                 f"from counters where layer = '{layer}' group by all")
    seen = {row["name"]: (int(row["n"]), int(row["b"] or 0), int(row["e"])) for row in rows}
    wrong = [f"{name}: {seen.get(name)}, not {figures}" for name, figures in wanted.items() if seen.get(name) != figures]
    print(f"{'wrong ' if wrong else 'passed'}  requests of {layer}" + "".join(f"\n        {line}" for line in wrong))
    return not wrong


def counts(path):
    with open(path, encoding="ascii") as file:
        return {key: int(value) for key, value in (line.split() for line in file)}


def megabytes(text, after):
    found = re.search(r"([\d.]+) (kB|MB|GB) " + after, text)
    return float(found.group(1)) * {"kB": 1e-3, "MB": 1, "GB": 1e3}[found.group(2)] if found else None


def check_cgroup(fathom, folder, name, throttled, memory):
    """`throttled`: in all periods or in none; `memory`: whether 106 MiB were needed, or a limit must have room for them."""
    command = [fathom, "report", f"{folder}/cgroup-{name}.fathom", "--as", "sizing"]
    text = " ".join(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode().split())
    before, after = counts(f"{folder}/{name}.before"), counts(f"{folder}/{name}.after")
    periods, times = (after[key] - before[key] for key in ("nr_periods", "nr_throttled"))
    found = re.search(r"throttled in ([\d,]+) of ([\d,]+) periods", text)
    said = tuple(int(number.replace(",", "")) for number in found.groups()) if found else (0, 0)
    wrong = []
    if throttled and not (10 < said[1] <= periods and said[0] <= times and said[0] >= 0.8 * said[1]):
        wrong.append(f"throttled in {said}, the kernel has at most {(times, periods)}")
    if not throttled and (said[0] != 0 or "Warning throttled" in text):
        wrong.append(f"throttled in {said}, the kernel has {(times, periods)}")
    if not throttled and name == "tired" and before["nr_throttled"] < 10:
        wrong.append("it was not throttled before the recording, so that this case shows nothing")
    with open(f"{folder}/{name}.peak", encoding="ascii") as file:
        peak = int(file.read()) / 1e6
    limit = int(re.search(r"Limit \d+m CPU · (\d+)Mi memory", text).group(1)) * 1.048576
    if memory and not (peak >= 111 and limit >= peak):
        wrong.append(f"limit {limit} MB, the kernel's peak is {peak} MB")
    if memory == "needed" and not 111 <= (megabytes(text, "needed") or 0) <= 1.02 * peak:
        wrong.append(f"{megabytes(text, 'needed')} MB needed, the kernel's peak is {peak} MB")
    print(f"{'wrong ' if wrong else 'passed'}  cgroup {name}" + "".join(f"\n        {line}" for line in wrong))
    return not wrong


CGROUPS = {"own": (True, None), "above": (True, None), "below": (True, None), "tired": (False, None),
           "spike": (False, "needed"), "late": (False, "room")}


def main():
    fathom, folder, part = sys.argv[1:4]
    with open(f"{folder}/kernel", encoding="ascii") as file:
        print("kernel", file.read().strip())
    results = []
    if part != "cgroups":
        results = [check(fathom, folder, way, kind) for way in ("ladder", "kprobe", "traced") for kind in FUNCTIONS]
        results.append(check(fathom, folder, "stacked", "ext4"))
        results.append(check_requests(fathom, folder, "block", "block", {"write": (37, 37 * 4096, 0)}))
        results.append(check_requests(fathom, folder, "uring", "io_uring", {
            "write": (23, 94277, 0), "read": (16, 11231, 5), "fsync": (3, 0, 0)}))
    if part != "io":
        results += [check_cgroup(fathom, folder, name, *wanted) for name, wanted in CGROUPS.items()]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    sys.exit(0 if all(results) else 1)


main()
