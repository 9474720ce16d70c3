# SPDX-License-Identifier: Apache-2.0
"""Reads a spool (docs/formats/spool.md) where no fathom is: the GPU machine has none of our libraries."""
import glob
import os
import struct

VERSION, HEADER, CHUNK, CHUNK_HEAD = 2, 65536, 32768, 32
THREAD, CALL, CELL, SHORT, SMALL = 1, 2, 3, 5, 6


class Call:
    """One record: name, object (kernel or direction), its parts, value, and whether it failed; or how often one that only
    asks was called (count, errors)."""
    __slots__ = ("pid", "tid", "name", "object", "parts", "start", "ticks", "value", "has_bytes", "error", "count", "errors")


class Spool:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:8] != b"FTHSPOOL":
            raise ValueError(path + " is no spool")
        if struct.unpack_from("<I", self.data, 8) != (VERSION,):
            raise ValueError(path + " is a spool of another version")
        self.ticks_per_ns = struct.unpack_from("<Q", self.data, 112)[0] / 2**32
        calls, names = struct.unpack_from("<II", self.data, 120)
        self.areas, self.names_chunk = struct.unpack_from("<II", self.data, 132)
        self.lost = struct.unpack_from("<8Q", self.data, 144)
        self.functions = [n.decode() for n in self.data[names:names + 16384].split(b"\0")[:calls]]
        self.texts = self._texts()

    def _texts(self):
        texts, next_chunk = {}, self.names_chunk
        while next_chunk:
            at = HEADER + (next_chunk - 1) * CHUNK
            next_chunk, _, used = struct.unpack_from("<III", self.data, at)
            place, end = at + CHUNK_HEAD, at + min(used, CHUNK)
            while place + 16 <= end:
                mark, number, length, _ = struct.unpack_from("<4I", self.data, place)
                if mark != 0x454D414E:
                    place += 8
                    continue
                texts[number] = self.data[place + 16:place + 16 + length].decode(errors="replace")
                place += (16 + length + 7) // 8 * 8
        return texts

    def _records(self):
        area = self.areas
        while area:
            at = HEADER + (area - 1) * CHUNK
            _, first = struct.unpack_from("<II", self.data, at)
            next_area, _, _, _, _, end = struct.unpack_from("<4IQQ", self.data, at + CHUNK_HEAD)
            chunk, offset = area - 1, first
            while (chunk << 32 | offset) != end:
                place = HEADER + chunk * CHUNK + offset
                kind, words = struct.unpack_from("<BB", self.data, place) if offset + 8 <= CHUNK else (0, 0)
                if kind == 0 or words == 0:
                    (following,) = struct.unpack_from("<I", self.data, HEADER + chunk * CHUNK)
                    if following == 0:
                        break
                    chunk = following - 1
                    (offset,) = struct.unpack_from("<I", self.data, HEADER + chunk * CHUNK + 4)
                    continue
                yield kind, place, chunk
                offset += words * 8
            area = next_area

    def calls(self):
        pid = tid = 0
        for kind, place, chunk in self._records():
            if kind == THREAD:
                pid, tid = struct.unpack_from("<II", self.data, place + 8)
            elif kind in (CALL, SHORT):
                yield self._call(kind, place, pid, tid)
            elif kind == SMALL:
                yield self._small(place, chunk, pid, tid)
            elif kind == CELL:
                yield self._cell(place, pid, tid)

    def _cell(self, place, pid, tid):
        cell = Call()
        (function,) = struct.unpack_from("<H", self.data, place + 2)
        (text,) = struct.unpack_from("<I", self.data, place + 8)
        cell.pid, cell.tid, cell.name, cell.object, cell.parts = pid, tid, self.functions[function], self.texts.get(text, ""), {}
        if cell.name == "only_counted":  # a function that is not in the library's list
            cell.name = cell.object
        cell.start = cell.ticks = cell.value = cell.error = 0
        cell.has_bytes = False
        cell.count, _, _, _, cell.errors = struct.unpack_from("<5Q", self.data, place + 16)
        return cell

    def _call(self, kind, place, pid, tid):
        call = Call()
        function, flags = struct.unpack_from("<HH", self.data, place + 2)
        call.error = 0
        if kind == CALL:
            text, call.error, call.start, call.ticks, _, call.value = struct.unpack_from("<IiQQQq", self.data, place + 8)
        else:
            call.start, call.ticks, text, call.value = struct.unpack_from("<QIIq", self.data, place + 8)
        return self._about(call, pid, tid, function, flags, text)

    def _small(self, place, chunk, pid, tid):
        call = Call()
        packed, since, rest = struct.unpack_from("<HIQ", self.data, place + 2)
        (base,) = struct.unpack_from("<Q", self.data, HEADER + chunk * CHUNK + 16)
        call.start, call.ticks, call.value, call.error = base + since, rest >> 16 & 0xFFFFFF, rest >> 40, 0
        return self._about(call, pid, tid, packed & 0xFFF, packed >> 12, rest & 0xFFFF)

    def _about(self, call, pid, tid, function, flags, text):
        call.pid, call.tid, call.name = pid, tid, self.functions[function]
        call.has_bytes = bool(flags & 1)
        call.count, call.errors = 1, int(call.error != 0)
        call.object, *parts = self.texts.get(text, "").split("\t")
        call.parts = dict(part.split("=", 1) for part in parts if "=" in part)
        return call


def all_calls(folder):
    """Every call in the spools of a folder, and how many were lost."""
    calls, lost = [], 0
    for path in sorted(glob.glob(os.path.join(folder, "*.spool"))):
        spool = Spool(path)
        calls += spool.calls()
        lost += sum(spool.lost)
    return calls, lost
