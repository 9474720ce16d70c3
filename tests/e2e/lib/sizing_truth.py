# SPDX-License-Identifier: Apache-2.0
"""What a cgroup had, by its own files, beside what the sizing report says.

sizing_truth.py record NAME OUT   reads the cgroup of the container whose id, or the cgroup whose path, contains NAME
                                  every 10 ms, from its creation on, until it is removed or SIGTERM arrives
sizing_truth.py compare OUT SIZING [CHECK...]   each CHECK is Python over `truth` and `said`, and must be true; OUT may
                                                be -, without a truth of that kind
"""
import glob
import json
import os
import re
import signal
import sys
import time

PERIOD_S = 0.01
MEMORY = {"usage": ("memory.current", "memory.usage_in_bytes"), "peak": ("memory.peak", "memory.max_usage_in_bytes")}
STAT = {"anonymous": ("anon", "total_rss"), "inactive": ("inactive_file", "total_inactive_file")}
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}


def find(name, file):
    """The topmost directory of that name, in whatever tree has the file."""
    for depth in range(1, 8):
        for path in glob.glob("/sys/fs/cgroup" + "/*" * depth):
            if name in os.path.basename(path) and os.path.exists(f"{path}/{file}"):
                return path
    return None


def read(path):
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except OSError:
        return None


def pairs(text):
    return {key: int(value) for key, value in (line.split()[:2] for line in text.splitlines()) if value.isdigit()}


def look(folders):
    """One reading; None where the cgroup is not there (any more)."""
    seen = {"time_ns": time.monotonic_ns()}
    if folders.get("memory"):
        for key, names in MEMORY.items():
            texts = [read(f"{folders['memory']}/{name}") for name in names]
            seen[key] = next((int(text) for text in texts if text), None)
        stat = pairs(read(f"{folders['memory']}/memory.stat") or "")
        for key, names in STAT.items():
            seen[key] = next((stat[name] for name in reversed(names) if name in stat), None)
    if folders.get("cpu"):
        stat = pairs(read(f"{folders['cpu']}/cpu.stat") or "")
        seen.update({"periods": stat.get("nr_periods"), "throttled": stat.get("nr_throttled")})
    known = [value for key, value in seen.items() if key != "time_ns" and value is not None]
    return seen if known else None


def cpu_folder(name):
    for depth in range(1, 8):
        for path in glob.glob("/sys/fs/cgroup" + "/*" * depth):
            if name in os.path.basename(path) and "nr_periods" in (read(f"{path}/cpu.stat") or ""):
                return path
    return None


def record(name, out):
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
    folders, readings, gone = {}, [], 0
    while not ended and gone < 3:
        for kind, locate in (("memory", lambda: find(name, "memory.stat")), ("cpu", lambda: cpu_folder(name))):
            if not folders.get(kind) and len(readings) < 200:
                folders[kind] = locate()
        seen = look(folders)
        gone = gone + 1 if readings and seen is None else 0
        if seen:
            readings.append(seen)
            if len(readings) == 1:
                open(f"{out}.ready", "w", encoding="ascii").close()
        time.sleep(PERIOD_S)
    with open(out, "w", encoding="ascii") as file:
        json.dump({"folders": folders, "readings": readings}, file)


def truth_of(path, from_ns=0, to_ns=1 << 63):
    with open(path, encoding="ascii") as file:
        readings = [one for one in json.load(file)["readings"] if from_ns <= one["time_ns"] <= to_ns]
    truth = {"readings": len(readings)}
    for key in ("usage", "peak", "anonymous", "inactive"):
        values = [one[key] for one in readings if one.get(key) is not None]
        truth[key] = max(values) if values else None
    sets = [one["usage"] - one["inactive"] for one in readings
            if one.get("usage") is not None and one.get("inactive") is not None]
    truth["working_set"] = max(sets) if sets else None
    for key in ("periods", "throttled"):
        values = [one[key] for one in readings if one.get(key) is not None]
        truth[key] = values[-1] - values[0] if values else None
        truth[f"{key}_at_end"] = values[-1] if values else None
    return truth


def size(text):
    value, unit = text.split()
    return float(value.replace(",", "")) * UNITS[unit]


def said_by(path):
    """The values of the first part of a sizing report, or of the part given as FILE:NAME."""
    path, _, part = path.partition(":")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if part:
        text = text[text.index(f"\n{part} needs") + 1:]
    text = " ".join(text.split("\n\n")[0].split())
    said = {"text": text}
    amount = r"([\d,.]+ [kMG]?B) "
    for key, after in (("needed", "needed"), ("peak", "peak of the cgroup, page"), ("anonymous", "anonymous"),
                       ("old_peak", "peak of the cgroup before"), ("cache", "page cache")):
        found = re.search(amount + after, text)
        said[key] = size(found.group(1)) if found else None
    for key in ("Request", "Limit"):
        found = re.search(key + r" (\d+)m CPU · (\d+)Mi memory", text)
        said[f"{key.lower()}_cores"], said[f"{key.lower()}"] = int(found.group(1)) / 1000, int(found.group(2)) * 2**20
    found = re.search(r"throttled in ([\d,]+) of ([\d,]+) periods", text)
    said["throttled"], said["periods"] = (int(n.replace(",", "")) for n in found.groups()) if found else (None, None)
    found = re.search(r"Disk (?:[^·]* read · )?([\d,.]+ [kMG]?B)/s written", text)
    said["disk_written"] = size(found.group(1)) if found else None
    found = re.search(r" limit ([\d,.]+ [kMG]?B)", text)
    said["memory_limit"] = size(found.group(1)) if found else None
    found = re.search(r"cores at most (?:· )?limit ([\d.]+)", text)
    said["cpu_limit"] = float(found.group(1)) if found else None
    for key, after in (("p95", "cores p95 ·"), ("most", "cores at most")):
        found = re.search(r"([\d.]+) " + after, text)
        said[key] = float(found.group(1)) if found else None
    return said


def near(value, other, share=0.02, slack=0):
    return value is not None and other is not None and abs(value - other) <= share * max(value, other) + slack


def compare(out, sizing, checks):
    truth, said = truth_of(out) if out != "-" else {"readings": 1}, said_by(sizing)
    wrong = [check for check in checks if not eval(check, {"truth": truth, "said": said, "near": near})]  # noqa: S307
    for check in wrong:
        print(f"not so: {check}\n  truth {truth}\n  said {said}")
    print("as the kernel has it" if not wrong and truth["readings"] else "wrong")
    return 1 if wrong or not truth["readings"] else 0


if sys.argv[1] == "record":
    record(*sys.argv[2:])
else:
    sys.exit(compare(sys.argv[2], sys.argv[3], sys.argv[4:]))
