# SPDX-License-Identifier: Apache-2.0
"""Samples of the stacks of all threads of one Python process, FATHOM_PYTHON_HZ times per second.

By CPU time (FATHOM_PYTHON=sample): a thread gets a sample for each period of CPU time that its kernel clock counted, with
the stack it has when it is looked at. Threads that wait or sleep get none.
By wall time (FATHOM_PYTHON=wall): every thread gets a sample at each look, with the time since the look before.
"""
import os
import sys
import threading
import time

_MAX_DEPTH = 200
_EVERY_NS = 1_000_000_000
_OWN = os.path.dirname(os.path.abspath(__file__))

_clock = time.perf_counter_ns


def _thread_cpu_ns(tid):
    """By the kernel's number of that clock, which fails cleanly where the thread has ended."""
    return time.clock_gettime_ns((~tid << 3) | 6)


class Sampler:
    def __init__(self, wall, now, write, sandbox):
        self.cost_ns = 0  # CPU time of the sampling thread
        self._rate = float(os.environ.get("FATHOM_PYTHON_HZ", "99") or 99)
        self._wall = wall
        self._write = write
        self._sandbox = sandbox
        self._written = now
        self._samples = {}  # by tid and stack: [samples, ns]
        self._taken = 0
        self._enough = threading.Event()
        self._thread = None
        self._native = {}  # tid by ident
        self._last = {}  # stack by tid: for what was used before this probe's exit handler ran
        self._cpu = {}  # by tid: [CPU time at the last look, CPU time without a sample]
        self._cpu_before = time.process_time_ns()

    def start(self):
        # Threads that compute must let the sampling thread in soon, or it would see only those that wait for I/O.
        sys.setswitchinterval(min(sys.getswitchinterval(), 1e-4))
        own = threading.get_native_id()
        self._native[threading.get_ident()] = own
        self._cpu[own] = [_thread_cpu_ns(own), 0]
        self._thread = threading.Thread(target=self._run, name="fathom", daemon=True)
        self._thread.start()

    def stop(self):
        self._enough.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(2)

    def document(self):
        return {"rate_hz": self._rate, "looks": self._taken,
                "cpu_ns": max(0, time.process_time_ns() - self._cpu_before - self.cost_ns),
                "stacks": [[tid, list(stack), count, ns] for (tid, stack), (count, ns) in list(self._samples.items())]}

    def _run(self):
        own = threading.get_ident()
        last = _clock()
        while not self._enough.wait(1.0 / self._rate):
            if self._sandbox.is_entered():
                return
            self.look(own, last)
            last = _clock()
            self.cost_ns = time.thread_time_ns()
            if last - self._written > _EVERY_NS:
                self._written = last
                self._write()
        if not self._sandbox.is_entered():
            self.look(own, last)  # what was used since the last look

    def look(self, own, last):
        now = _clock()
        frames = sys._current_frames()
        for ident, frame in list(frames.items()):
            if ident == own:
                continue
            tid = self._tid(ident)
            count, ns = (1, now - last) if self._wall else self._used(tid)
            if count == 0:
                continue
            stack = _stack_of(frame) or self._last.get(tid)
            if not stack:
                continue
            self._last[tid] = stack
            sample = self._samples.setdefault((tid, stack), [0, 0])
            sample[0] += count
            sample[1] += ns
        self._taken += 1

    def _tid(self, ident):
        if ident not in self._native:
            self._native = {thread.ident: thread.native_id for thread in threading.enumerate()}
        return self._native.get(ident) or 0

    def _used(self, tid):
        """samples, ns: whole periods of CPU time since the last sample."""
        try:
            used = _thread_cpu_ns(tid) if tid else 0
        except OSError:  # ended since
            return 0, 0
        known = self._cpu.get(tid)
        if known is None:  # started since the last look
            known = self._cpu[tid] = [0, 0]
        period = 1e9 / self._rate
        owed = known[1] + used - known[0]
        count = max(0, int(owed / period))
        known[0], known[1] = used, owed - count * period
        return count, int(count * period)


def _stack_of(frame):
    """The outermost function first, without our own and what they call."""
    stack = []
    while frame is not None and len(stack) < _MAX_DEPTH:
        code = frame.f_code
        if code.co_filename.startswith(_OWN):
            stack.clear()
        else:
            stack.append("%s (%s)" % (getattr(code, "co_qualname", code.co_name), os.path.basename(code.co_filename)))
        frame = frame.f_back
    return tuple(reversed(stack))
