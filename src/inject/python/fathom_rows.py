# SPDX-License-Identifier: Apache-2.0
"""Functions by name, as the hooks in fathom_profile.py count them, and how these find a function's row.

No reference to an object of the program is held: caches are keyed by id and emptied by weak references, and all that is
kept permanently are names.
"""
import functools
import os
import sys
import threading
import time
import weakref

# Functions that end the program without its exit handlers.
LEAVING = tuple(getattr(os, name) for name in ("_exit", "execv", "execve") if hasattr(os, name))
by_identity = {type(sys), type(None)}  # types whose built-in functions live as long as they do


class Thread:
    """The calls of one thread. Changed by that thread only, except that weak references empty the caches."""

    def __init__(self, main):
        self.ident = threading.get_ident()
        self.tid = threading.get_native_id()
        self.main = main
        self.name = "MainThread" if self.main else _thread_name(self.ident)
        self.start = time.perf_counter_ns()
        self.end = self.start  # last return to the thread's outermost level
        self.top_calls = 0
        # By (name, file, line, kind): [calls, subroutine calls, exclusive ns, inclusive ns, active]
        self.rows = {}
        self.functions = {}  # rows by id of a code object or built-in function
        self.methods = {}  # by id of a type: rows by name of its built-in method
        self.references = {}  # keep the caches above free of ids that another object may get
        self.stack = []  # [row, start, time in callees]


def _thread_name(ident):
    """Without threading.current_thread(), which registers a dummy thread where the real one is not yet, or no longer,
    registered."""
    known = getattr(threading, "_active", {}).get(ident)
    frame = sys._getframe()
    bootstrap = getattr(threading.Thread, "_bootstrap", None)
    while known is None and frame is not None:
        if frame.f_code is getattr(bootstrap, "__code__", None):
            known = frame.f_locals.get("self")
        frame = frame.f_back
    return str(getattr(known, "_name", "")) or "Thread"


def _cache(thread, cache, key, target, value):
    """Until `target` is freed. The callback is not a Python function, which would appear in the profile."""
    references = thread.references
    if len(references) > 1000 and len(references) > 4 * (len(thread.functions) + len(thread.methods)):
        for other, reference in list(references.items()):
            if reference() is None:
                references.pop(other, None)
    try:
        references[key] = weakref.ref(target, functools.partial(cache.pop, key))
        cache[key] = value
    except TypeError:  # cannot be referenced weakly: looked up by name each time
        pass


def _row(thread, name):
    row = thread.rows.get(name)
    if row is None:
        row = thread.rows[name] = [0, 0, 0, 0, 0]
    return row


def row_of_code(thread, code):
    row = _row(thread, (getattr(code, "co_qualname", code.co_name), code.co_filename, code.co_firstlineno, "python"))
    _cache(thread, thread.functions, id(code), code, row)
    return row


def row_of_builtin(thread, function):
    """Of what is not cached yet. `function` is a built-in function, or an unbound method of a built-in type."""
    row = _row(thread, _name_of_builtin(function))
    if function in LEAVING:  # never cached: the caller writes the profile first
        return row
    owner = getattr(function, "__objclass__", None)
    if owner is None:
        bound = function.__self__
        owner = bound if type(bound) is type else type(bound)
        if owner.__name__ == "PyCapsule":  # functions of pybind11 and similar
            by_identity.add(owner)
        if owner in by_identity:
            _cache(thread, thread.functions, id(function), function, row)
            return row
        if owner is not bound and isinstance(bound, type):  # a class method, by its class, of a type of types
            return row
    names = thread.methods.get(id(owner))
    if names is None:
        names = {}
        _cache(thread, thread.methods, id(owner), owner, names)
    names[function.__name__] = row
    return row


def _name_of_builtin(function):
    """name, file, line, kind"""
    owner = getattr(function, "__objclass__", None)
    if owner is None:
        owner = getattr(function, "__self__", None)
        owner = owner if isinstance(owner, type) else type(owner)
    module = getattr(function, "__module__", None) or ""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", "?")
    if not module and owner is not type(sys):
        module = getattr(owner, "__module__", None) or ""
    return (module + "." if module and module != "builtins" else "") + name, "", 0, "builtin"


def rows_of(thread, now):
    """With what still runs counted up to now, as if it returned."""
    running = {}
    inner = 0
    for row, begun, callees in reversed(thread.stack):
        took = now - begun
        more = running.setdefault(id(row), [0, 0])
        more[0] += took - callees - inner
        more[1] = took
        inner = took
    rows = []
    for name, row in list(thread.rows.items()):
        calls, subroutines, exclusive, inclusive, _ = row
        more = running.get(id(row), (0, 0))
        rows.append(list(name) + [calls, subroutines, exclusive + more[0], inclusive + more[1]])
    return rows
