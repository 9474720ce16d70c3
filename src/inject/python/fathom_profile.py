# SPDX-License-Identifier: Apache-2.0
"""The function profile of one Python process, 3.8 and later, by the interpreter's own hooks.

Exact (FATHOM_PYTHON=exact): sys.monitoring (3.12 and later) or sys.setprofile sees every call and return. Of each function and thread:
calls, calls made from it, exclusive and inclusive time. As in cProfile, a generator is called each
time it goes on, and a function that calls itself has its inclusive time counted once.

Sampled (FATHOM_PYTHON=sample): a thread looks at all others FATHOM_PYTHON_HZ times a second.

What is known is written to FATHOM_PYTHON_FOLDER about once a second and at the end, as a file a
process that replaces the one before: a killed process loses at most a second.
"""
import atexit
import json
import os
import sys
import threading
import time

_FOLDER = os.environ.get("FATHOM_PYTHON_FOLDER")
_MODE = os.environ.get("FATHOM_PYTHON", "exact")
_RATE = float(os.environ.get("FATHOM_PYTHON_HZ", "99") or 99)
_EVERY_NS = 1_000_000_000
_MOST_DEPTH = 200

_clock = time.perf_counter_ns
_threads = []  # of this process: _Thread
_lock = threading.Lock()
_samples = {}
_taken = 0
_written_ns = 0
_really_exit = os._exit
_enough = threading.Event()
_looker = None
_tool = None  # our id for sys.monitoring; None: sys.setprofile
_local = threading.local()  # with sys.monitoring: the thread's own _Thread


class _Thread:
    """What one thread did. Only that thread changes it."""

    def __init__(self, name):
        self.name = name
        self.tid = threading.get_native_id()
        self.start = _clock()
        self.end = None
        self.top_calls = 0
        # By code object or built-in: [calls, subroutine calls, exclusive ns, inclusive ns, active]
        self.functions = {}
        self.stack = []  # [entry of functions, start, time in callees]


def _hook_of(thread):
    functions, stack, clock = thread.functions, thread.stack, _clock

    def hook(frame, event, argument):
        now = clock()
        if event == "call" or event == "c_call":
            key = frame.f_code if event == "call" else argument
            try:
                entry = functions.get(key)
            except TypeError:  # a built-in of something that cannot be hashed
                key = getattr(argument, "__qualname__", "?")
                entry = functions.get(key)
            if entry is None:
                entry = functions[key] = [0, 0, 0, 0, 0]
            entry[0] += 1
            entry[4] += 1
            if stack:
                stack[-1][0][1] += 1
            else:
                thread.top_calls += 1
            stack.append([entry, now, 0])
            return
        if stack:  # what was running when the hook was set returns, too
            entry, begun, inner = stack.pop()
            took = now - begun
            entry[4] -= 1
            entry[2] += took - inner
            if entry[4] == 0:
                entry[3] += took
            if stack:
                stack[-1][2] += took
        if now - _written_ns > _EVERY_NS:
            _write()

    return hook


def _follow_this_thread():
    thread = _Thread(threading.current_thread().name if _threads else "MainThread")
    _threads.append(thread)
    return _hook_of(thread)


def _first_event(frame, event, argument):
    """In a new thread: its own hook takes over."""
    hook = _follow_this_thread()
    sys.setprofile(hook)
    hook(frame, event, argument)


# The same as the hook above for sys.monitoring. It stands twice for speed: shared, in three ways that were measured, a
# call costs 4 to 7 % more with 3.12 and 3.13.
def _begin_call(thread, key, now):
    try:
        entry = thread.functions.get(key)
    except TypeError:  # a built-in of something that cannot be hashed
        key = getattr(key, "__qualname__", "?")
        entry = thread.functions.get(key)
    if entry is None:
        entry = thread.functions[key] = [0, 0, 0, 0, 0]
    entry[0] += 1
    entry[4] += 1
    if thread.stack:
        thread.stack[-1][0][1] += 1
    else:
        thread.top_calls += 1
    thread.stack.append([entry, now, 0])


def _end_call(thread, now):
    stack = thread.stack
    if stack:  # what was running when the hook was set returns, too
        entry, begun, inner = stack.pop()
        took = now - begun
        entry[4] -= 1
        entry[2] += took - inner
        if entry[4] == 0:
            entry[3] += took
        if stack:
            stack[-1][2] += took
    if now - _written_ns > _EVERY_NS:
        _write()


def _this_thread():
    try:
        return _local.thread
    except AttributeError:
        thread = _local.thread = _Thread(threading.current_thread().name if _threads else "MainThread")
        _threads.append(thread)
        return thread


def _monitor():
    """Python 3.12 and later: the interpreter's own events, the same for all threads. False: another tool has the id."""
    global _tool
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None or os.environ.get("FATHOM_PYTHON_HOOK") == "setprofile":
        return False
    events, tool, clock = monitoring.events, monitoring.PROFILER_ID, _clock
    builtin = (type(len), type(str.join))

    def called(code, offset, *_):
        _begin_call(_this_thread(), code, clock())

    def returned(code, offset, *_):
        _end_call(_this_thread(), clock())

    def calls(code, offset, function, first):
        if isinstance(function, builtin):
            _begin_call(_this_thread(), function, clock())

    def came_back(code, offset, function, first):
        if isinstance(function, builtin):
            _end_call(_this_thread(), clock())

    hooks = {events.PY_START: called, events.PY_RESUME: called, events.PY_THROW: called, events.PY_RETURN: returned,
             events.PY_YIELD: returned, events.PY_UNWIND: returned, events.CALL: calls, events.C_RETURN: came_back,
             events.C_RAISE: came_back}
    if _tool is None:
        try:
            monitoring.use_tool_id(tool, "fathom")
        except ValueError:
            return False
    _tool = tool
    wanted = 0
    for event, hook in hooks.items():
        monitoring.register_callback(tool, event, hook)
        if event not in (events.C_RETURN, events.C_RAISE):  # they come with CALL
            wanted |= event
    _this_thread()
    monitoring.set_events(tool, wanted)
    return True


