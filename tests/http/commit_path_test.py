#!/usr/bin/env python3
"""commit_path_test.py CAIRN SOURCE_DIR: what one client may do to the server and to its own instances. Thousands of signals at once to one instance,
deleting the run that an instance waits for, and periods that no calendar holds. The server stays alive, and no instance waits for ever."""
import resource, socket, sys
from served import Served, expect, finish

SIGNALS = 3000
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, SIGNALS + 1000), hard))
ENDS = """
cairn: 1
name: t.ends
version: 1.0.0
steps: [ { signal: { name: go } } ]
"""
CALLS = """
cairn: 1
name: t.calls
version: 1.0.0
input: { type: object, properties: { length: { type: string } } }
steps: [ { call: { worker: { type: demo.call.v1, payload: {} }, timeout: '= duration(input.length)', retry: none } } ]
"""
WAITS = "cairn: 1\nname: t.waits\nversion: 1.0.0\nsteps: [ { wait: { for: 1s } } ]\n"
server = Served(sys.argv[1], "--log-level", "error")
expect("it starts", server.port is not None, getattr(server, "said", ""))
for text in (ENDS, CALLS, WAITS):
    made = server.call("POST", "/v1/definitions", text=text, **{"content-type": "application/yaml"})
    expect("a definition is deployed", made.status in (200, 201), made.text)


def start(definition, **given):
    return server.call("POST", "/v1/instances", {"definition": definition, "input": given}).json["id"]


# A burst of signals to one instance, which ends with the first: the others wait in line and are refused one after the other.
for burst in range(2):
    instance = start("t.ends")
    body = b'{"name":"go"}'
    request = (f"POST /v1/instances/{instance}/signals HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.keys['admin']}\r\nConnection: close\r\n"
               f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body
    opened, statuses = [], []
    try:
        for _ in range(SIGNALS):
            opened.append(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            opened[-1].sendall(request[:-1])
        for one in opened:
            one.sendall(request[-1:])
        for one in opened:
            statuses.append(one.recv(4096)[9:12])
    except OSError as failure:
        statuses.append(repr(failure))
    for one in opened:
        one.close()
    expect("every signal of a burst is answered", len(statuses) == SIGNALS and set(statuses) <= {b"200", b"409"} and b"200" in statuses,
           (server.process.poll(), len(statuses), set(statuses)))
    if server.process.poll() is not None:
        expect("the process lives", False, server.end())
        finish()

# A run that an instance waits for is not deleted.
instance = start("t.calls", length="PT1H")
run = server.call("GET", f"/v1/runs?instance={instance}").json["items"][0]["id"]
refused = server.call("DELETE", f"/v1/runs/{run}?reason=test")
expect("a run that an instance waits for is not deleted", refused.status == 409 and instance in refused.text, refused.text)
leased = server.call("POST", "/v1/runs/lease", {"worker": "w", "types": ["demo.call.v1"]}).json["items"]
expect("it can be leased", [one["id"] for one in leased] == [run], leased)
for one in leased:
    server.call("POST", f"/v1/runs/{run}/complete", {"fence": one["fence"], "result": {}})
expect("the instance ends", server.call("GET", f"/v1/instances/{instance}").json["status"] == "completed")
deleted = server.call("DELETE", f"/v1/runs/{run}?reason=test")
expect("then it can be deleted", deleted.status in (200, 204), deleted.text)

# Periods that no calendar holds: refused, or cut. Whatever else is due continues.
long = CALLS.replace("'= duration(input.length)'", "P3600000D").replace("t.calls", "t.long")
refused = server.call("POST", "/v1/definitions", text=long, **{"content-type": "application/yaml"})
expect("a definition with such a timeout is refused", refused.status == 422, refused.text[:300])
refused = server.call("PUT", "/v1/run-types/demo.call.v1", {"lease": "P3600000D"})
expect("a lease of such a length is refused", refused.status in (400, 422), (refused.status, refused.text[:300]))
start("t.calls", length="P3600000D")
leased = server.call("POST", "/v1/runs/lease", {"worker": "w", "types": ["demo.call.v1"]})
expect("a call with such a timeout is leased", leased.status == 200 and len(leased.json["items"]) == 1, leased.text)
ended = server.call("GET", f"/v1/instances/{start('t.waits')}?wait=30s")
expect("timers fire", ended.json["status"] == "completed", ended.text)
expect("SIGTERM ends with 0", server.end() == 0, server.said[-1500:])
expect("nothing failed inside", '"level":"error"' not in server.said, server.said[-1000:])
checked = server.run("verify", "--store", server.store)
expect("verify finds nothing", checked.returncode == 0, checked.stdout + checked.stderr)
finish()
