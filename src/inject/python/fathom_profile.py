# SPDX-License-Identifier: Apache-2.0
"""The function profile of one Python process, 3.8 and later, by the interpreter's own hooks.

Exact (FATHOM_PYTHON=exact): sys.monitoring (3.12 and later) or sys.setprofile sees every call and return. Per function
and thread: calls, calls made from it, exclusive and inclusive time. As in cProfile, a generator is called each time it
continues, and the inclusive time of a recursive function is counted once.

Sampled (FATHOM_PYTHON=sample or wall): fathom_samples.py.

The profile is written to FATHOM_PYTHON_FOLDER about once per second, before exec and at the end. Each write replaces
the process's previous file, so a killed process loses at most a second.
"""
import atexit
import functools
import json
import os
import sys
import threading
import time

from _fathom_rows import LEAVING, Thread, by_identity, row_of_builtin, row_of_code, rows_of
from _fathom_samples import Sampler
from _fathom_sandbox import Sandbox

_FOLDER = os.environ.get("FATHOM_PYTHON_FOLDER")
_MODE = os.environ.get("FATHOM_PYTHON", "exact")
_EVERY_NS = 1_000_000_000
_CALIBRATION_ROUNDS, _CALIBRATION_ROUND, _CALLS_OF_WORK = 7, 40, 3
_ROW_BYTES = 700  # of one function and thread

_clock = time.perf_counter_ns
_threads = []  # of this process: Thread
_lock = threading.Lock()
_written_ns = 0
_cost_ns = 0  # writing profiles and starting
_cost_bytes = 0  # resident memory added by starting
_start_ns, _start_bytes = 0, None
_write_bytes = 0  # at most added by a write
_tool = None  # our id for sys.monitoring; None: sys.setprofile
_local = threading.local()  # with sys.monitoring: the thread's own Thread
_by_tid = {}  # the same by tid
_call_ns = 0  # what the hook adds to a call
_sampler = None  # fathom_samples.Sampler
_sandbox = Sandbox()


def _row_of_builtin(thread, function):
    row = row_of_builtin(thread, function)
    if function in LEAVING:  # with the call that does not return
        row[0] += 1
        _write(1)
        row[0] -= 1
    return row


def _hook_of(thread):
    functions, methods, stack = thread.functions, thread.methods, thread.stack
    clock, unbound_types, type_, id_ = _clock, by_identity, type, id

    def hook(frame, event, argument):
        now = clock()
        if event == "call" or event == "c_call":
            if event == "call":
                row = functions.get(id_(frame.f_code))
                if row is None:
                    row = row_of_code(thread, frame.f_code)
            else:
                owner = argument.__self__
                kind = type_(owner)
                if kind in unbound_types:
                    row = functions.get(id_(argument))
                else:
                    names = methods.get(id_(owner) if kind is type_ else id_(kind))
                    row = names.get(argument.__name__) if names is not None else None
                if row is None:
                    row = _row_of_builtin(thread, argument)
            row[0] += 1
            row[4] += 1
            if stack:
                stack[-1][0][1] += 1
            else:
                thread.top_calls += 1
            stack.append([row, now, 0])
            return
        if stack:  # what was running when the hook was set returns, too
            row, begun, inner = stack.pop()
            took = now - begun
            row[4] -= 1
            row[2] += took - inner
            if row[4] == 0:
                row[3] += took
            if stack:
                stack[-1][2] += took
            else:
                thread.end = now
        if now - _written_ns > _EVERY_NS:
            _write()

    return hook


def _follow_this_thread():
    thread = Thread(not _threads)
    _threads.append(thread)
    return _hook_of(thread)


def _first_event(frame, event, argument):
    """In a new thread: its own hook takes over."""
    hook = _follow_this_thread()
    sys.setprofile(hook)
    hook(frame, event, argument)


# The same as the hook above for sys.monitoring. It stands twice for speed: shared, in three ways that were measured, a
# call costs 4 to 7 % more with 3.12 and 3.13.
def _begin_call(thread, row, now):
    row[0] += 1
    row[4] += 1
    if thread.stack:
        thread.stack[-1][0][1] += 1
    else:
        thread.top_calls += 1
    thread.stack.append([row, now, 0])


def _end_call(thread, now):
    stack = thread.stack
    if stack:  # what was running when the hook was set returns, too
        row, begun, inner = stack.pop()
        took = now - begun
        row[4] -= 1
        row[2] += took - inner
        if row[4] == 0:
            row[3] += took
        if stack:
            stack[-1][2] += took
        else:
            thread.end = now
    if now - _written_ns > _EVERY_NS:
        _write()


