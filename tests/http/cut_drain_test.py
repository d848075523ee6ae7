#!/usr/bin/env python3
"""cut_drain_test.py CAIRN SOURCE_DIR: a server whose drain time is over while requests of every kind are under way still ends cleanly.
CAIRN_CUT_DRAINS sets how often (6)."""
import os, random, signal, socket, sys, threading, time
from served import Served, expect, finish

rounds = int(os.environ.get("CAIRN_CUT_DRAINS", "6"))
seed = int(os.environ.get("CAIRN_SEED", str(random.SystemRandom().randrange(1 << 31))))
print(f"seed {seed}")
chance = random.Random(seed)


def text(method, path, body=b"", more=""):
    kind = "Content-Type: application/json\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n{kind}{more}Content-Length: {len(body)}\r\n\r\n".encode() + body


def kinds(number):
    unique = f"Idempotency-Key: k{number}-{time.monotonic_ns()}\r\n"
    lease = b'{"worker":"w","types":["demo.y"],"max":2,"wait":"5s"}'
    batch = b'{"runs":[' + b",".join(b'{"type":"demo.z","payload":%d}' % at for at in range(200)) + b"]}"
    return [text("POST", "/v1/runs/lease", lease), text("POST", "/v1/runs/lease", lease, unique), text("GET", "/v1/events"), text("GET", "/metrics"),
            text("POST", "/v1/runs/batch", batch), text("POST", "/v1/runs", b'{"type":"demo.y","payload":1}', unique), text("GET", "/v1/runs?limit=1000"),
            text("POST", "/v1/signals", b'{"name":"x"}', unique)]


def client(number, port, stop, answered):
    while not stop.is_set():
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
                for _ in range(20):
                    connection.sendall(kinds(number)[number % len(kinds(0))])
                    if stop.is_set() or not connection.recv(65536):
                        break
                    answered.release()
        except OSError:
            stop.wait(0.01)


for at in range(rounds):
    server = Served(sys.argv[1], "--drain", "0s", "--drain-delay", "0s", environment={"CAIRN_LIMITS_EXPENSIVE_MAX": "0"})
    expect(f"round {at}: it starts", server.port is not None, getattr(server, "said", ""))
    if server.port is None:
        break
    key = server.keys["admin"]
    stop, answered = threading.Event(), threading.Semaphore(0)
    clients = [threading.Thread(target=client, args=(number, server.port, stop, answered), daemon=True) for number in range(40)]
    for one in clients:
        one.start()
    for _ in range(chance.randrange(20, 600)):  # the moment of the stop
        if not answered.acquire(timeout=60):
            break
    server.process.send_signal(signal.SIGTERM)
    code = server.end()
    stop.set()
    for one in clients:
        one.join(30)
    expect(f"round {at}: it ends with 0", code == 0, (code, server.said[-800:]))
finish()
