#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""io_pftrace.py RUN FILE: whether FILE is a trace of Perfetto whose slices and counters are those of RUN. Reads the
protobuf by itself, by the field numbers of Perfetto's public schema (trace_packet.proto, track_event.proto,
track_descriptor.proto)."""
import sys

import io_calls


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
        else:
            assert tag & 7 == 2, tag
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        yield tag >> 3, value


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


if __name__ == "__main__":
    main()
