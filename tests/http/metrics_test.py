#!/usr/bin/env python3
"""metrics_test.py CAIRN SOURCE_DIR [postgres]: a server that has done each kind of work shows it in /metrics, exactly and well-formed. All that
deploy/ and docs/server.md name exists. What the store has is also right after a restart and, on PostgreSQL, on each of two nodes."""
import os, re, sys, time
from metric_queries import faults, names_in, queries_of, samples_of
from served import Served, expect, finish

cairn, source = sys.argv[1], sys.argv[2]
store = None
if sys.argv[3:] == ["postgres"]:
    store = "%s&schema=metrics_%d" % (os.environ["CAIRN_TEST_POSTGRES"], os.getpid())
DEFINITIONS = """
cairn: 1
name: t.task
version: 1.0.0
steps: [ { id: look, task: { name: Review, title: Look, deadline: { after: 1d, steps: [] } } } ]
---
cairn: 1
name: t.call
version: 1.0.0
steps:
  - id: pay
    call: { worker: { type: demo.pay.v1, payload: {} }, retry: { attempts: 3, backoff: 1ms } }
---
cairn: 1
name: t.pause
version: 1.0.0
steps: [ { id: nap, wait: 1ms } ]
---
cairn: 1
name: t.signal
version: 1.0.0
steps: [ { id: hear, signal: { name: go, timeout: 1d } } ]
---
cairn: 1
name: t.quick
version: 1.0.0
steps: [ { set: { x: 1 } } ]
---
cairn: 1
name: t.parent
version: 1.0.0
steps: [ { id: child, subworkflow: { name: t.quick } } ]
---
cairn: 1
name: t.bad
version: 1.0.0
steps: [ { set: { x: '= state.nothing' } } ]
---
cairn: 1
name: t.fail
version: 1.0.0
steps: [ { fail: { code: no, message: no } } ]
"""
# The collector does not exist: its figures exist all the same.
server = Served(cairn, "--otlp-endpoint", "http://127.0.0.1:1", store=store)
for text in DEFINITIONS.split("---\n"):
    made = server.call("POST", "/v1/definitions", text=text, **{"content-type": "application/yaml"})
    expect("it is deployed", made.status == 201, made.text)


def post(path, body, status=(200, 201, 202)):
    answer = server.call("POST", path, body)
    expect(f"{path} is accepted", answer.status in status, answer.text)
    return answer.json


def start(name):
    return post("/v1/instances", {"definition": name})["id"]


def lease(kind):
    return post("/v1/runs/lease", {"worker": "w", "types": [kind], "wait": "10s"})["items"][0]


names = ["t.task"] * 4 + ["t.call", "t.pause", "t.signal", "t.parent", "t.bad", "t.fail", "t.fail"]
ids = [start(name) for name in names]
done, cancelled, suspended = ids[:3]
task = server.call("GET", f"/v1/tasks?instance={done}").json["items"][0]["id"]
post(f"/v1/tasks/{task}/complete", {"payload": {}})
post(f"/v1/instances/{cancelled}/cancel", {"reason": "no need"})
post(f"/v1/instances/{suspended}/suspend", {"reason": "later"})
run = lease("demo.pay.v1")
outcome = post(f"/v1/runs/{run['id']}/fail", {"fence": run["fence"], "error": {"code": "busy", "message": "no answer"}})["outcome"]
expect("the call is tried again", outcome == "will_retry", outcome)
run = lease("demo.pay.v1")
post(f"/v1/runs/{run['id']}/complete", {"fence": run["fence"], "result": 1})
post(f"/v1/instances/{ids[6]}/signals", {"name": "go"})
ended = server.call("GET", f"/v1/instances/{ids[5]}?wait=30s").json
expect("the pause ends", ended["status"] == "completed", ended)
runs = [post("/v1/runs", {"type": kind})["id"] for kind in ["demo.a.v1"] * 2 + ["demo.b.v1", "other.c.v1"]]
lease("demo.a.v1")
# The operations that the dashboard names.
post("/v1/signals", {"name": "unheard", "ttl": "1d"})
post("/v1/runs/report", {"reports": []}, status=(200, 400, 422))
server.call("GET", "/v1/events")
expect("a caller without a key is refused", server.call("GET", "/v1/tasks", role=None).status == 401)


