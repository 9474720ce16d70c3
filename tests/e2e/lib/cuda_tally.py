#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cuda_tally.py RECORDING.fathom|FOLDER: whether a recording, or a folder of logs, has exactly the calls that the
workload counted itself in ./tally; that memory came back to nothing; and, in a recording, what calls say of themselves."""
import csv
import glob
import io
import os
import re
import subprocess
import sys


def read_tally():
    sums = {}
    with open("tally", encoding="utf-8") as file:
        for line in file:
            name, *numbers = line.split()
            row = sums.setdefault(name, [0, 0, 0])
            for i, number in enumerate(numbers):
                row[i] += int(number)
    return sums


def query(recording, sql):
    done = subprocess.run([os.environ["FATHOM"], "query", recording, "--csv", sql], check=True, capture_output=True, text=True)
    return list(csv.reader(io.StringIO(done.stdout)))[1:]


def compare(what, found, expected):
    wrong = [f"{key}: {found.get(key)}, expected {expected.get(key)}" for key in sorted(found.keys() | expected.keys()) if found.get(key) != expected.get(key)]
    if wrong:
        sys.exit(f"{what}:\n" + "\n".join(wrong))


def check_recording(recording, tally):
    rows = query(recording, "select name, count(*), coalesce(sum(bytes), 0), count(*) filter (result < 0) from spans where layer = 'cuda' and name not like 'cuGetProc%' group by 1 "
                            "union all select name, sum(count), 0, sum(coalesce(errors, 0)) from counters where layer = 'cuda' group by 1")
    compare("calls", {name: [int(n) for n in numbers] for name, *numbers in rows}, tally)
    asked = {name for name, in query(recording, "select distinct name from counters where layer = 'cuda'")}
    unknown = {name for name in asked if "FromTheFuture" in name}
    asked -= unknown
    if timed := query(recording, "select name from spans where name like '%FromTheFuture%' or name = 'only_counted'"):
        sys.exit(f"what is not known was timed: {timed}")
    if os.environ.get("QUERIES"):
        compare("counted only", {"names": asked}, {"names": set()})
    elif "cuCtxGetDevice" not in asked or any(re.match("cuMem[^G]|cuLaunch|cuStream[SC]", name) for name in asked):
        sys.exit(f"counted only: {asked}")
    said = "not in our list, only counted: " + ", ".join(sorted(unknown))
    if unknown and not query(recording, f"select 1 from probes where probe = 'cuda' and contains(why, '{said}')"):
        sys.exit(said + " is not said")
    if "cuLaunchKernel" not in tally and "cuLaunchKernel_ptsz" not in tally:
        return
    launched = dict(query(recording, "select coalesce(file, ''), count(*) from spans where layer = 'cuda' and name like 'cuLaunch%' and name not like '%HostFunc%' and result = 0 group by 1"))
    times = tally[next(name for name in tally if name.startswith("cuGraphCreate"))][0]
    compare("kernels", {name: int(count) for name, count in launched.items()},
            {"fathom_add": (23 + 9 + 2 + 3) * times, "_Z7vec_addPKfS0_Pfi": 23 * times, 'matmul<float, "<script>">': 9 * times, "unseen_kernel": 2 * times})
    graphs = query(recording, "select distinct file from spans where name like 'cuGraphLaunch%'")
    compare("graphs", {"names": graphs}, {"names": [["graph of 5 nodes, 3 kernels"]]})
    directions = {name: int(count) for name, count in query(recording, "select file, sum(bytes) from spans where name like 'cuMemcpy%' group by 1")}
    compare("directions", directions, {"host to device": times * (11 * 257 + 2 * 1001 + 93), "device to host": times * (5 * 129 + 4 * 500 + 35 + 8),
                                       "device to device": times * (3 * 64 + 33)})
    shapes = query(recording, "select distinct cast(detail as varchar) from spans where file like '%vec_add%' and name like 'cuLaunch%'")
    if not all(re.search(part, shapes[0][0]) for part in ("grid.*3x2x1", "block.*32x4x1", "shared.*16", "stream.*0x57ea0", "device.*0", "context.*0xc0")):
        sys.exit(f"a launch says {shapes}")
    memory = query(recording, "select scope, max(value), arg_max(value, time_ns) from gauges where name = 'allocated' group by 1")
    if not memory or any(float(left) != 0 for _, _, left in memory) and not os.environ.get("LEAK"):
        sys.exit(f"memory: {memory}")
    second = {float(most) for scope, most, _ in memory if scope.startswith("gpu 1 ")}
    if second != {6007.0}:
        sys.exit(f"the second GPU had {second}")
    why = query(recording, "select dropped, why from probes where probe = 'cuda'")
    if why[0][0] != "0":
        sys.exit(f"dropped: {why}")


def printed(name):
    name = re.sub(r"_(ptsz|ptds)$", "", name)
    name = re.sub(r"_v[234]$", "", name)
    return name.replace("HtoD", "H2D").replace("DtoH", "D2H")


def check_logs(folder, tally):
    expected, found, lines = {}, {}, {}
    for name, (count, _, _) in tally.items():
        expected[printed(name)] = expected.get(printed(name), 0) + count
    for path in glob.glob(folder + "/metrics*.log"):
        names = []
        for line in open(path, encoding="utf-8"):
            name, count = re.fullmatch(r"name:(\w+),count:(\d+)(?:,burst:\d+)?\n", line).groups()
            names.append(name)
            found[name] = found.get(name, 0) + int(count)
        first = ["mem_used", "cuInit", "cuMemAlloc", "cuMemFree", "cuLaunchKernel", "cuMemcpyH2D", "cuMemcpyD2H", "cuGetProcAddress"]
        if names[:8] != first:
            sys.exit(f"{path} begins with {names[:8]}")
    if found.pop("mem_used") != int(os.environ.get("LEAK", 0)):
        sys.exit("memory is still in use")
    if found.pop("mem_peak") < 137079 and "cuMemAlloc" in expected:
        sys.exit("the peak is too low")
    found.pop("cuGetProcAddress")
    compare("metrics", {name: count for name, count in found.items() if count != 0}, expected)
    for path in glob.glob(folder + "/timeline*.log"):
        for line in open(path, encoding="utf-8"):
            name = re.fullmatch(r"name:(\w+), start:\d{19}, burst:\d+, bytes:\d+(, kind:-?\d)?\n", line).group(1)
            lines[name] = lines.get(name, 0) + 1
    quiet = re.compile("cuLaunch|cuGraphLaunch|cuGetProcAddress|cuCtxGet|cuDeviceGet|cuDevicePrimaryCtxGet|cuStreamIs|cuMemGetAllocationGranularity|.*FromTheFuture")
    if os.environ.get("FATHOM_CUDA_TIMELINE") == "all":
        quiet = re.compile("cuGetProcAddress|.*FromTheFuture")
        lines.pop("cuGetProcAddress", None)
    compare("timeline", lines, {name: count for name, count in expected.items() if not quiet.match(name)})
    if any(os.path.basename(path).startswith(".") for path in glob.glob(folder + "/.*")):
        sys.exit("something was left in the folder")


if __name__ == "__main__":
    where = sys.argv[1]
    (check_recording if where == "recording" else check_logs)(where, read_tally())
