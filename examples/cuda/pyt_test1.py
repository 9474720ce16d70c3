#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small training loop for the CUDA library, as the seed's test of that name: 20 Linear layers of 256, batches of 64,
forward and backward. Prints one JSON line: milliseconds a step, a checksum that does not depend on who looks on, and
with --profiler what torch.profiler counts.

  LD_PRELOAD=build/release/lib/libfathom-cuda.so PFLOG=logs python3 examples/cuda/pyt_test1.py
  fathom run --probe cuda -- python3 examples/cuda/pyt_test1.py --steps 100
"""
import argparse
import json
import sys
import time

import torch


def make(layers, width):
    torch.manual_seed(1)
    parts = []
    for _ in range(layers):
        parts += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    model = torch.nn.Sequential(*parts).cuda()
    return model, torch.optim.SGD(model.parameters(), lr=0.01)


def train(model, optimizer, batch, steps):
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=False)
        loss = model(batch).pow(2).mean()
        loss.backward()
        optimizer.step()
    return loss


def timed(model, optimizer, batch, steps, rounds):
    """The least of the rounds, so that what else the machine does counts least."""
    best = float("inf")
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        train(model, optimizer, batch, steps)
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - start) * 1000 / steps)
    return best


def in_turns(model, optimizer, batch, steps):
    """A round for each line that comes in, and a line with its milliseconds a step. What others left in the caches is gone
    after the first steps, which are not timed."""
    print("ready", flush=True)
    for _ in sys.stdin:
        train(model, optimizer, batch, 3)
        print(timed(model, optimizer, batch, steps, 1), flush=True)


def profiled(model, optimizer, batch, steps):
    """Kernels in so many steps, and their names, as torch.profiler has them."""
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        start = time.perf_counter()
        train(model, optimizer, batch, steps)
        torch.cuda.synchronize()
        took = (time.perf_counter() - start) * 1000 / steps
    events = [e for e in seen.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    kernels = [e.name for e in events if not e.name.startswith(("Mem", "gpu_user_annotation"))]
    return took, len(kernels), sorted(set(kernels))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--steps", type=int, default=100)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--warm-up", type=int, default=20)
    arguments.add_argument("--profiler", action="store_true")
    arguments.add_argument("--turns", action="store_true", help="a round for each line of the input, as many processes take turns")
    chosen = arguments.parse_args()
    model, optimizer = make(20, 256)
    batch = torch.randn(64, 256, generator=torch.Generator().manual_seed(2)).cuda()
    train(model, optimizer, batch, chosen.warm_up)
    result = {}
    if chosen.turns:
        in_turns(model, optimizer, batch, chosen.steps)
    elif chosen.profiler:
        took, kernels, names = profiled(model, optimizer, batch, chosen.steps)
        result.update(profiler_step_ms=took, profiler_kernels=kernels, kernel_names=names)
    else:
        result["step_ms"] = timed(model, optimizer, batch, chosen.steps, chosen.rounds)
    result["steps"] = chosen.steps
    result["checksum"] = float(sum(p.double().abs().sum() for p in model.parameters()))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
