# SPDX-License-Identifier: Apache-2.0
"""custom_client.py PORT JOB: the template of seed 001's README with its body filled."""
import sys

from fathom_client import HubError, ProfClient


class CustomClient(ProfClient):
    def __init__(self, bindaddr, port):
        super(CustomClient, self).__init__(bindaddr, port)

    def run_on_job(self):
        for _ in range(10):
            self.send_data([{"command": "PROFILING", "node": "main", "execname": "app", "cache-misses": 1}])
        return [{"command": "PROFILING", "node": "main", "execname": "app", "cache-misses": 7},
                {"command": "BENCHMARK", "benchmark": {"time": 1.5, "cache-misses": 7}},
                {"command": "BENCHMARK", "jobid": self.jobid, "Exectime": "1.25", "cycles": 3}]


class OldClient(CustomClient):
    """As the seed's own clients had it, with a socket."""

    def run_on_job(self, sock):
        self.send_data(sock, [{"command": "MARK", "mark": "old"}])


class WrongClient(CustomClient):
    def run_on_job(self):
        return [{"command": "MARK", "mark": f"m{i}"} for i in range(1001)] + [{"command": "EXPLODE"}]


port, job = int(sys.argv[1]), int(sys.argv[2])
CustomClient("127.0.0.1", port).start(job)
OldClient("127.0.0.1", port).start(job)
try:
    WrongClient("127.0.0.1", port).start(job)
except HubError as error:
    print(error, error.index)
try:
    CustomClient("127.0.0.1", port).start(2999)
except HubError as error:
    print(error)
