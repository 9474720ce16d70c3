#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""known_stacks.py RUN [kernel|no-kernel]: whether RUN's samples tell what tests/workloads/stacks_known.cpp does.

Shares must lie within the Wilson interval of 99.999 %: work is counted there, so only the luck of sampling may
move them, and nine are looked at each time."""
import collections
import csv
import io
import os
import subprocess
import sys

csv.field_size_limit(1 << 24)
Z = 4.4172  # 99.999 %, two-sided
SHARES = {"share_a(long)": 0.5, "share_b(long)": 0.3, "share_c(long)": 0.2}
BOX = ("void Box<std::pair<int, unsigned long>, std::map<char, std::pair<int, int>, std::less<char>, "
       "std::allocator<std::pair<char const, std::pair<int, int> > > > >::work<unsigned long>(unsigned long)")
ROOTS = {"_start", "_dl_start_user", "clone3", "__clone3", "clone", "__clone"}
problems = []

Frame = collections.namedtuple("Frame", "symbol module kind")


def expect(true, text):
    if not true:
        problems.append(text)


def query(run, sql):
    out = subprocess.run([os.environ["FATHOM"], "query", run, "--csv", sql], check=True, stdout=subprocess.PIPE).stdout
    return list(csv.DictReader(io.StringIO(out.decode())))


class Sample:
    def __init__(self, row, stacks):
        self.pid, self.tid, self.detail, self.weight = row["pid"], row["tid"], row["detail"], int(row["weight"])
        self.frames = []  # innermost first
        at = row["stack"]
        while at:
            node = stacks[at]
            self.frames.append(Frame(node["symbol"], node["module"], node["kind"]))
            at = node["parent"]
        self.user = [frame for frame in self.frames if frame.kind != "kernel"]
        self.names = [frame.symbol for frame in self.frames]

    def has(self, symbol):
        return symbol in self.names


def read(run):
    stacks = {row["id"]: row for row in query(run, "select * from stacks")}
    return [Sample(row, stacks) for row in query(run, "select * from samples")]


def wilson(hits, of):
    share = hits / of
    middle = (share + Z * Z / 2 / of) / (1 + Z * Z / of)
    half = Z / (1 + Z * Z / of) * (share * (1 - share) / of + Z * Z / 4 / of / of) ** 0.5
    return middle - half, middle + half


def check_shares(samples):
    mine = [sample for sample in samples if any(map(sample.has, SHARES))]
    expect(len(mine) > 100, f"only {len(mine)} samples in the shares")
    for symbol, share in SHARES.items():
        hits = sum(map(lambda sample: sample.has(symbol), mine))  # pylint: disable=cell-var-from-loop
        low, high = wilson(hits, max(1, len(mine)))
        expect(low <= share <= high, f"{symbol}: {hits} of {len(mine)}, {share} is not in {low:.3f}..{high:.3f}")


def check_depth(samples):
    mine = [sample for sample in samples if sample.has("deep_bottom(long)")]
    expect(len(mine) > 20, f"only {len(mine)} samples in the recursion")
    depths = collections.Counter(sample.names.count("deep(int, long)") for sample in mine if not sample.detail)
    expect(set(depths) == {400}, f"depth of the recursion: {dict(depths)}")


def check_tasks(samples):
    main = {sample.pid for sample in samples if sample.has("share_all(long)")}
    expect(len(main) == 1, f"processes with share_all: {main}")
    threads = {sample.tid for sample in samples if sample.has("thread_work(long)")}
    expect(len(threads) == 5 and not threads & main, f"threads with thread_work: {threads}")
    child = [sample for sample in samples if sample.has("child_work(long)")]
    expect(len({sample.pid for sample in child} - main) == 1, "the child was not sampled, or not as one process")
    expect(all(sample.has("run_child(long)") and sample.has("main") for sample in child), "callers of child_work")


def check_calls(samples):
    for symbol, callers in {
            "library_work(long)": ["known_library_work", "use_library(char const*, long)", "main"],
            "tail_inner(long)": ["tail_caller(long)", "main"],
            BOX: ["main"],
            "thread_work(long)": ["thread_main(void*)"]}.items():
        mine = [sample for sample in samples if sample.has(symbol)]
        expect(len(mine) > 20, f"only {len(mine)} samples in {symbol}")
        for sample in mine:
            at = sample.names.index(symbol) + 1
            found = sample.names[at:at + len(callers)]
            expect(found == callers, f"{symbol} was called by {found}")
    modules = {os.path.basename(frame.module) for sample in samples for frame in sample.user
               if frame.symbol == "known_library_work"}
    expect(modules == {"libstacks_known_library.so"}, f"known_library_work is in {modules}")


def is_root(frame):
    """Where the C library has no debug symbols, its innermost functions are told by where they start, if at all."""
    library = os.path.basename(frame.module or "")
    nameless = frame.symbol.startswith("[") and (library.startswith("libc.so") or library.startswith("ld-linux"))
    return frame.symbol in ROOTS or nameless


def check_quality(samples, kernel):
    rooted = [sample for sample in samples if not sample.detail]
    ends = collections.Counter(sample.detail for sample in samples)
    expect(len(rooted) >= 0.99 * len(samples), f"of {len(samples)} samples only {len(rooted)} are complete: {ends}")
    wrong = {sample.user[-1].symbol for sample in rooted if sample.user and not is_root(sample.user[-1])}
    expect(not wrong, f"complete stacks begin with {wrong}")
    in_kernel = [sample for sample in samples if sample.has("kernel_work(long)") and sample.frames[0].kind == "kernel"]
    expect(bool(in_kernel) == kernel, f"{len(in_kernel)} samples of kernel_work are in the kernel")
    expect(kernel or all(frame.kind != "kernel" for sample in samples for frame in sample.frames), "kernel frames")


def check_sums(run, samples):
    """The sums per function are those of the samples taken in it."""
    sums = collections.Counter()
    for sample in samples:
        sums[(sample.names[0], sample.frames[0].module) if sample.names else ("", "")] += sample.weight
    told = {(row["symbol"], row["module"]): int(row["total"]) for row in query(
        run, "select symbol, module, sum(sum) as total from node_sums where event = 'cpu-clock' group by 1, 2")}
    expect(told == dict(sums), f"node_sums differ: {set(told.items()) ^ set(sums.items())}")


def main():
    run, kernel = sys.argv[1], sys.argv[2] == "kernel"
    samples = read(run)
    probe = query(run, "select seen, dropped from probes where probe = 'stacks'")[0]
    expect(int(probe["seen"]) == len(samples), f"{probe['seen']} seen, {len(samples)} recorded")
    expect(probe["dropped"] == "0", f"{probe['dropped']} dropped")
    check_shares(samples)
    check_depth(samples)
    check_tasks(samples)
    check_calls(samples)
    check_quality(samples, kernel)
    check_sums(run, samples)
    for problem in list(dict.fromkeys(problems))[:20]:
        print(f"{run}: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