def _this_thread():
    try:
        return _local.thread
    except AttributeError:
        pass
    thread = _by_tid.get(threading.get_native_id())
    if thread is not None:  # its thread-local objects are being freed, which calls functions
        return thread
    thread = _local.thread = Thread(not _threads)
    _threads.append(thread)
    _by_tid[thread.tid] = thread
    return thread


def _callbacks():
    """Of sys.monitoring, by event."""
    events, clock = sys.monitoring.events, _clock
    bound, unbound = type(len), type(str.join)

    def called(code, offset, *_):
        thread = _this_thread()
        now = clock()
        row = thread.functions.get(id(code))
        _begin_call(thread, row_of_code(thread, code) if row is None else row, now)

    def returned(code, offset, *_):
        _end_call(_this_thread(), clock())

    def calls(code, offset, function, first):
        kind = type(function)
        if kind is not bound and kind is not unbound:
            return
        thread = _this_thread()
        now = clock()
        if kind is unbound:
            names = thread.methods.get(id(function.__objclass__))
            row = names.get(function.__name__) if names is not None else None
        else:
            owner = function.__self__
            kind = type(owner)
            if kind in by_identity:
                row = thread.functions.get(id(function))
            else:
                names = thread.methods.get(id(owner) if kind is type else id(kind))
                row = names.get(function.__name__) if names is not None else None
        _begin_call(thread, _row_of_builtin(thread, function) if row is None else row, now)

    def came_back(code, offset, function, first):
        if type(function) is bound or type(function) is unbound:
            _end_call(_this_thread(), clock())

    return {events.PY_START: called, events.PY_RESUME: called, events.PY_THROW: called, events.PY_RETURN: returned,
            events.PY_YIELD: returned, events.PY_UNWIND: returned, events.CALL: calls, events.C_RETURN: came_back,
            events.C_RAISE: came_back}


def _monitor():
    """Python 3.12 and later: the interpreter's own events, the same for all threads. False: another tool has the id."""
    global _tool
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None or os.environ.get("FATHOM_PYTHON_HOOK") == "setprofile":
        return False
    events, tool = monitoring.events, monitoring.PROFILER_ID
    if _tool is None:
        try:
            monitoring.use_tool_id(tool, "fathom")
        except ValueError:
            return False
    _tool = tool
    for event, hook in _callbacks().items():
        monitoring.register_callback(tool, event, hook)
    return True


def _wanted_events():
    events = sys.monitoring.events
    return (events.PY_START | events.PY_RESUME | events.PY_THROW | events.PY_RETURN | events.PY_YIELD |
            events.PY_UNWIND | events.CALL)  # C_RETURN and C_RAISE come with CALL


def _stop_hooks():
    if _tool is not None:
        sys.monitoring.set_events(_tool, 0)
    sys.setprofile(None)


def _document():
    now = _clock()
    document = {"pid": os.getpid(), "mode": _MODE, "program": " ".join(sys.argv[:1]) if hasattr(sys, "argv") else "",
                "python": "%d.%d.%d" % sys.version_info[:3],
                "hook": "sys.monitoring" if _tool is not None else "sys.setprofile", "threads": []}
    try:
        document["pid_namespace"] = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        pass
    cost_bytes = _cost_bytes + _write_bytes
    if _sampler is not None:
        document["cost_ns"], document["cost_bytes"] = _cost_ns + _sampler.cost_ns, cost_bytes
        document.update(_sampler.document())
        return document
    alive = sys._current_frames()
    calls = names = 0
    for thread in list(_threads):
        running = thread.stack or thread.main or _latest(thread) and thread.ident in alive
        rows = rows_of(thread, now)
        calls += sum(row[4] for row in rows)
        names += len(rows)
        document["threads"].append({
            "tid": thread.tid, "name": thread.name, "calls": thread.top_calls,
            "inclusive_ns": (now if running else thread.end) - thread.start, "functions": rows})
    document["call_ns"] = _call_ns
    document["cost_ns"] = _cost_ns + calls * _call_ns
    document["cost_bytes"] = cost_bytes + names * _ROW_BYTES
    return document


def _latest(thread):
    """Whether no later thread has its ident: pthreads are reused."""
    return next(other for other in reversed(_threads) if other.ident == thread.ident) is thread


