# SPDX-License-Identifier: Apache-2.0
"""seed_dump.py NODES ROWS: both dumps are as seed 001 has them: a JSON object a line."""
import json
import sys

nodes = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
rows = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
assert nodes, "no nodes"
programs = set()
for line in nodes:
    (name, node), = line.items()
    programs.add(node.pop("execname"))
    # Functions of stripped programs are told apart by where they start: [cc1+0x1f0].
    assert name and ("+0x" not in name or name.startswith("[")), name
    assert node and all(isinstance(count, int) and count > 0 for count in node.values()), line
assert "cc1" in programs, programs
for row in rows:
    origin = row.pop("fathom")
    assert origin["host"] and origin["run"] and origin["time"].endswith("Z") and origin["units"] == {"Exectime": "s", "page-faults": "count"}
    assert float(row.pop("Exectime")) > 0
    assert isinstance(row.pop("page-faults"), int) and row.pop("exit_status") == 0 and not row, row
print(f"{len(nodes)} nodes of {sorted(programs)}, {len(rows)} rows")
