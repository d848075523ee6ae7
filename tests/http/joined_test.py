#!/usr/bin/env python3
"""joined_test.py CAIRN SOURCE_DIR: a caller's trace goes on in everything that its request causes, over restarts and kills: the spans, the http call,
the runs that workers lease, children, events; and a header that is none begins nothing but the instance's own trace."""
import hashlib, json, os, signal, sys, tempfile, threading
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from receiver import Receiver
from served import Served, expect, finish

TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = f"00-{TRACE}-b7ad6b7169203331-01"
PARENT = """
cairn: 1
name: t.order
version: 1.0.0
steps:
  - task: { name: Review }
  - call: { http: { method: POST, url: = config.url, body: { no: = input.no } }, result: charged }
  - subworkflow: { name: t.pack, input: { no: = input.no }, result: packed }
  - emit: { type: order.done, subject: = input.no, data: { no: = input.no } }
output: = state.packed
"""
CHILD = """
cairn: 1
name: t.pack
version: 1.0.0
steps:
  - call: { worker: { type: demo.pack.v1, payload: = input.no }, result: packed }
output: = state.packed
"""


class Outside:
    """The partner, the receiver of events and the collector of traces."""
    changed = threading.Condition()
    calls, events, spans = [], [], []

    @staticmethod
    def answer(path, headers, body):
        body = json.loads(body)
        with Outside.changed:
            if path == "/v1/traces":
                Outside.spans += [span for resource in body["resourceSpans"] for scope in resource["scopeSpans"] for span in scope["spans"]]
            elif path == "/events":
                Outside.events.append(body)
            else:
                Outside.calls.append((headers["traceparent"], body))
            Outside.changed.notify_all()
        return 200, "{}"


def until(found):
    with Outside.changed:
        return Outside.changed.wait_for(found, 60)


url = Receiver(Outside.answer).url
folder = tempfile.TemporaryDirectory()
settings = os.path.join(folder.name, "cairn.toml")
with open(settings, "w") as file:
    file.write(f'egress = ["{url}"]\n[config]\nurl = "{url}/charge"\n[otlp]\nendpoint = "{url}"\n[events]\nkeep = ["instances", "tasks", "runs"]\n'
               f'[[events.sinks]]\nname = "outside"\nhttp = {{ url = "{url}/events" }}\n')
server = Served(sys.argv[1], "--config", settings)
expect("it starts", server.port is not None, getattr(server, "said", ""))
for definition in (CHILD, PARENT):
    server.call("POST", "/v1/definitions", text=definition, **{"content-type": "application/yaml"})


def order(no, traceparent):
    """Starts one, kills the server, and lets the next one finish it: what it sent is answered with."""
    headers = {"traceparent": traceparent} if traceparent else {}
    instance = server.call("POST", "/v1/instances", {"definition": "t.order", "input": {"no": no}}, **headers).json["id"]
    submitted = server.call("POST", "/v1/runs", {"type": "demo.alone.v1", "payload": [no]}, **headers).json
    # One that is killed still has the lock on the outbox for a while, which only matters where events are looked at.
    server.end(signal.SIGTERM if no == "A1" else signal.SIGKILL)
    server.start("--config", settings)
    task = server.call("GET", f"/v1/tasks?instance={instance}").json["items"][0]["id"]
    server.call("POST", f"/v1/tasks/{task}/assign", {"assignee": "admin-person"})
    server.call("POST", f"/v1/tasks/{task}/complete", {"payload": {}}, traceparent="00-" + "c" * 32 + "-" + "d" * 16 + "-01")
    runs = {}
    while len(runs) < 2:
        for run in server.call("POST", "/v1/runs/lease", {"worker": "w", "prefixes": ["demo."], "max": 10, "wait": "30s"}, role="worker").json["items"]:
            runs[run["type"]] = run
            server.call("POST", f"/v1/runs/{run['id']}/complete", {"fence": run["fence"], "result": run["payload"]}, role="worker")
    ended = server.call("GET", f"/v1/instances/{instance}?wait=30s").json
    expect("it ends as it would without a trace", ended["status"] == "completed" and ended["output"] == no, ended)
    expect("workers get the payload that was given", runs["demo.pack.v1"]["payload"] == no and runs["demo.alone.v1"]["payload"] == [no] and
           submitted["payload"] == [no], runs)
    return instance, runs


