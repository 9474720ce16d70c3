# SPDX-License-Identifier: Apache-2.0
"""Functions with known counts. `--cprofile`: prints cProfile's counts of the same work as `NAME COUNT`."""
import collections
import cProfile
import pstats
import re
import sys


class Point:
    def __init__(self, x):
        self.x = x

    def get(self):
        return self.x


def generator(count):
    for value in range(count):
        yield value


def recursive(depth):
    return depth and recursive(depth - 1)


def work():
    queue = collections.deque()
    push = queue.append
    for value in range(4099):
        push(Point(value).get())
        divmod(value, 3)
        "aB".swapcase()
    for value in generator(23):
        value.bit_length()
    recursive(7)
    try:
        queue.index(-1)
    except ValueError:
        pass


def name_of(key):
    file, line, name = key
    built_in = re.match(r"<(?:built-in )?method (?:(\S+)' of '(\S+)' objects|(\S+))>", name.replace("method '", "method ", 1))
    if built_in is None:
        return name
    name = "%s.%s" % (built_in[2], built_in[1]) if built_in[1] else built_in[3]
    return name[9:] if name.startswith("builtins.") else name


if "--cprofile" in sys.argv:
    profile = cProfile.Profile()
    profile.runcall(work)
    counts = collections.Counter()
    for key, value in pstats.Stats(profile).stats.items():
        counts[name_of(key)] += value[1]
    for name, count in sorted(counts.items()):
        print(name, count)
else:
    work()
