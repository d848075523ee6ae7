#!/usr/bin/env python3
"""slow_partners_test.py CAIRN SOURCE_DIR: SIGTERM while the partners of a server do not answer, or answer slowly: sinks of the outbox, a collector
of traces, a service that is called. The server abandons them and ends within its drain time and the margin of its watchdog, with code 0."""
import json, os, socket, sys, tempfile, threading, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from receiver import Receiver
from served import Served, expect, finish

DRAIN, MARGIN = 8, 5
EVENTS = 200
DEFINITION = f"""
cairn: 1
name: t.events
version: 1.0.0
state: {{ count: 0 }}
steps:
  - repeat:
      times: {EVENTS}
      steps:
        - emit: {{ type: t.counted, subject: '= "s" + string(state.count)', data: = state.count }}
        - set: {{ count: = state.count + 1 }}
  - call:
      http: {{ method: POST, url: = config.url, body: {{}} }}
      timeout: 300s
"""
came = {name: threading.Event() for name in ("hook", "effect", "traces", "redis")}
never = threading.Event()


def answer(path, headers, body):
    if path == "/v1/traces":  # slow, but each batch in time
        came["traces"].set()
        never.wait(1)
        return 200, "{}"
    came["effect" if path == "/effect" else "hook"].set()
    never.wait()
    return 200, "{}"


def drip(listener):
    """A Redis server that takes half a second for each command of a batch."""
    while True:
        connection, _ = listener.accept()

        def serve(connection=connection):
            try:
                connection.recv(65536)
                came["redis"].set()
                connection.sendall(b"+OK\r\n")
                while True:
                    never.wait(0.5)
                    connection.sendall(b"+QUEUED\r\n")
            except OSError:
                pass

        threading.Thread(target=serve, daemon=True).start()


url = Receiver(answer).url
redis = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=drip, args=(redis,), daemon=True).start()
folder = tempfile.TemporaryDirectory()
settings = os.path.join(folder.name, "cairn.toml")
with open(settings, "w") as file:
    file.write(f"""
drain = "{DRAIN}s"
egress = ["{url}"]
[otlp]
endpoint = "{url}"
[config]
url = "{url}/effect"
[[events.sinks]]
name = "hook"
http = {{ url = "{url}/hook", timeout = "60s" }}
[[events.sinks]]
name = "redis"
redis = {{ url = "redis://127.0.0.1:{redis.getsockname()[1]}" }}
""")
server = Served(sys.argv[1], "--config", settings)
expect("it starts", server.port is not None, getattr(server, "said", ""))
deployed = server.call("POST", "/v1/definitions", text=DEFINITION, **{"content-type": "application/yaml"})
expect("the definition is deployed", deployed.status in (200, 201), deployed.text)
started = server.call("POST", "/v1/instances", {"definition": "t.events"})
expect("the instance starts", started.status == 201, started.text)
for _ in range(2000):  # spans for several batches
    server.call("GET", "/livez")
for name, event in came.items():
    expect(f"{name} is asked", event.wait(60))
began = time.monotonic()
code = server.end()
took = time.monotonic() - began
expect("SIGTERM ends with 0", code == 0, (code, server.said[-1500:]))
expect("it ends within its drain time", took < DRAIN + MARGIN, (took, server.said[-1500:]))
stopped = [json.loads(line)["event"] for line in server.said.splitlines() if line.startswith("{")]
expect("the log says that the server stopped", "server.stopped" in stopped, stopped[-20:])
expect("the log says that a sink was slow", "outbox.sink_slow" in stopped, stopped[-20:])
checked = server.run("verify", "--store", server.store)
expect("verify finds nothing", checked.returncode == 0, checked.stdout + checked.stderr)
print("ended after %.1f s" % took)
finish()
