# SPDX-License-Identifier: Apache-2.0
"""A client of a Fathom hub, with nothing but the standard library.

    from fathom_client import ProfClient

    class CustomClient(ProfClient):
        def __init__(self, bindaddr, port):
            super(CustomClient, self).__init__(bindaddr, port)

        def run_on_job(self):
            return [{"command": "PROFILING", "node": "main", "execname": "app", "cache-misses": 7},
                    {"command": "BENCHMARK", "Exectime": "1.5", "cache-misses": 7}]

    CustomClient("127.0.0.1", 10000).start(2001)

What is sent and not answered is sent again and counts once: batches carry a run and a sequence.
"""
import http.client
import inspect
import json
import os
import socket
import time
import urllib.parse
import uuid

__all__ = ["HubError", "ProfClient"]
MOST_MESSAGES = 1000  # in one request


class HubError(Exception):
    """What the hub refused, in its own words: which message by its number, and what was taken.
    index is the message's place in the list, from 0; None where it is not one message's fault."""

    def __init__(self, status, body, first=0, count=0):
        try:
            said = json.loads(body)
        except ValueError:
            said = {}
        self.status = status
        self.answers = said.get("answers", [])
        self.index = first + said["message"] - 1 if said.get("message") else None
        where = f"messages {first + 1} to {first + count}: " if first else ""  # of a long list
        wrong = [answer for answer in self.answers if isinstance(answer, dict) and "error" in answer]
        problem = said if "error" in said else (wrong[0] if wrong else {})
        hint = f" ({problem['hint']})" if problem.get("hint") else ""
        super().__init__(where + problem.get("error", f"the hub answered with status {status}") + hint)


class ProfClient:
    """Subclass it and write run_on_job(); start() calls it and sends what it returns."""

    def __init__(self, bindaddr, port, jobid=None, token=None, patience=60.0):
        self.bindaddr, self.port, self.jobid = bindaddr, int(port), jobid
        self.token = token or os.environ.get("FATHOM_TOKEN", "")
        self.patience = patience
        self.run = f"client-{uuid.uuid4().hex}"
        self._sequences = {}
        self._connection = None
        self._has_answered = False  # the hub, since the start

    # ---- To be written by whoever subclasses ---------------------------------------------------

    def run_on_job(self):
        """Does the work. May call send_data() as often as it likes, and may return messages, too."""
        raise NotImplementedError("write run_on_job(self), which returns a list of messages")

    # ---- To be used by them --------------------------------------------------------------------

    def start(self, jobid=None):
        if jobid is not None:
            self.jobid = int(jobid)
        takes = inspect.signature(self.run_on_job).parameters
        messages = self.run_on_job(self) if takes else self.run_on_job()  # the seed's has a socket
        return self.send_data(messages) if messages else []

    def send_data(self, *arguments):
        """send_data(cmdlist), or send_data(sock, cmdlist) as the seed had it: sends messages, each
        a dict with a "command" that the hub knows, and returns their answers. Raises HubError."""
        answers, group = [], []
        for message in arguments[-1]:
            message = dict(message)
            if self.jobid is not None:
                message.setdefault("jobid", int(self.jobid))
            if group and (group[-1].get("jobid") != message.get("jobid") or len(group) >= MOST_MESSAGES):
                answers += self._send(group, len(answers))
                group = []
            group.append(message)
        return answers + (self._send(group, len(answers)) if group else [])

    # ---- Inside --------------------------------------------------------------------------------

    def _send(self, messages, first):
        job = messages[0].get("jobid")
        sequence = self._sequences.get(job, 0) + 1
        query = urllib.parse.urlencode({"run": self.run, "sequence": sequence, "host": socket.gethostname()})
        body = json.dumps(messages).encode()
        status, text = self._insist("POST", "/api/v1/commands?" + query, body)
        answer = json.loads(text)
        if answer.get("acknowledged", 0) >= sequence:
            self._sequences[job] = sequence
        if status != 200:
            raise HubError(status, text, first, len(messages))
        return answer["answers"]

    def _insist(self, method, target, body):
        end, pause = time.monotonic() + self.patience, 0.02
        while True:
            try:
                status, text = self._call(method, target, body)
                if status not in (429, 503, 507) or time.monotonic() + pause > end:
                    return status, text
            except (OSError, http.client.HTTPException):
                self._connection = None
                # A hub that is restarted is waited for. Where none has ever answered, there is nothing to wait for.
                if not self._has_answered or time.monotonic() + pause > end:
                    raise
            time.sleep(pause)
            pause = min(1.0, pause * 2)

    def _call(self, method, target, body):
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self.bindaddr, self.port, timeout=60)
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        self._connection.request(method, target, body, headers)
        answer = self._connection.getresponse()
        self._has_answered = True
        return answer.status, answer.read().decode("utf-8", "replace")
