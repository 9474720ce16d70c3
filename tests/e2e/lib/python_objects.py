# SPDX-License-Identifier: Apache-2.0
"""Calls built-in methods of objects that are then freed, and prints which are not. With `--exec FILE`: writes FILE without
closing it and replaces the process.

The state of the process after it must be that without a profile.
"""
import gc
import os
import resource
import sys
import types
import weakref


def before_exec():
    pass


class List(list):
    pass


def freed(name, reference):
    gc.collect()
    print(name, "freed" if reference() is None else "kept")


def bound_method():
    items = List()
    append = items.append
    append(1)
    items.extend((2, 3))
    return weakref.ref(items)


def method_of_a_type():
    kind = type("Kind", (list,), {})
    kind((1, 2)).count(1)
    kind.__new__(kind)
    kind.mro()
    return weakref.ref(kind)


def code():
    made = {}
    exec("def function(): return len('x')", made)
    made["function"]()
    return weakref.ref(made["function"].__code__)


def built_in_of_a_module():
    module = types.ModuleType("made")
    module.text = "x" * 10
    module.__dir__()
    return weakref.ref(module)


def main():
    for make in (bound_method, method_of_a_type, code, built_in_of_a_module):
        freed(make.__name__, make())
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    for _ in range(2000):
        open("/proc/self/stat").read()
    for number in range(20000):
        exec("def made(): pass\nmade()", {})
        "%d" % number
    print("descriptors", len(os.listdir("/proc/self/fd")))
    if sys.argv[1:2] == ["--exec"]:
        for _ in range(23):
            before_exec()
        open(sys.argv[2], "w").write("all of it")
        os.execv("/bin/cat", ["cat", sys.argv[2]])


main()
