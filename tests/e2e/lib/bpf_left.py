#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bpf_left.py take PID FILE: writes which programs, maps and links of BPF a process holds.
bpf_left.py gone FILE: fails as long as one of them is there."""
import glob
import subprocess
import sys

KINDS = {"prog_id": "prog", "map_id": "map", "link_id": "link"}


def held(pid):
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path, encoding="ascii") as file:
                lines = file.read().splitlines()
        except OSError:  # closed meanwhile
            continue
        for line in lines:
            name, _, value = line.partition(":")
            if name in KINDS:
                yield f"{KINDS[name]} {int(value)}"


def is_there(what):
    kind, number = what.split()
    shown = subprocess.run(["bpftool", kind, "show", "id", number], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return shown.returncode == 0


def main():
    if sys.argv[1] == "take":
        ids = sorted(set(held(sys.argv[2])))
        kinds = {what.split()[0] for what in ids}
        assert kinds == set(KINDS.values()), f"holds only {kinds}"
        assert all(is_there(what) for what in ids), ids
        with open(sys.argv[3], "w", encoding="ascii") as file:
            file.write("\n".join(ids))
        return 0
    with open(sys.argv[2], encoding="ascii") as file:
        left = [what for what in file.read().splitlines() if is_there(what)]
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