def series(text):
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line and line[0] != "#"}


def read(server):
    text = server.call("GET", "/metrics").text
    return text, series(text)


def family(samples, name):
    return {key[len(name):]: value for key, value in samples.items() if key == name or key.startswith(name + "{")}


# These are the same on every node, and a few seconds old at most.
IN_STORE = {
    "cairn_tasks_open": {"": 2},
    "cairn_instances_suspended": {"": 2},
    "cairn_instances_failed": {"": 2},
    "cairn_instances_open": {'{definition="t.bad",status="active"}': 0, '{definition="t.bad",status="suspended"}': 1,
                             '{definition="t.task",status="active"}': 1, '{definition="t.task",status="suspended"}': 1},
    "cairn_runs_ready": {"": 3},
    "cairn_queue_runs_ready": {'{type_prefix="demo."}': 2, '{type_prefix="other."}': 1},
    "cairn_runs_leased": {"": 1},
    "cairn_messages_waiting": {"": 0},
    "cairn_dead_letters": {"": 0},
    "cairn_timers_late_seconds": {"": 0},
}


def expect_in_store(server, where):
    until = time.monotonic() + 30
    while True:
        text, samples = read(server)
        if all(family(samples, name) == wanted for name, wanted in IN_STORE.items()) or time.monotonic() > until:
            break
    for name, wanted in IN_STORE.items():
        expect(f"{name} {where}", family(samples, name) == wanted, family(samples, name))
    for name in ("cairn_runs_ready_age_seconds", "cairn_runs_leased_age_seconds", 'cairn_queue_age_seconds{type_prefix="demo."}',
                 'cairn_queue_age_seconds{type_prefix="other."}'):
        expect(f"{name} is an age {where}", 0 <= samples.get(name, -1) < 600, samples.get(name))
    return text, samples


text, samples = expect_in_store(server, "at first")
COUNTED = {
    "cairn_instances_started_total": {'{definition="t.bad"}': 1, '{definition="t.call"}': 1, '{definition="t.fail"}': 2, '{definition="t.parent"}': 1,
                                      '{definition="t.pause"}': 1, '{definition="t.quick"}': 1, '{definition="t.signal"}': 1,
                                      '{definition="t.task"}': 4},
    "cairn_instances_ended_total": {'{definition="t.call",status="completed"}': 1, '{definition="t.fail",status="failed"}': 2,
                                    '{definition="t.parent",status="completed"}': 1, '{definition="t.pause",status="completed"}': 1,
                                    '{definition="t.quick",status="completed"}': 1, '{definition="t.signal",status="completed"}': 1,
                                    '{definition="t.task",status="cancelled"}': 1, '{definition="t.task",status="completed"}': 1},
    "cairn_step_duration_seconds_count": {'{definition="t.call",step="pay"}': 1, '{definition="t.parent",step="child"}': 1,
                                          '{definition="t.pause",step="nap"}': 1, '{definition="t.signal",step="hear"}': 1,
                                          '{definition="t.task",step="look"}': 2},
    "cairn_wait_duration_seconds_count": {'{kind="task"}': 2, '{kind="timer"}': 1, '{kind="signal"}': 1, '{kind="subworkflow"}': 1, '{kind="run"}': 1},
    "cairn_timer_lateness_seconds_count": {"": 1},
    "cairn_run_retries_total": {'{type="demo.pay.v1"}': 1},
    "cairn_signals_expired_total": {"": 0},
}
for name, wanted in COUNTED.items():
    expect(f"{name} counts the work", family(samples, name) == wanted, family(samples, name))
for name in ("cairn_step_duration_seconds", "cairn_wait_duration_seconds", "cairn_timer_lateness_seconds"):
    for labels, count in family(samples, name + "_count").items():
        inside = labels[1:-1] + "," if labels else ""
        buckets = [value for key, value in samples.items() if key.startswith(name + "_bucket{" + inside + 'le="')]
        expect(f"{name}{labels} has buckets", len(buckets) == 12 and buckets == sorted(buckets) and buckets[-1] == count, buckets)
        expect(f"{name}{labels} has a sum", 0 <= samples[name + "_sum" + labels] < 600 * (count + 1), samples.get(name + "_sum" + labels))
