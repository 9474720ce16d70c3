# SPDX-License-Identifier: Apache-2.0
"""Sends the same GET request many times: many_requests.py PORT PATH COUNT."""
import collections
import http.client
import sys

port, path, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
statuses = collections.Counter()
for _ in range(count):
    connection.request("GET", path)
    response = connection.getresponse()
    response.read()
    statuses[response.status] += 1
print(", ".join(f"{number} responses of {status}" for status, number in statuses.items()))
