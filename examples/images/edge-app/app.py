# SPDX-License-Identifier: Apache-2.0
"""Counts bright objects in a folder of pictures, as an application on an edge node would: it loads a model, reads
pictures, filters, labels, and tells what it found. Plain Python, so that its functions show in a profile."""
import argparse
import glob
import json
import os
import sys

import fathom


def load_model(megabytes):
    """What a model's weights would take."""
    return bytearray(os.urandom(1 << 20) * megabytes)


def read_picture(path):
    with open(path, "rb") as file:
        data = file.read()
    _, size, _, pixels = data.split(b"\n", 3)
    width, height = map(int, size.split())
    return width, height, pixels


def smooth(width, height, pixels):
    """The mean of each pixel and its four neighbours."""
    out = bytearray(len(pixels))
    for y in range(1, height - 1):
        row = y * width
        for x in range(1, width - 1):
            at = row + x
            out[at] = (pixels[at] + pixels[at - 1] + pixels[at + 1] + pixels[at - width] + pixels[at + width]) // 5
    return out


def label(width, height, pixels, threshold):
    """How many connected bright areas there are."""
    seen = bytearray(len(pixels))
    found = 0
    for start in range(len(pixels)):
        if pixels[start] < threshold or seen[start]:
            continue
        found += 1
        waiting = [start]
        seen[start] = 1
        while waiting:
            at = waiting.pop()
            for near in (at - 1, at + 1, at - width, at + width):
                if 0 <= near < len(pixels) and not seen[near] and pixels[near] >= threshold:
                    seen[near] = 1
                    waiting.append(near)
    return found


def count_objects(path):
    width, height, pixels = read_picture(path)
    return label(width, height, smooth(width, height, pixels), 140)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", default="/data")
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--model-mb", type=int, default=48)
    parser.add_argument("--output", default="/tmp/counts.json")
    arguments = parser.parse_args()
    paths = sorted(glob.glob(os.path.join(arguments.images, "*.pgm")))
    if not paths:
        sys.exit("no pictures in " + arguments.images)
    with fathom.timer("load_model"):
        model = load_model(arguments.model_mb)
    counts = {}
    for number in range(arguments.passes):
        if number % 20 == 0:
            fathom.mark("pass %d" % (number + 1))
        for path in paths:
            with fathom.rate("pictures"):
                found = count_objects(path)
            counts[os.path.basename(path)] = found
            fathom.number("objects", found)
    with open(arguments.output, "w") as file:
        json.dump(counts, file)
    print(sum(counts.values()), "objects in", len(counts), "pictures;", len(model) >> 20, "MB of model")


main()
