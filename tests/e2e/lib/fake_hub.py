# SPDX-License-Identifier: Apache-2.0
"""fake_hub.py PORT_FILE MODE: a hub that misbehaves. silent: accepts and never answers. drip: answers a byte at a time,
without end. stall: answers questions, but never a POST. Prints the first line of each request."""
import socket
import sys
import threading
import time


def serve(peer, mode):
    try:
        request = b""
        while b"\r\n\r\n" not in request:
            request += peer.recv(65536) or b"\r\n\r\n"
        print(request.split(b"\r\n")[0].decode(), flush=True)
        if mode == "drip":
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while True:
                peer.sendall(b" ")
                time.sleep(0.1)  # what a drip is
        if mode == "stall" and request.startswith(b"GET"):
            body = b'{"id":2001,"description":"","rows":0,"acknowledged":0}'
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            return serve(peer, mode)
        while peer.recv(65536):
            pass
    except OSError:
        pass


listening = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.write(str(listening.getsockname()[1]))
while True:
    threading.Thread(target=serve, args=(listening.accept()[0], sys.argv[2]), daemon=True).start()
