# SPDX-License-Identifier: Apache-2.0
"""What clients send to keep a hub busy or full, each from a process of its own until it is killed.

An attack is a function of the port, the build directory, and a body that hub_load has made for it where it has one. The
hub has no token: its clients are programs of this machine.
"""
import contextlib
import ctypes
import http.client
import os
import resource
import signal
import socket
import subprocess
import time

JOB = "/api/v1/jobs/2001/"
FRAMES, LINES = "application/x-fathom-frames", "text/plain"
SILENT_CONNECTIONS = 3000  # more than one address may have


def end_with_parent():
    """So that nothing is left of a benchmark that is killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def connect(port):
    """From an address other than that of the client that is measured."""
    return socket.create_connection(("127.0.0.1", port), timeout=120, source_address=("127.0.0.2", 0))


def header(method, path, more=""):
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode()


def post_forever(port, path, kind, body, several=1):
    """One batch per run; `several` requests in flight on one connection."""
    while True:
        with contextlib.suppress(OSError, http.client.HTTPException), connect(port) as peer:
            for _ in range(several):
                target = f"{JOB}{path}?run={os.urandom(8).hex()}&sequence=1"
                peer.sendall(header("POST", target, f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n") + body)
            for _ in range(several):
                response = http.client.HTTPResponse(peer)
                response.begin()
                response.read()


def names(port, body):
    post_forever(port, "lines", LINES, body)


def bombs(port, body):
    post_forever(port, "batches", FRAMES, body)


def counters(port, _):
    """Valid batches of 300,000 different counters."""
    node = os.getpid()
    body = "".join(f'{{"node":"n{node}_{i}","x":1}}\n' for i in range(300_000)).encode()
    post_forever(port, "lines", LINES, body)


def invalid(port, _):
    """16 MB of lines that are not JSON."""
    post_forever(port, "lines", LINES, b"x\n" * 8_000_000)


def nested(port, _):
    post_forever(port, "lines", LINES, b"[" * 16_000_000)


def overflows(port, _):
    """Batches that 64 bits cannot hold together with the first one, 32 at a time."""
    post_forever(port, "lines", LINES, b'{"node":"most","x":9223372036854775807}\n', several=32)


def commands(port, _):
    body = b"[" + b",".join([b'{"command":"PROFILING","jobid":2001,"node":"c","x":1}'] * 200_000) + b"]"
    request = header("POST", "/api/v1/commands", f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n")
    while True:
        with contextlib.suppress(OSError), connect(port) as peer:
            peer.sendall(request + body)
            peer.recv(65536)


def chunks(port, _):
    """A body of a million chunks of one byte."""
    body = b"1\r\n \r\n" * 1_000_000 + b"0\r\n\r\n"
    while True:
        with contextlib.suppress(OSError), connect(port) as peer:
            peer.sendall(header("POST", JOB + "lines", "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n") + body)
            peer.recv(65536)


def readyz(port, _):
    """Requests that need no token, 32 at a time."""
    while True:
        with contextlib.suppress(OSError), connect(port) as peer:
            while True:
                peer.sendall(header("GET", "/readyz") * 32)
                if not peer.recv(65536):
                    break


def silent(port, _):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    while True:
        peers = []
        with contextlib.suppress(OSError):
            for _ in range(SILENT_CONNECTIONS):
                peers.append(connect(port))
        time.sleep(1)


def slow(port, _):
    """400 headers, a byte per second each."""
    while True:
        peers = []
        with contextlib.suppress(OSError):
            for _ in range(400):
                peers.append(connect(port))
            for byte in header("GET", "/", "X: " + "y" * 100 + "\r\n"):
                for peer in peers:
                    peer.send(bytes([byte]))
                time.sleep(1)


def watchers(port, _):
    """250 event streams that are never read, and marks for them."""
    peers = [connect(port) for _ in range(250)]
    for peer in peers:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        peer.sendall(header("GET", "/api/v1/events"))
    post_forever(port, "lines", LINES, b"".join(b'{"mark":"%s"}\n' % (b"m" * 1000) for _ in range(100)))


ATTACKS = {"names": names, "bombs": bombs, "counters": counters, "invalid": invalid, "nested": nested,
           "overflows": overflows, "commands": commands, "chunks": chunks, "readyz": readyz, "silent": silent, "slow": slow,
           "watchers": watchers}
WITH_BODY = ("names", "bombs")


def body_of(name, build, url):
    if name not in WITH_BODY:
        return None
    return subprocess.run([build / "bench/hub_load", "body", url, name], check=True, stdout=subprocess.PIPE).stdout
