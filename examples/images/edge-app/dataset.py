# SPDX-License-Identifier: Apache-2.0
"""Pictures for the edge application: grey, with a known number of bright squares. The same at every run."""
import os
import sys

SIDE = 96


def picture(number):
    """The number-th picture has number % 5 + 1 squares."""
    pixels = bytearray((x * 7 + y * 3 + number) % 60 for y in range(SIDE) for x in range(SIDE))
    for square in range(number % 5 + 1):
        left = 4 + square * 18
        for y in range(20 + number % 40, 30 + number % 40):
            for x in range(left, left + 10):
                pixels[y * SIDE + x] = 220
    return b"P5\n%d %d\n255\n" % (SIDE, SIDE) + bytes(pixels)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for number in range(24):
        with open(os.path.join(folder, "frame-%02d.pgm" % number), "wb") as file:
            file.write(picture(number))


main()
