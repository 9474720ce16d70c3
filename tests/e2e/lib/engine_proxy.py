#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands between a client and a container engine, both on Unix sockets.

engine_proxy.py LISTEN ENGINE [--api 1.40] [--hold REGEX]

--api: the engine says that this is the newest version it speaks, and refuses newer ones, as Docker of that time.
--hold: a request "METHOD PATH" that matches is passed on only when a file LISTEN.go exists; LISTEN.held says that one
waits. --hold-answer: the same for the answer, once the engine has done what was asked.
Each request line is written to LISTEN.log.
"""
import argparse
import os
import re
import socket
import threading
import time


def read_head(stream):
    head = b""
    while b"\r\n\r\n" not in head:
        more = stream.recv(65536)
        if not more:
            return None, b""
        head += more
    head, _, rest = head.partition(b"\r\n\r\n")
    return head, rest


class Proxy:
    def __init__(self, options):
        self.options = options
        self.log = open(options.listen + ".log", "a", buffering=1, encoding="utf-8")

    def wait_for_go(self):
        with open(self.options.listen + ".held", "w", encoding="utf-8"):
            pass
        while not os.path.exists(self.options.listen + ".go"):
            time.sleep(0.01)

    def is_too_new(self, path):
        version = re.match(r"/v1\.(\d+)/", path)
        return self.options.api and version and int(version[1]) > int(self.options.api.split(".")[1])

    def serve(self, client):
        with client:
            head, body = read_head(client)
            if head is None:
                return
            lines = head.split(b"\r\n")
            method, path, _ = lines[0].decode().split(" ")
            self.log.write(f"{method} {path}\n")
            length = next((int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")), 0)
            while len(body) < length:
                body += client.recv(65536)
            if self.is_too_new(path):
                text = b'{"message":"client version is too new. Maximum supported API version is %s"}' % self.options.api.encode()
                client.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close\r\n"
                               b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
                return
            if self.options.hold and re.search(self.options.hold, f"{method} {path}"):
                self.wait_for_go()
            lines = [line for line in lines if not line.lower().startswith(b"connection:")]
            with socket.socket(socket.AF_UNIX) as engine:
                engine.connect(self.options.engine)
                engine.sendall(b"\r\n".join(lines) + b"\r\nConnection: close\r\n\r\n" + body)
                self.answer(client, engine, f"{method} {path}")

    def answer(self, client, engine, request):
        whole = b""
        changed = self.options.api and request == "GET /version"
        held = self.options.hold_answer and re.search(self.options.hold_answer, request)
        while more := engine.recv(65536):
            whole += more
            if not changed and not held:
                client.sendall(more)
        if held:
            self.wait_for_go()
        if changed:
            body = whole.partition(b"\r\n\r\n")[2]
            body = re.sub(rb'("ApiVersion":")[0-9.]+', rb"\g<1>" + self.options.api.encode(), body)
            body = body[body.find(b"{"):body.rfind(b"}") + 1]
            whole = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        if changed or held:
            client.sendall(whole)

    def run(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.options.listen)
            listener.listen(64)
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self.try_serve, args=(client,), daemon=True).start()

    def try_serve(self, client):
        try:
            self.serve(client)
        except OSError:  # either side may hang up
            pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("listen")
    parser.add_argument("engine")
    parser.add_argument("--api")
    parser.add_argument("--hold")
    parser.add_argument("--hold-answer")
    Proxy(parser.parse_args()).run()


if __name__ == "__main__":
    main()
