# SPDX-License-Identifier: Apache-2.0
"""Pushes known values through examples/app/fathom.py, from two threads and a child."""
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/app"))
import fathom  # noqa: E402


def push(name):
    for i in range(23):
        fathom.number(name, 4099 + i, "items")


fathom.mark('begin "quoted"\n\tµ')
other = threading.Thread(target=push, args=("other",))
other.start()
push("main")
other.join()
child = os.fork()
if child == 0:
    for _ in range(7):
        fathom.number("child", 1009)
    os._exit(0)
os.waitpid(child, 0)
with fathom.timer("step"), fathom.rate("steps"):
    time.sleep(0.1)
fathom.number("not a number", float("nan"))
fathom.mark("end")
