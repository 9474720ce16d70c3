# SPDX-License-Identifier: Apache-2.0
"""Several processes of one program, each in an environment of its own, that work one after the other, a round each, again
and again: so all meet the same machine, which changes more from minute to minute than what is measured. The program says
"ready" when it could begin, does a round for each line that it reads and answers with a number; at the end of its input it
prints what came out and ends."""
import os
import random
import select
import subprocess
import time

PATIENCE_S = 120


class Runner:
    def __init__(self, command, environment, cwd):
        self.command = command
        self.errors = open(os.path.join(cwd, "stderr"), "w+b")  # closed with the process
        self.process = subprocess.Popen(command, env=environment, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        self.rest = b""

    def line(self):
        until = time.monotonic() + PATIENCE_S
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))
            more = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not more:
                self.errors.seek(0)
                raise RuntimeError(f"{' '.join(self.command)} says nothing: {self.errors.read()[-1500:].decode(errors='replace')}")
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode()

    def round(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        return float(self.line())

    def stay_on(self, cores):
        """The thread that begins and the one that goes backward have a core each, which no other thread has: which cores they
        happen to share would differ from process to process."""
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                with open(f"/proc/{self.process.pid}/task/{thread}/comm", encoding="utf-8", errors="replace") as file:
                    name = file.read()
                own = cores[-1:] if int(thread) == self.process.pid else cores[-3:-2] if name.startswith("pt_autograd") else cores[:-4]
                os.sched_setaffinity(int(thread), own if len(cores) >= 8 else cores)
            except (ProcessLookupError, FileNotFoundError):  # it has just ended
                pass

    def end(self):
        self.process.stdin.close()
        last = self.line()
        if self.process.wait(PATIENCE_S) != 0:
            raise RuntimeError(f"{' '.join(self.command)} ended with {self.process.returncode}")
        return last

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()


def take(command, ways, rounds, cores, groups=None):
    """`ways`: name -> (environment, folder). Returns the numbers of each, and what each printed last. They start on any core
    and then stay on these, a list. `groups`: lists of those that are to be compared, which work one right after the other."""
    runners = {}
    try:
        for way, (environment, cwd) in ways.items():
            runners[way] = Runner(command, environment, cwd)
        for runner in runners.values():
            while runner.line() != "ready":
                pass
            runner.stay_on(cores)
        numbers = {way: [] for way in ways}
        chance = random.Random(7)
        for _ in range(rounds):
            for group in groups or [list(runners)]:
                for way in chance.sample(group, len(group)):  # whom one comes after is not always the same
                    numbers[way].append(runners[way].round())
        return numbers, {way: runner.end() for way, runner in runners.items()}
    finally:
        for runner in runners.values():
            runner.close()
