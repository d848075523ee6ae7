#!/usr/bin/env python3
"""bulk_drain_test.py CAIRN SOURCE_DIR: SIGTERM while a client waits for the progress of a bulk job. The drain answers the client with the progress so far.
It does not wait for the job."""
import concurrent.futures, json, signal, socket, sys
from served import Served, expect, finish

FLOW = "cairn: 1\nname: t\nversion: 1.0.0\nsteps: [ { task: { name: T } } ]\n"
COUNT, ROUNDS = 500, 5


def poll_during_a_stop():
    """The answer to a poll that waits for the end of a job, sent just before SIGTERM."""
    server = Served(sys.argv[1], "--drain", "60s")
    expect("it starts", server.port is not None, getattr(server, "said", ""))
    server.call("POST", "/v1/definitions", text=FLOW, **{"content-type": "application/yaml"})
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: server.call("POST", "/v1/instances", {"definition": "t"}), range(COUNT)))
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as line:
        job = server.call("POST", "/v1/bulk", {"action": "suspend", "filter": "definition:t"}).json["id"]
        line.sendall(f"GET /v1/bulk/{job}?after={COUNT} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {server.keys['admin']}\r\n\r\n".encode())
        server.process.send_signal(signal.SIGTERM)
        text = b""
        while part := line.recv(65536):
            text += part
    expect("it ends with 0", server.end() == 0, server.said[-1000:])
    return json.loads(text.partition(b"\r\n\r\n")[2])


# The job may be quicker than the signal, but not each time.
answers = []
for _ in range(ROUNDS):
    answers.append(poll_during_a_stop())
    if not answers[-1]["finished"]:
        break
expect("a drain does not wait for a bulk job", not answers[-1]["finished"], answers)
finish()
