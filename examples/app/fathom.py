# SPDX-License-Identifier: Apache-2.0
"""Values and marks of a Python program on the time axis of its recording (`fathom run -- python3 app.py`).

    import fathom
    fathom.number("loss", 0.25)                  a value, with a unit if it has one
    with fathom.timer("step"): step()            seconds, when the block ends
    with fathom.rate("frames"): draw()           1 / seconds
    fathom.mark("epoch 3")

Copy this file beside the program. Without a recorder nothing happens. Nothing here waits or raises: a value that finds
no room is dropped, and the recording says how many were (for which the end of the program may wait 0.1 s). After a fork
the child has a connection of its own.
"""
import atexit
import contextlib
import json
import math
import os
import socket
import threading
import time

_lock = threading.Lock()
_socket = None
_owner = None
_lost = 0


def _forked():
    """Another thread of the parent may have held the lock."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forked)


def _connect():
    path = os.environ.get("FATHOM_SOCKET")
    if not path:
        return None
    try:
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        made.setblocking(False)
        made.connect(path)
        return made
    except OSError:
        return None


def _send(**message):
    global _socket, _owner, _lost
    with _lock:
        if _owner != os.getpid():
            _socket, _owner, _lost = _connect(), os.getpid(), 0
        if _socket is None:
            return
        data = json.dumps(message) + "\n"
        if _lost:
            data = json.dumps({"fathom_dropped": _lost}) + "\n" + data
        try:
            _socket.send(data.encode())  # goes as a whole or not at all
            _lost = 0
        except BlockingIOError:
            _lost += 1
        except OSError:
            _socket = None  # the recorder has gone


@atexit.register
def _end():
    if _lost and _socket is not None and _owner == os.getpid():
        try:
            _socket.settimeout(0.1)
            _socket.send(json.dumps({"fathom_dropped": _lost}).encode() + b"\n")
        except OSError:
            pass


def number(name, value, unit=""):
    value = float(value)
    if math.isfinite(value):
        _send(name=str(name), value=value, unit=str(unit), time_ns=time.monotonic_ns())


def mark(text):
    _send(mark=str(text), time_ns=time.monotonic_ns())


@contextlib.contextmanager
def timer(name):
    start = time.monotonic()
    try:
        yield
    finally:
        number(name, time.monotonic() - start, "s")


@contextlib.contextmanager
def rate(name):
    start = time.monotonic()
    try:
        yield
    finally:
        took = time.monotonic() - start
        if took > 0:
            number(name, 1 / took, "1/s")