def of(instance, children=True):
    return [event for event in Outside.events if event.get("instance") == instance or (children and event["data"].get("parent") == instance)]


instance, runs = order("A1", CALLER)
traces = {kind: run["traceparent"] for kind, run in runs.items()}
expect("a worker's run is in the caller's trace", traces["demo.pack.v1"][3:35] == TRACE, traces)
expect("and so is one without an instance", traces["demo.alone.v1"][3:35] == TRACE, traces)
expect("each is a span of its own", len({trace[36:52] for trace in traces.values()} | {CALLER[36:52]}) == 3, traces)
expect("the http call is in it", until(lambda: Outside.calls) and Outside.calls[0][0][3:35] == TRACE and Outside.calls[0][0][53:] == "01" and
       Outside.calls[0][1] == {"no": "A1"}, Outside.calls)
# Events of different subjects arrive in no order.
kinds = {"cairn.instance.started", "cairn.instance.completed", "cairn.task.opened", "cairn.task.assigned", "cairn.task.completed", "order.done",
         "cairn.run.succeeded"}
whole = until(lambda: kinds <= {event["type"] for event in of(instance)} and
              any(event["subject"] == runs["demo.alone.v1"]["id"] for event in Outside.events))
told = of(instance)
expect("its events arrive", whole, {event["type"] for event in told})
expect("all of them in the caller's trace", all(event["traceparent"][3:35] == TRACE for event in told), [event for event in told if event["traceparent"][3:35] != TRACE])
alone = [event for event in Outside.events if event["subject"] == runs["demo.alone.v1"]["id"]]
expect("the event about the run on its own too", alone and alone[0]["traceparent"][3:35] == TRACE, alone)
expect("data is what was said", [event["data"] for event in told if event["type"] == "order.done"] == [{"no": "A1"}], told)
listed = server.call("GET", f"/v1/outbox?instance={instance}").json["items"]
expect("the outbox says the same", listed and all(event["traceparent"][3:35] == TRACE and "$traceparent" not in json.dumps(event) for event in listed), listed)
lives = lambda: [span for span in Outside.spans if span["name"].startswith("workflow ") and span["traceId"] == TRACE]
expect("both lives are spans of it", until(lambda: len(lives()) == 2), Outside.spans)
life, child = sorted(lives(), key=lambda span: span["name"])
request = [span for span in Outside.spans if span["name"] == "startInstance"]
expect("below the request, when that was sent before the kill", life["parentSpanId"] == (request[0]["spanId"] if request else life["parentSpanId"]), (life, request))
expect("a child's life is below its parent's", child["parentSpanId"] == life["spanId"], (life, child))
linked = [span for span in Outside.spans if span["name"] == "advance task_completed" and span["traceId"] == TRACE]
expect("a later request in another trace is linked", linked and any(link["traceId"] == "c" * 32 for link in linked[0]["links"]), linked)

# If a caller does not record its trace, no later hop records it.
Outside.calls.clear()
silent = "00-" + "e" * 32 + "-" + "f" * 16 + "-00"
instance, runs = order("A2", silent)
expect("not kept stays not kept", runs["demo.pack.v1"]["traceparent"][3:35] == "e" * 32 and runs["demo.pack.v1"]["traceparent"][53:] == "00" and
       until(lambda: Outside.calls) and Outside.calls[0][0][53:] == "00", (runs, Outside.calls))

# What is no traceparent is ignored, and so is none at all.
for no, bad in (("A3", CALLER[:-1]), ("A4", CALLER.replace(TRACE, "0" * 32)), ("A5", "ff" + CALLER[2:]), ("A6", CALLER.upper()), ("A7", None)):
    Outside.calls.clear()
    instance, runs = order(no, bad)
    own = hashlib.sha256(instance.encode()).hexdigest()[:32]
    expect(f"{bad}: the trace is the instance's own", until(lambda: Outside.calls) and Outside.calls[0][0][3:35] == own, (own, Outside.calls))
    run = runs["demo.alone.v1"]
    expect(f"{bad}: and the run's own", run["traceparent"][3:35] == hashlib.sha256(run["id"].encode()).hexdigest()[:32], run)
expect("SIGTERM ends with 0", server.end() == 0, server.said)
expect("nothing of the trace that is not kept was sent", not [span for span in Outside.spans if span["traceId"] == "e" * 32], Outside.spans)
finish()
