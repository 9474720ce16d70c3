#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A few seconds of mixed work to look at with Fathom: computing, sorting, writing with sync, waiting
# and many short children. Everything happens in a temporary folder that is removed again.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# Computing: numbers as text, compressed hard.
seq 1 4000000 >numbers
gzip -9 -k numbers

# Sorting: the same numbers, last digits first.
rev numbers | LC_ALL=C sort -S 16M -o sorted

# Writing: small blocks, each one on the disk before the next.
dd if=numbers of=synced bs=16k count=200 oflag=dsync 2>/dev/null

# Waiting, beside a child that computes.
sha256sum numbers sorted >sums &
sleep 0.5
wait

# Children: many that do almost nothing.
i=0
while [ "$i" -lt 250 ]; do
  wc -c numbers >/dev/null
  i=$((i + 1))
done