def _stop_hooks():
    if _tool is not None:
        sys.monitoring.set_events(_tool, 0)
    sys.setprofile(None)


def _name_of(key):
    """name, file, line, kind"""
    code = getattr(key, "co_code", None)
    if code is not None:
        name = getattr(key, "co_qualname", key.co_name)
        return name, key.co_filename, key.co_firstlineno, "python"
    if isinstance(key, str):
        return key, "", 0, "builtin"
    module = getattr(key, "__module__", None) or ""
    owner = getattr(key, "__self__", None)
    name = getattr(key, "__qualname__", None) or getattr(key, "__name__", "?")
    if not module and owner is not None and not isinstance(owner, type(sys)):
        module = type(owner).__module__ or ""
    return (module + "." if module and module != "builtins" else "") + name, "", 0, "builtin"


def _rows_of(thread, now):
    """With what still runs counted up to now, as if it returned."""
    running = {}
    inner = 0
    for entry, begun, callees in reversed(thread.stack):
        took = now - begun
        more = running.setdefault(id(entry), [0, 0])
        more[0] += took - callees - inner
        more[1] = took
        inner = took
    rows = []
    for key, entry in list(thread.functions.items()):
        calls, subroutines, exclusive, inclusive, _ = entry
        more = running.get(id(entry), (0, 0))
        rows.append(list(_name_of(key)) + [calls, subroutines, exclusive + more[0], inclusive + more[1]])
    return rows


def _document():
    now = _clock()
    document = {"pid": os.getpid(), "mode": _MODE, "program": " ".join(sys.argv[:1]) if hasattr(sys, "argv") else "",
                "python": "%d.%d.%d" % sys.version_info[:3],
                "hook": "sys.monitoring" if _tool is not None else "sys.setprofile", "threads": []}
    try:
        document["pid_namespace"] = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        pass
    if _MODE == "sample":
        document["rate_hz"], document["looks"] = _RATE, _taken
        document["stacks"] = [[tid, list(stack), count] for (tid, stack), count in list(_samples.items())]
        return document
    for thread in list(_threads):
        document["threads"].append({
            "tid": thread.tid, "name": thread.name, "calls": thread.top_calls,
            "inclusive_ns": (thread.end or now) - thread.start, "functions": _rows_of(thread, now)})
    return document


def _write():
    global _written_ns
    if not _lock.acquire(False):
        return
    hook = sys.getprofile()
    sys.setprofile(None)
    try:
        _written_ns = _clock()
        path = os.path.join(_FOLDER, "%d-%d" % (os.getpid(), _process_mark))
        with open(path + ".new", "w") as file:
            json.dump(_document(), file)
        os.rename(path + ".new", path)
    except Exception:  # a full disk is not the application's trouble
        pass
    finally:
        _written_ns = _clock()
        _lock.release()
        sys.setprofile(hook)


def _stop():
    """The interpreter ends its threads the hard way, which an image without libgcc_s does not survive: this one ends
    before."""
    _stop_hooks()
    _enough.set()
    if _looker is not None and _looker is not threading.current_thread():
        _looker.join(2)
    _write()


def _exit(status):
    _stop()
    _really_exit(status)


def _sampler():
    global _taken
    own = threading.get_ident()
    native = {}
    while not _enough.wait(1.0 / _RATE):
        for ident, frame in list(sys._current_frames().items()):
            if ident == own:
                continue
            stack = []
            while frame is not None and len(stack) < _MOST_DEPTH:
                code = frame.f_code
                stack.append("%s (%s)" % (getattr(code, "co_qualname", code.co_name), os.path.basename(code.co_filename)))
                frame = frame.f_back
            if ident not in native:
                native.clear()
                for thread in threading.enumerate():
                    native[thread.ident] = thread.native_id
            key = (native.get(ident) or 0, tuple(reversed(stack)))
            _samples[key] = _samples.get(key, 0) + 1
        _taken += 1
        if _clock() - _written_ns > _EVERY_NS:
            _write()


def _begin():
    global _process_mark, _written_ns, _lock, _enough, _looker
    _process_mark = time.time_ns()
    _written_ns = _clock()
    _lock = threading.Lock()
    _enough = threading.Event()
    if _MODE == "sample":
        # Whoever computes must let the looking thread in soon, or it would look only where others wait for I/O.
        sys.setswitchinterval(min(sys.getswitchinterval(), 1e-4))
        _looker = threading.Thread(target=_sampler, name="fathom", daemon=True)
        _looker.start()
        return
    if _monitor():
        return
    threading.setprofile(_first_event)
    sys.setprofile(_follow_this_thread())


def _in_child():
    """A fork is a process of its own: what the parent did is not its doing."""
    global _taken, _local
    _stop_hooks()
    _local = threading.local()
    del _threads[:]
    _samples.clear()
    _taken = 0
    _begin()


def start():
    if not _FOLDER or not os.path.isdir(_FOLDER):
        return
    atexit.register(_stop)
    os._exit = _exit
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_in_child)
    _begin()
