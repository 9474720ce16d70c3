#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py RUN EXPRESSION...: each is a Python expression over `fathom report RUN --as json`, whose keys are
names with attributes (run.exit_status, processes[0].name), and must be true. Says which was not."""
import json
import os
import subprocess
import sys


class Object(dict):
    __getattr__ = dict.__getitem__


def main():
    recording, expressions = sys.argv[1], sys.argv[2:]
    text = subprocess.run([os.environ["FATHOM"], "report", recording, "--as", "json"], check=True,
                          stdout=subprocess.PIPE).stdout
    names = json.loads(text, object_pairs_hook=Object)
    names["MiB"] = 1 << 20
    names["text"] = text.decode()
    failed = 0
    for expression in expressions:
        if not eval(expression, names):  # pylint: disable=eval-used
            failed += 1
            print(f"{recording}: not so: {expression}", file=sys.stderr)
    if failed:
        print(json.dumps({"run": names["run"], "damage": names["damage"]}), file=sys.stderr)
        for process in names["processes"][:4]:
            print(json.dumps(process), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
