#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_turns.py TOOLS/GPU: whether turns.take has each of its processes work in its turn, and says what one said that
ended too early."""
import os
import sys


def work():
    print("some library says something", flush=True)
    print("ready", flush=True)
    for _ in sys.stdin:
        with open("order", "a", encoding="utf-8") as order:
            order.write(os.environ["ANSWER"] + " ")
        print(float(os.environ["ANSWER"]), flush=True)
    print("the end")


def take(folder):
    sys.path.insert(0, folder)
    import turns
    here, cores = os.getcwd(), sorted(os.sched_getaffinity(0))
    ways = {name: ({**os.environ, "ANSWER": name}, here) for name in ("1", "2.5")}
    print(turns.take([sys.executable, os.path.abspath(__file__), "work"], ways, 3, cores))
    with open("order", encoding="utf-8") as order:
        print("order", order.read())
    try:
        turns.take(["sh", "-c", "echo why >&2; exit 3"], {"1": (dict(os.environ), here)}, 1, cores)
    except RuntimeError as error:
        print(error)


if __name__ == "__main__":
    work() if sys.argv[1] == "work" else take(sys.argv[1])
