#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""io_pftrace.py RUN FILE: whether FILE is a trace of Perfetto whose slices and counters are those of RUN. Reads the
protobuf by itself, by the field numbers of Perfetto's public schema (trace_packet.proto, track_event.proto,
track_descriptor.proto, interned_data.proto, profile_common.proto)."""
import collections
import sys

import io_calls

FUNCTIONS, FRAMES, CALLSTACKS, PATHS, MAPPINGS, TEXTS = 5, 6, 7, 17, 19, 29  # of InternedData


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            assert tag & 7 == 2, tag
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        yield tag >> 3, value


def all_of(message, number):
    return [value for field, value in fields(message) if field == number]


def stacks_of(packets):
    """How many slices have each callstack, by name and functions; each is told before it is used, and its text is an
    argument of the slice, too."""
    known = {kind: {} for kind in (FUNCTIONS, FRAMES, CALLSTACKS, PATHS, MAPPINGS, TEXTS)}
    found = collections.Counter()
    for packet in packets:
        for kind, entry in fields(packet.get(12, b"")):
            parts = dict(fields(entry))
            assert parts[1] not in known[kind], "told twice"
            known[kind][parts[1]] = all_of(entry, 2) if kind == CALLSTACKS else parts
        event = dict(fields(packet.get(11, b"")))
        if 56 not in event:
            continue
        frames = [known[FRAMES][number] for number in known[CALLSTACKS][event[56]]]
        names = [known[FUNCTIONS][frame[2]][2] for frame in frames]
        assert all(known[PATHS][known[MAPPINGS][frame[3]][7]] for frame in frames)
        notes = {note[10]: note for note in map(dict, map(fields, all_of(packet[11], 4)))}
        assert known[TEXTS][notes[b"stack"][17]][2] == b";".join(names)
        found[event[23].decode(), b";".join(names).decode()] += 1
    return found


def check_stacks(run, found):
    spans = io_calls.query(run, "select count(*) as n from spans where stack is not null")[0]
    assert sum(found.values()) == int(spans["n"]), (sum(found.values()), spans)
    rows = io_calls.query(run, "call-stacks")  # of the 50 that took longest; some differ by more than names
    assert 0 < len(rows) < 50, len(rows)
    asked = collections.Counter()
    for row in rows:
        asked[row["name"], row["stack"]] += int(row["calls"])
    assert found == asked, (found - asked, asked - found)
    print("stacks", spans["n"])


def main():
    run, path = sys.argv[1:3]
    with open(path, "rb") as file:
        packets = [dict(fields(value)) for number, value in fields(file.read()) if number == 1]
    tracks, events = {}, []
    for packet in packets:
        assert packet[10] == 1
        if 60 in packet:
            tracks[dict(fields(packet[60]))[1]] = dict(fields(packet[60]))
        if 11 in packet:
            events.append((packet[8], dict(fields(packet[11]))))
    open_slices, slices, bytes_counted = {}, 0, 0
    for time, event in sorted(events, key=lambda pair: (pair[0], pair[1][9] != 2)):
        track = event[11]
        assert track in tracks, track
        if event[9] == 4:
            bytes_counted += event[30]
            assert 8 in tracks[track]
        elif event[9] == 1:
            assert event[23] and event[22] and (4 in tracks[track] or 2 in tracks[track])
            open_slices[track] = open_slices.get(track, 0) + 1
            slices += 1
        elif event[9] == 3:
            slices += 1
        else:
            open_slices[track] -= 1
            assert open_slices[track] >= 0, (time, event)
    assert not any(open_slices.values()), open_slices
    found = io_calls.query(run, "select (select count(*) from spans) as n, (select coalesce(sum(bytes), 0) from counters) as b")[0]
    assert slices == int(found["n"]) and bytes_counted == int(found["b"]), (slices, bytes_counted, found)
    print("same", slices > 0, bytes_counted > 0)
    if found_stacks := stacks_of(packets):
        check_stacks(run, found_stacks)
    flows = {}
    for _, event in events:
        if 47 in event:
            flows.setdefault(event[47], set()).add(tracks[event[11]].get(2, b"a thread").decode())
    joined = sorted(sorted(names) for names in flows.values() if len(names) > 1)
    if joined:
        print("joined", joined)


if __name__ == "__main__":
    main()