def resident():
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _write(timeout=0):
    global _written_ns, _cost_ns, _write_bytes
    if not _lock.acquire(timeout > 0, timeout or -1):
        return
    hook = sys.getprofile()
    sys.setprofile(None)
    if _sandbox.is_entered():
        _lock.release()
        _stop_hooks()
        return
    begun, before = _clock(), resident()
    try:
        _written_ns = begun
        path = os.path.join(_FOLDER, "%d-%d" % (os.getpid(), _process_mark))
        text = json.dumps(_document())
        with open(path + ".new", "w") as file:
            file.write(text)
        os.rename(path + ".new", path)
        _write_bytes = max(_write_bytes, resident() - before)
    except Exception:  # a full disk must not affect the application
        pass
    finally:
        _written_ns = _clock()
        _cost_ns += _written_ns - begun
        _lock.release()
        sys.setprofile(hook)


def _stop():
    """At exit, with the hooks off. The interpreter ends its threads the hard way, which an image without libgcc_s does
    not survive: the sampling thread ends before."""
    _stop_hooks()
    if _sampler is not None:
        _sampler.stop()
    _write(1)


def _leave_by(function):
    """Sampled: a function of os that ends the program without its exit handlers."""
    @functools.wraps(function)
    def leave(*arguments, **named):
        _write(1)
        return function(*arguments, **named)
    return leave


def _work():
    len(())
    "".strip()


def _calibrate(switch_on, switch_off):
    """What the hook adds to a call, in ns of CPU time: the median of some rounds."""
    def round_ns():
        begun = time.thread_time_ns()
        for _ in range(_CALIBRATION_ROUND):
            _work()
        return time.thread_time_ns() - begun

    added = []
    for _ in range(_CALIBRATION_ROUNDS):
        without = round_ns()
        switch_on()
        try:
            took = round_ns()
        finally:
            switch_off()
        added.append(took - without)
    added.sort()
    return max(0, added[len(added) // 2] // (_CALIBRATION_ROUND * _CALLS_OF_WORK))


def _begin_hooks():
    """The last call switches the hooks on: what follows it would be counted as the program's."""
    global _call_ns, _local
    first = _call_ns == 0
    if _monitor():
        if first:
            _call_ns = _calibrate(lambda: sys.monitoring.set_events(_tool, _wanted_events()), _stop_hooks)
            _local = threading.local()
            _forget_threads()
        _this_thread()
        wanted = _wanted_events()
        _add_start_cost()
        sys.monitoring.set_events(_tool, wanted)
        return
    if first:
        scratch = _hook_of(Thread(not _threads))
        _call_ns = _calibrate(lambda: sys.setprofile(scratch), lambda: sys.setprofile(None))
    threading.setprofile(_first_event)
    hook = _follow_this_thread()
    _add_start_cost()
    sys.setprofile(hook)


def _add_start_cost():
    """Of this process; a forked one has only the time since the fork."""
    global _cost_ns, _cost_bytes
    _cost_ns += _clock() - _start_ns
    if _start_bytes is not None:
        _cost_bytes = max(0, resident() - _start_bytes)


def _forget_threads():
    del _threads[:]
    _by_tid.clear()


def _begin():
    global _process_mark, _written_ns, _lock, _sampler
    _process_mark = time.time_ns()
    _written_ns = _clock()
    _lock = threading.Lock()
    if _MODE != "exact":
        _add_start_cost()
        _sampler = Sampler(_MODE == "wall", _written_ns, _write, _sandbox)
        _sampler.start()
        return
    _begin_hooks()


def _in_child():
    """A forked child is a separate process: it reports none of its parent's calls."""
    global _local, _cost_ns, _cost_bytes, _start_ns, _start_bytes
    _stop_hooks()
    if _sandbox.is_entered():
        return
    _local = threading.local()
    _cost_ns = _cost_bytes = 0
    _start_ns, _start_bytes = _clock(), None
    _forget_threads()
    _begin()


def start(resident_before):
    """`resident_before`: resident memory of the process before this file was imported."""
    global _start_ns, _start_bytes
    if not _FOLDER or not os.path.isdir(_FOLDER) or not _sandbox.watch(_write):
        return
    _start_ns, _start_bytes = _clock(), resident_before
    atexit.register(_stop)
    if _MODE == "exact":  # run before _stop, which then is no call of the program
        if sys.version_info >= (3, 12):
            atexit.register(sys.monitoring.set_events, sys.monitoring.PROFILER_ID, 0)
        atexit.register(sys.setprofile, None)
    else:
        for function in LEAVING:
            setattr(os, function.__name__, _leave_by(function))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_in_child)
    _begin()
