# SPDX-License-Identifier: Apache-2.0
"""Runs packaged programs (programs.txt) plain and under each mode of `fathom run`, and compares what they do: exit status,
stdout, stderr and the files that they leave.

  compare_programs.py [--all] [--only NAME,...] [--modes NAME,...] [--folder FOLDER]

Without --all, those with a * in the list. $FATHOM is the program.
"""
import argparse
import hashlib
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

MODES = {
    "default": [],
    "io": ["--probe", "io"],
    "io-trace": ["--io", "trace"],
    "io-count": ["--io", "count"],
    "io-malloc": ["--io", "trace", "--malloc"],
    "cuda": ["--probe", "cuda"],
    "python": ["--probe", "python"],
    "python-sampled": ["--probe", "python=sample"],
    "stacks": ["--probe", "stacks"],
    "counters": ["--probe", "counters"],
    "app": ["--probe", "app"],
    "together": ["--probe", "io,cuda,python,stacks,counters", "--malloc"],
}
LIMIT = 120  # seconds for a program
RUNNER = 'cd "$1" && exec bash "$2" >"$3/stdout" 2>"$3/stderr" </dev/null'


class Program:
    def __init__(self, head, script):
        words = head.replace("*", " ").split()
        self.name, self.always, self.script = words[0], "*" in head, script
        self.needs = words[1:] or words[:1]

    def missing(self):
        path = os.environ["PATH"] + ":/usr/sbin:/sbin:/lib64:/lib/x86_64-linux-gnu"
        return [need for need in self.needs
                if not any(os.path.exists(os.path.join(folder, need)) for folder in (*path.split(":"), "/lib64"))]


def read_list(path):
    programs = []
    for line in open(path, encoding="utf-8"):
        head = re.match(r"([a-z0-9+][-a-z0-9+. *]*): (.*)", line)
        if head:
            programs.append(Program(head[1], head[2] + "\n"))
        elif line.startswith("  "):
            programs[-1].script += line[2:]
    return programs


def files_in(folder):
    """What a program left: kind, permissions and content of each file."""
    found = {}
    for base, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(base, name)
            status = os.lstat(path)
            content = ""
            if stat.S_ISREG(status.st_mode):
                content = hashlib.sha256(open(path, "rb").read()).hexdigest()[:16]
            elif stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            found[os.path.relpath(path, folder)] = f"{stat.filemode(status.st_mode)} {content}"
    return found


class Comparison:
    """Runs in one folder, which has the same name each time: programs print it."""

    def __init__(self, fathom, folder):
        self.fathom, self.folder = fathom, folder
        self.environment = {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "LC_ALL": "C.UTF-8", "TZ": "UTC",
                            "HOME": os.path.join(folder, "home"), "TERM": "dumb", "USER": "root"}

    def run(self, program, mode):
        work, result = os.path.join(self.folder, "work"), os.path.join(self.folder, "result")
        for path in (work, result, os.path.join(self.folder, "home")):
            shutil.rmtree(path, ignore_errors=True)
            os.mkdir(path)
        script = os.path.join(self.folder, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(program.script)
        command = ["bash", "-c", RUNNER, "runner", work, script, result]
        if mode is not None:
            command = [self.fathom, "run", "-q", "--no-tables", "--force", "-o", os.path.join(self.folder, "recording"),
                       *MODES[mode], "--", *command]
        process = subprocess.Popen(command, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            said = process.communicate(timeout=LIMIT)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said = process.communicate()[0].decode(errors="replace") + f"not finished after {LIMIT} s"
        kept = {"exit status": process.returncode, "files": files_in(work)}
        for name in ("stdout", "stderr"):
            path = os.path.join(result, name)
            kept[name] = open(path, "rb").read().decode(errors="replace") if os.path.exists(path) else "not there"
        return kept, said

    def differences(self, program, modes):
        plain, _ = self.run(program, None)
        again, _ = self.run(program, None)
        if plain != again:
            yield "two plain runs", plain, again, ""
            return
        for mode in modes:
            found, said = self.run(program, mode)
            if found != plain:
                yield mode, plain, found, said


def describe(name, mode, plain, found, said):
    lines = [f"{name}: {mode}:"]
    for key, value in plain.items():
        if found[key] != value:
            lines += [f"  {key}: plain:", f"    {value!r}"[:2000], f"  {key}: {mode}:", f"    {found[key]!r}"[:2000]]
    if said:
        lines.append(f"  fathom: {said.strip()[-1000:]!r}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--folder", default=os.environ.get("TMP", "/tmp"))
    options = parser.parse_args()
    programs = read_list(os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs.txt"))
    only = set(filter(None, options.only.split(",")))
    unknown = only - {program.name for program in programs}
    if unknown:
        sys.exit(f"no such program: {', '.join(sorted(unknown))}")
    modes = options.modes.split(",")
    compared = problems = 0
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        os.chmod(folder, 0o755)
        comparison = Comparison(os.environ["FATHOM"], folder)
        for program in programs:
            if not (program.name in only or not only and (options.all or program.always)):
                continue
            if program.missing():
                print(f"{program.name}: {', '.join(program.missing())} not installed")
                continue
            compared += 1
            for difference in comparison.differences(program, modes):
                problems += 1
                print(describe(program.name, *difference), flush=True)
    print(f"{compared} programs compared, {problems} differences")
    return 1 if problems else 0


sys.exit(main())
