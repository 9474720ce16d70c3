# SPDX-License-Identifier: Apache-2.0
"""legacy_client.py PORT JOB LINES: what the profiling-framework's own clients exchange with their server, byte for byte:
one message per send(), recv(1024), and no delimiter. Creates the job, sends the lines of perf script and a benchmark
row, and prints what the controller's commands return.
"""
import json
import socket
import sys

SEND_PERF_DATA, SEND_BENCHMARK_DATA, CREATE_JOB, REMOVE_JOB, SHOW_ALL_JOB = 1, 2, 3, 4, 5
SHOW_JOB_INFO, SHOW_JOB_BENCHMARK, SHOW_JOB_PROFILING, CLEAR_JOB_BENCHMARK = 6, 7, 8, 9


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def send_data(sock, message):
    sock.sendall(json.dumps(message).encode())
    feedback = sock.recv(1024)
    assert feedback == b"ack", feedback


def control(port, number, **arguments):
    message = {"cmd": None, "info": None, "jobid": None, "file": None, "command": number} | arguments
    with connect(port) as sock:
        send_data(sock, message)
        text = b""
        while (chunk := sock.recv(1024)) != b"endofmsg":
            assert chunk, "closed without endofmsg"
            text += chunk
            sock.sendall(b"ack")
        return text.decode()


def main():
    port, job = int(sys.argv[1]), sys.argv[2]
    print(control(port, CREATE_JOB, cmd="CREATE", info="legacy", jobid=job))
    with connect(port) as sock, open(sys.argv[3], encoding="utf-8") as lines:
        for line in lines:
            send_data(sock, {"command": SEND_PERF_DATA, "message": line, "port": int(job)})
        row = {"time": "1.25", "cycles:u": "1,234", "cache-misses:u": "supported>"}
        send_data(sock, {"command": SEND_BENCHMARK_DATA, "message": json.dumps(row), "port": int(job)})
    print(control(port, SHOW_ALL_JOB, cmd="LIST"), end="")
    print(control(port, SHOW_JOB_INFO, cmd="SHOW_JOB_INFO", jobid=job), end="")
    print(control(port, SHOW_JOB_BENCHMARK, cmd="SHOW_JOB_BENCHMARK", jobid=job), end="")
    with open("profile", "w", encoding="utf-8") as out:
        out.write(control(port, SHOW_JOB_PROFILING, cmd="SHOW_JOB_PROFILING", jobid=job))
    print(control(port, CLEAR_JOB_BENCHMARK, cmd="CLEAR_JOB_BENCHMARK", jobid=job))
    print(repr(control(port, SHOW_JOB_BENCHMARK, cmd="SHOW_JOB_BENCHMARK", jobid=job)))
    print(control(port, REMOVE_JOB, cmd="REMOVE", jobid=job))
    # What is in the profile must be the sums of the lines, added up here.
    sums = {}
    with open(sys.argv[3], encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if words and not line.startswith("#"):
                key = (words[6].split("+0x")[0], words[4].rstrip(":"))
                sums[key] = sums.get(key, 0) + int(words[3])
    found = {}
    with open("profile", encoding="utf-8") as lines:
        for line in lines:
            (name, node), = json.loads(line).items()
            node.pop("execname")
            for event, count in node.items():
                found[name, event] = found.get((name, event), 0) + count
    assert sums and found == sums, (found, sums)
    print(f"{len(sums)} sums agree")


main()
