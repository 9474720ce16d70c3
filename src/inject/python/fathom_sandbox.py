# SPDX-License-Identifier: Apache-2.0
"""Whether the process has put itself under seccomp. Its filter may end the process for any system call that the program
itself does not make: the profile is then neither continued nor written.

Python code gets there through a function that it looks up by ctypes, or through a module. From the lookup on, a file of
/proc is held open that shows it by one pread(), which nearly every filter allows.
"""
import os
import sys

_FUNCTIONS = frozenset(("prctl", "syscall", "seccomp_load"))
_MODULES = frozenset(("prctl", "_prctl", "seccomp", "pyseccomp"))


def _filters(text):
    """Of /proc/thread-self/status: the number of filters; before Linux 5.9, 1 if there is any."""
    fields = dict(line.split(b":\t", 1) for line in text.split(b"\n") if line.startswith(b"Seccomp"))
    return int(fields.get(b"Seccomp_filters", fields.get(b"Seccomp", b"0") != b"0")), fields.get(b"Seccomp") == b"1"


class Sandbox:
    def __init__(self):
        self._file = None  # None: nothing the program does can have installed a filter
        self._expected = 0
        self._entered = False
        self._before = None

    def watch(self, before):
        """False: the program was started under filters that the recorder does not have. `before` is called when the
        program looks up a function that may install one."""
        self._before = before
        try:
            with open("/proc/thread-self/status", "rb") as file:
                self._expected = _filters(file.read())[0]
        except OSError:
            return True
        if self._expected > int(os.environ.get("FATHOM_FILTERS", "1")):
            return False
        sys.addaudithook(self._on_event)
        return True

    def _on_event(self, event, arguments):
        if event == "ctypes.dlsym":
            name = arguments[1]
        elif event == "import" and arguments[0] in _MODULES:
            name = "prctl"
        else:
            return
        if name in _FUNCTIONS and self._file is None:
            self._before(1)
            self._open()

    def _open(self):
        try:
            self._file = os.open("/proc/thread-self/status", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            pass

    def is_entered(self):
        if self._entered or self._file is None:
            return self._entered
        try:
            text = os.pread(self._file, 16384, 0)
        except OSError:
            text = b""
        if not text.startswith(b"Name:"):  # the program closed it, and may have opened another
            self._open()
            return False
        filters, is_strict = _filters(text)
        self._entered = filters > self._expected or is_strict
        return self._entered
