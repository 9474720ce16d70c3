#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sampled_cpu.py RUN PROGRAM CPU_NS: whether the samples of a program (all: of every one) agree with its exact CPU time.

Samples of a timer are at most as uneven as a Poisson process. The interval is the central one of a Poisson distribution
that leaves out 1e-10 on either side, so that the check fails by chance less than once in 1e9 times."""
import csv
import io
import math
import os
import subprocess
import sys


def poisson_sum(mean, most):
    """P(X <= most)."""
    return sum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(int(most) + 1))


def query(run, sql):
    text = subprocess.run([os.environ["FATHOM"], "query", run, "--csv", sql], check=True, stdout=subprocess.PIPE).stdout
    return next(csv.DictReader(io.StringIO(text.decode())))


def main():
    run, program, cpu_ns = sys.argv[1], sys.argv[2], float(sys.argv[3])
    which = "" if program == "all" else f"where program = '{program}'"
    sampled_ns = float(query(run, f"select coalesce(sum(sum), 0) as ns from node_sums {which}")["ns"])
    period_ns = float(query(run, "select 1e9 / max(rate_hz) as ns from samples")["ns"])
    mean = cpu_ns / period_ns
    low = next(k for k in range(10**6) if poisson_sum(mean, k) > 1e-10)
    high = next(k for k in range(low, 10**6) if 1 - poisson_sum(mean, k) < 1e-10)
    samples = sampled_ns / period_ns
    print(f"{program}: {samples:.1f} samples, {mean:.1f} by the kernel's CPU time, {low} to {high} are likely")
    sys.exit(0 if low <= samples <= high else 1)


main()
