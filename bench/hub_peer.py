# SPDX-License-Identifier: Apache-2.0
"""hub_peer.py PORT SECONDS KEYS: the way of seed 001, for comparison: one command at a time to a
Redis server, each answer awaited. Prints updates a second: with HINCRBY, and with the seed's own
read, add, write (which loses counts when two do it at once)."""
import json
import random
import sys
import time

import redis

port, seconds, keys = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
server = redis.Redis(port=port)
ranks = random.Random(7).choices(range(keys), [1 / (rank + 1) for rank in range(keys)], k=100_000)
names = [f"some::function_of_a_program_{rank}(int)" for rank in ranks]


def rate(update):
    count, begin = 0, time.monotonic()
    while time.monotonic() - begin < seconds:
        for name in names[count % 100_000:count % 100_000 + 100]:
            update(name)
            count += 1
    return count / (time.monotonic() - begin)


def read_add_write(name):
    old = server.hget(name, "cache-misses")
    server.hset(name, "cache-misses", int(old or 0) + 1)


print(json.dumps({"hincrby_per_second": round(rate(lambda name: server.hincrby(name, "cache-misses", 1))),
                  "read_add_write_per_second": round(rate(read_add_write))}))
