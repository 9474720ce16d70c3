# SPDX-License-Identifier: Apache-2.0
"""One thread computes for some CPU time and then sleeps, another only sleeps. Prints the CPU time in ns of the first."""
import threading
import time


def idle(ended):
    ended.wait()


def burn():
    begun = time.thread_time_ns()
    while time.thread_time_ns() - begun < 1_000_000_000:
        sum(range(1000))
    return time.thread_time_ns() - begun


def rest():
    time.sleep(1)


end = threading.Event()
thread = threading.Thread(target=idle, args=(end,))
thread.start()
print(burn())
rest()
end.set()
thread.join()
