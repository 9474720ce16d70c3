#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill_recorder.py TIMES: kills a recorder with SIGKILL at random moments while a busy target runs, TIMES times.

Each time: the target goes on and ends by itself; what is left can be reported, up to a moment shortly before the
kill; a new run of the same name recovers the journal and says so; the recording is whole tables then. At the end
`doctor --clean --yes` removes the cgroups that were left (as root)."""
import csv
import glob
import io
import json
import os
import random
import signal
import subprocess
import sys
import time

FATHOM = os.environ["FATHOM"]
LARGEST_GAP_NS = 2_500_000_000
TARGET = "i=0; until test -e stop{0}; do /bin/true; i=$((i+1)); done; echo $i >count{0}; exit 7"
problems = 0


def complain(number, text):
    global problems
    problems += 1
    print(f"kill {number}: {text}", flush=True)


def fathom(*words):
    done = subprocess.run([FATHOM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def last_gauge_ns(number):
    status, out, err = fathom("report", f"k{number}", "--as", "csv", "--table", "gauges")
    if status != 0:
        complain(number, f"csv: {status} {err}")
        return 0
    return max((int(row["time_ns"]) for row in csv.DictReader(io.StringIO(out))), default=0)


def whole(number, words, allowed=(0,)):
    """Runs a command that must not crash; returns (status, stdout)."""
    status, out, err = fathom(*words)
    if status not in allowed or "terminate called" in err:
        complain(number, f"{' '.join(words)}: status {status}: {err}")
    return status, out


def look_at(number, alive_ns, killed_ns):
    """Looks at what is left of a run that was killed `alive_ns` after its start."""
    if alive_ns < 1_000_000_000:  # perhaps before the first frame was written
        whole(number, ["report", f"k{number}"], (0, 1))
        return
    whole(number, ["report", f"k{number}"])
    text = whole(number, ["report", f"k{number}", "--as", "json"])[1]
    report = json.loads(text)
    if not report["damage"] or report["run"]["end_ns"] is not None:
        complain(number, f"does not say that it was killed: {report['damage']}")
    gap_ns = killed_ns - last_gauge_ns(number)
    if not 0 <= gap_ns <= LARGEST_GAP_NS:
        complain(number, f"{gap_ns / 1e9:.2f} s before the kill are missing")
    if "query" in fathom("--help")[1]:
        out = whole(number, ["query", f"k{number}", "--csv", "SELECT count(*) AS n FROM processes"])[1]
        if int(out.split()[1]) != len(report["processes"]):
            complain(number, f"query counts {out.split()[1]} processes, the report {len(report['processes'])}")


def recover(number, alive_ns):
    """A second run of the name is refused, unless the first was killed before it had made anything."""
    was_there = os.path.exists(f"k{number}.fathom")
    status, _, err = fathom("run", "-o", f"k{number}", "--", "touch", f"ran{number}")
    if (status, os.path.exists(f"ran{number}")) != ((125, False) if was_there else (0, True)):
        complain(number, f"a second run: status {status}: {err}")
    if alive_ns < 1_000_000_000:
        return
    if "recovered" not in err:
        complain(number, f"recovering is not said: {err}")
    if os.path.exists(f"k{number}.fathom/journal") or not os.path.exists(f"k{number}.fathom/runs.parquet"):
        complain(number, "the journal was not turned into tables")
    whole(number, ["report", f"k{number}"])


def once(number):
    recorder = subprocess.Popen([FATHOM, "run", "-q", "-i", "50ms", "-o", f"k{number}", "--", "sh", "-c",
                                 TARGET.format(number)], stderr=subprocess.DEVNULL)
    started_ns = time.monotonic_ns()
    time.sleep(random.choice([random.uniform(0, 0.2), random.uniform(0.2, 2.5)]))
    killed_ns = time.monotonic_ns()
    recorder.send_signal(signal.SIGKILL)
    recorder.wait()
    alive_ns = killed_ns - started_ns
    look_at(number, alive_ns, killed_ns)
    open(f"stop{number}", "w", encoding="ascii").close()
    if alive_ns > 1_000_000_000 and not wait_for(lambda: os.path.exists(f"count{number}")):
        complain(number, "the target did not end by itself")
    recover(number, alive_ns)
    return recorder.pid


def cgroups_of(pids):
    return [folder for pid in pids for folder in
            glob.glob(f"/sys/fs/cgroup/**/fathom-*-{pid}", recursive=True)]


def main():
    seed = int(os.environ.get("SEED", time.time_ns() % 1_000_000))
    print(f"SEED={seed}")
    random.seed(seed)
    times = int(sys.argv[1])
    pids = [once(number) for number in range(times)]
    if os.geteuid() == 0:
        if not cgroups_of(pids):
            complain(times, "no cgroup was left behind: nothing to clean")
        status, out, err = fathom("doctor", "--clean", "--yes")
        left = cgroups_of(pids)
        if status != 0 or left or "removed" not in out:
            complain(times, f"doctor --clean --yes: {status} {out} {err}; left are {left}")
    print(f"{times} kills, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
