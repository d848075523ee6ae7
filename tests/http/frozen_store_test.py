#!/usr/bin/env python3
"""frozen_store_test.py CAIRN SOURCE_DIR: SIGTERM while PostgreSQL does not answer any more, with calls and requests in progress. The server closes its
connections and ends by itself: with code 0, and before its watchdog would end it. Until then it says that it is alive, although every request waits
for the database. CAIRN_TEST_POSTGRES names the server."""
import os, select, socket, sys, tempfile, threading, time, urllib.parse
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from receiver import Receiver
from served import Served, expect, finish

DRAIN, MARGIN = 10, 5
CHAIN = """
cairn: 1
name: t.chain
version: 1.0.0
steps:
  - repeat:
      times: 1000
      steps:
        - call: { http: { method: POST, url: = config.url, body: {} }, retry: none }
        - emit: { type: t.called, subject: a, data: 1 }
"""
WORK = """
cairn: 1
name: t.work
version: 1.0.0
steps: [ { call: { worker: { type: demo.frozen.v1, payload: {} } } } ]
"""
POSTGRES = os.environ["CAIRN_TEST_POSTGRES"]


class Proxy:
    """Forwards connections to the socket of the database until it is frozen. Then they stay open and nothing passes."""

    def __init__(self, target, folder):
        self.target, self.frozen = target, threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(folder, ".s.PGSQL.5432"))
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.target)
            threading.Thread(target=self.forward, args=(client, server), daemon=True).start()

    def forward(self, client, server):
        try:
            while True:
                ready, _, _ = select.select([client, server], [], [])
                if self.frozen.is_set():
                    threading.Event().wait()
                for one in ready:
                    data = one.recv(65536)
                    if not data:
                        return
                    (server if one is client else client).sendall(data)
        except OSError:
            pass
        finally:
            if not self.frozen.is_set():
                client.close()
                server.close()


def stop_with_a_frozen_database(name, requests, reads=0, workers=0):
    base, _, query = POSTGRES.partition("?")
    query = dict(urllib.parse.parse_qsl(query))
    folder = tempfile.TemporaryDirectory()
    proxy = Proxy(os.path.join(query["host"], ".s.PGSQL.5432"), folder.name)
    query.update(host=folder.name, schema="frozen_%d_%s" % (os.getpid(), name))
    store = base + "?" + urllib.parse.urlencode(query, safe="/")
    came = threading.Semaphore(0)

    def answer(path, headers, body):
        came.release()
        if path == "/events":
            time.sleep(0.01)
        return 200, "{}"

    url = Receiver(answer).url
    settings = os.path.join(folder.name, "cairn.toml")
    with open(settings, "w") as file:
        file.write(f'drain = "{DRAIN}s"\negress = ["{url}"]\n[config]\nurl = "{url}/"\n'
                   f'[[events.sinks]]\nname = "web"\nhttp = {{ url = "{url}/events" }}\n')
    server = Served(sys.argv[1], "--config", settings, store=store)
    expect("it starts", server.port is not None, getattr(server, "said", ""))
    for text in (CHAIN, WORK):
        deployed = server.call("POST", "/v1/definitions", text=text, **{"content-type": "application/yaml"})
        expect("the definition is deployed", deployed.status in (200, 201), deployed.text)
    # Workers that wait for a run: the next run is promised to one of them before it is committed.
    polls = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(workers)]
    for number, connection in enumerate(polls):
        body = '{"worker":"w%d","types":["demo.frozen.v1"],"wait":"50s"}' % number
        connection.sendall(f"POST /v1/runs/lease HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.keys['admin']}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    for _ in range(4):
        server.call("POST", "/v1/instances", {"definition": "t.chain"})
    for _ in range(40):
        came.acquire(timeout=60)
    proxy.frozen.set()

    def ask():
        try:
            server.call("POST", "/v1/instances", {"definition": "t.work" if workers else "t.chain"})
        except OSError:
            pass  # the server ended

    asking = [threading.Thread(target=ask, daemon=True) for _ in range(requests)]
    for thread in asking:
        thread.start()
    waiting = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(reads)]
    for connection in waiting:
        connection.sendall(f"GET /v1/instances HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.keys['admin']}\r\n\r\n".encode())
    for _ in range(20 if reads or workers else 0):
        began = time.monotonic()
        try:
            alive = server.call("GET", "/livez", role=None).status
        except OSError as failure:
            alive = failure
        took = time.monotonic() - began
        expect(f"{name}: it is alive", alive == 200 and took < MARGIN, (alive, took))
        if alive != 200 or took >= MARGIN:
            break
    began = time.monotonic()
    code = server.end()
    took = time.monotonic() - began
    expect(f"{name}: SIGTERM ends with 0", code == 0, (code, server.said[-1500:]))
    expect(f"{name}: it ends by itself", took < DRAIN + MARGIN and "stop_overdue" not in server.said, (took, server.said[-1500:]))
    print("%s: ended after %.1f s" % (name, took))


stop_with_a_frozen_database("calls", 0)
stop_with_a_frozen_database("requests", 6)
stop_with_a_frozen_database("reads", 0, 64)
stop_with_a_frozen_database("workers", 2, workers=3)
finish()