expect("no ids as labels", not any(id in text for id in ids + runs + [task]))

families = set()
for line in text.splitlines():
    if line.startswith("# TYPE "):
        _, _, name, kind = line.split()
        expect(f"{name} stands once", name not in families)
        families.add(name)
        expect(f"{name} is named as Prometheus wants", re.fullmatch(r"[a-z_]+", name) and (kind != "counter" or name.endswith("_total")), (name, kind))
        expect(f"{name} has a description", f"# HELP {name} " in text)
    elif line and line[0] != "#":
        expect("a sample is well-formed", re.fullmatch(r'[a-z_]+(\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? (NaN|nan|[-+0-9.e]+)', line), line)
        expect("a sample belongs to a family", re.sub(r"_(bucket|sum|count)$", "", re.split("[{ ]", line)[0]) in families, line)

# The alerts and the dashboard in deploy/. This server never fails and is never overloaded.
ABSENT = ('status=~"5.."', 'reason="overloaded"')
found = samples_of(text)
asked = {}
for where, expression, labels in queries_of(source):
    wrong = list(faults(expression, labels, found, ABSENT))
    expect(f"{where} asks for existing series", not wrong, wrong)
    asked.setdefault(where.split()[0], set()).update(re.sub(r"_(bucket|sum|count)$", "", name) for name in names_in(expression))
expect("the queries are found", len(asked["alert"]) > 10 and len(asked["panel"]) > 30, asked)
SHOWN = (set(IN_STORE) | {name.removesuffix("_count") for name in COUNTED}) - {"cairn_signals_expired_total"}
SHOWN |= {"cairn_queue_age_seconds", "cairn_runs_leased_age_seconds", "cairn_runs_ready_age_seconds", "cairn_outbox_age_seconds", "cairn_outbox_waiting"}
expect("the dashboard shows all that the work causes", SHOWN <= asked["panel"], SHOWN - asked["panel"])
for expression in ("cairn_tasks", 'cairn_instances_ended_total{state="failed"}', 'cairn_instances_ended_total{status="lost"}',
                   'cairn_http_requests_total{operation=~"startInstance|startInstances"}', "sum by (name) (cairn_instances_ended_total)",
                   "1 > 0"):
    expect(f"a query that finds nothing is noticed: {expression}", list(faults(expression, set(), found)))
expect("a text with a label that the answer lacks is noticed", list(faults("sum by (definition) (cairn_instances_ended_total)", {"status"}, found)))

with open(os.path.join(source, "docs/server.md")) as file:
    written = file.read()
table = "\n".join(re.findall(r"^\| `cairn_.*$", written, re.M))
described = dict(re.findall(r"`(cairn_[a-z_]+)(?:\{([a-z_,]+)\})?`", table))
expect("docs/server.md describes figures", len(described) > 30, described)
every = {name for name in families if name.startswith("cairn_")}
expect("docs/server.md describes all metrics and no others", set(described) == every, set(described) ^ every)
for name, labels in described.items():
    own = set().union(*found.get(name, found.get(name + "_bucket", [{}]))) - {"le"}
    if name in found or name + "_bucket" in found:
        expect(f"docs/server.md has the labels of {name}", own == set(filter(None, labels.split(","))), (own, labels))

if store:
    other = Served(cairn, store=store, keys=False)
    other.keys = server.keys
    _, elsewhere = expect_in_store(other, "on the other node")
    expect("each node counts its own work", not family(elsewhere, "cairn_instances_started_total"), elsewhere)
    expect("the other node ends with 0", other.end() == 0, other.said)
expect("SIGTERM ends with 0", server.end() == 0, server.said)
server.start()
_, again = expect_in_store(server, "after a restart")
expect("counters begin again", not family(again, "cairn_instances_ended_total"), again)
expect("SIGTERM ends with 0 again", server.end() == 0, server.said)
finish()
