#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""io_nested.py RUN profile|trace: whether a call that has calls within it takes at least as long as they do together,
in a recording of `io_signals nested`, all of which is within its first call."""
import sys

import io_calls


def check_trace(run):
    rows = io_calls.query(run, "select tid, start_ns, duration_ns from spans where layer = 'c' order by start_ns, duration_ns desc")
    spans = [(int(row["start_ns"]), int(row["duration_ns"])) for row in rows]
    within, stack, deepest = [0] * len(spans), [], 0
    for i, (start, duration) in enumerate(spans):
        while stack and start >= sum(spans[stack[-1]]):
            stack.pop()
        if stack:
            within[stack[-1]] += duration
        stack.append(i)
        deepest = max(deepest, len(stack))
    assert deepest == 71, f"{deepest} deep"
    for (start, duration), inner in zip(spans, within):
        assert inner <= duration, f"at {start}: {duration} ns with {inner} ns within"


def check_profile(run):
    """The latency of the first call is known within a factor of two. What all took by themselves is less."""
    rows = io_calls.query(run, "select sum(self_time_ns) as self, max(len(latency)) filter (name = 'nftw') as buckets, "
                               "bool_and(self_time_ns <= time_ns) as less from counters where layer = 'c'")[0]
    assert rows["less"] == "true" and 0 < int(rows["self"]) < 2 ** int(rows["buckets"]), rows


def main():
    check_trace(sys.argv[1]) if sys.argv[2] == "trace" else check_profile(sys.argv[1])


if __name__ == "__main__":
    main()
