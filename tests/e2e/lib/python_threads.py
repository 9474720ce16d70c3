# SPDX-License-Identifier: Apache-2.0
"""Threads that end long before the process. Prints per thread: tid, ns from before its start to after its end."""
import _thread
import threading
import time

ends = []


def work(done=None):
    ends.append(threading.get_native_id())
    time.sleep(0.1)
    if done is not None:
        done.release()


for _ in range(3):
    begun = time.perf_counter_ns()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    print(ends[-1], time.perf_counter_ns() - begun)
# One that the module threading does not know.
lock = _thread.allocate_lock()
lock.acquire()
_thread.start_new_thread(work, (lock,))
lock.acquire()
names = sorted(thread.name for thread in threading.enumerate())
time.sleep(1)
print("known", len(names))
