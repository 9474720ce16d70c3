# SPDX-License-Identifier: Apache-2.0
"""A strict reader of OpenMetrics text 1.0.0, for what we write: gauge, counter, info.

  openmetrics.py FILE [SAMPLE...]     fails on anything that is not allowed; prints the value of each SAMPLE, written
                                      as in the file: name{label="value"}

Where the Python client of Prometheus is installed, its parser must agree.
"""
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
SAMPLE = re.compile(rf"({NAME})(\{{.*\}})? (\S+)(?: (\S+))?")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?[iI]nf|NaN")
TIME = re.compile(r"-?\d+(\.\d+)?")
SUFFIX = {"gauge": "", "counter": "_total", "info": "_info"}


def labels_of(text):
    """The labels as a sorted tuple; every byte between the braces is accounted for."""
    found, at = [], 0
    inner = text[1:-1]
    while at < len(inner):
        match = LABEL.match(inner, at)
        assert match, f"labels {text!r}"
        found.append(match.groups())
        at = match.end()
        if at < len(inner):
            assert inner[at] == "," and at + 1 < len(inner), f"labels {text!r}"
            at += 1
    names = [name for name, _ in found]
    assert found and len(set(names)) == len(names), f"labels {text!r}"
    assert not any(name.startswith("__") for name in names), f"reserved label in {text!r}"
    return tuple(sorted(found))


class Reader:
    def __init__(self):
        self.families, self.sample_names, self.values, self.series = {}, {}, {}, set()
        self.current = None

    def meta(self, line):
        match = re.fullmatch(rf"# (TYPE|UNIT|HELP) ({NAME})(?: (.*))?", line)
        assert match, f"line {line!r}"
        kind, name, rest = match.groups()
        if self.current != name:
            assert name not in self.families, f"family {name} stands twice"
            self.families[name] = {}
            self.current = name
        family = self.families[name]
        assert kind not in family and "samples" not in family, f"{kind} of {name} is late or double"
        family[kind] = rest
        if kind == "TYPE":
            assert rest in SUFFIX, f"type {rest!r}"
            for taken in {name, name + SUFFIX[rest]}:
                assert taken not in self.sample_names, f"{taken} belongs to two families"
                self.sample_names[taken] = name
        if kind == "UNIT":
            assert re.fullmatch(r"[a-zA-Z0-9_]+", rest) and name.endswith("_" + rest), f"unit {rest!r} of {name}"
            assert family.get("TYPE") != "info", f"{name} is an info and has a unit"
        if kind == "HELP":
            assert re.fullmatch(r'(?:[^"\\\n]|\\[\\"n])*', rest), f"help {rest!r}"

    def sample(self, line):
        match = SAMPLE.fullmatch(line)
        assert match, f"line {line!r}"
        name, labels, value, time = match.groups()
        family = self.families[self.current]
        assert name == self.current + SUFFIX[family["TYPE"]], f"{name} is not of family {self.current}"
        family["samples"] = family.get("samples", 0) + 1
        key = (name, labels_of(labels) if labels else ())
        assert key not in self.series, f"series {line!r} stands twice"
        self.series.add(key)
        assert NUMBER.fullmatch(value), f"value {value!r}"
        assert family["TYPE"] != "counter" or float(value) >= 0, f"counter {line!r}"
        assert family["TYPE"] != "info" or value == "1", f"info {line!r}"
        assert time is None or TIME.fullmatch(time), f"time {time!r}"
        self.values[name + (labels or "")] = value

    def read(self, data):
        text = data.decode("utf-8")
        assert text.endswith("\n# EOF\n") or text == "# EOF\n", "no # EOF at the end"
        for line in text[: -len("# EOF\n")].split("\n")[:-1]:
            assert line, "an empty line"
            if line.startswith("#"):
                self.meta(line)
            else:
                self.sample(line)
        for name, family in self.families.items():
            assert family.get("samples"), f"family {name} is empty"


def ask_peer(text, samples):
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        return "not asked"
    found = sum(len(family.samples) for family in text_string_to_metric_families(text))
    assert found == samples, f"the parser of prometheus_client found {found} samples"
    return "agrees"


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    reader = Reader()
    reader.read(data)
    print(f"valid: {len(reader.families)} families, {len(reader.values)} samples;",
          "prometheus_client", ask_peer(data.decode("utf-8"), len(reader.values)))
    for wanted in sys.argv[2:]:
        print(wanted, reader.values.get(wanted, "is missing"))


if __name__ == "__main__":
    main()
