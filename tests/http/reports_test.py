#!/usr/bin/env python3
"""reports_test.py CAIRN SOURCE_DIR [postgres]: the views for reports show what instances did and wait for, and what the pages for operators
say to ask works. Programs read them with SQL beside the server."""
import json, os, re, sqlite3, subprocess, sys
from served import Served, expect, finish

cairn, source = sys.argv[1:3]
on_server = sys.argv[3:] == ["postgres"]
VIEWS = ["wf_instances", "wf_activities", "wf_waits", "wf_execution_log"]
schema = f"reports_{os.getpid()}"
database = os.environ.get("CAIRN_TEST_POSTGRES", "")
if on_server and not database:
    print("CAIRN_TEST_POSTGRES names no server: skipped")
    sys.exit(0)
server = Served(cairn, store=f"{database}&schema={schema}" if on_server else None)


def page():
    """What the page for this store says to ask."""
    name = "postgresql" if on_server else "sqlite"
    with open(os.path.join(source, f"docs/operations/{name}.md")) as file:
        return file.read().split("\n## Reports with SQL\n")[1].split("\n## ")[0]


def psql(text):
    done = subprocess.run(["psql", database, "-v", "ON_ERROR_STOP=1", "-Atq"], input=text, capture_output=True, text=True, timeout=60)
    expect("the database answers", done.returncode == 0, done.stderr + text)
    return done.stdout


def value(cell):
    if not isinstance(cell, str) or not re.match(r"[{[]", cell):
        return cell
    return json.loads(cell)


def ask(query):
    """The rows of a query, with JSON as values. Columns with plain JSON values are text on SQLite."""
    if on_server:
        return json.loads(psql(f"SELECT coalesce(json_agg(q), '[]') FROM ({query.replace('cairn.', schema + '.')}) q"))
    with sqlite3.connect(server.store.removeprefix("sqlite:")) as store:
        rows = store.execute(query.replace("cairn.", ""))
        names = [column[0] for column in rows.description]
        return [dict(zip(names, map(value, row))) for row in rows]


DEFINITIONS = """
cairn: 1
name: review
version: 1.0.0
reference: { key: = input.no }
state: { amount: = input.amount, zero: 0 }
steps:
  - id: ask
    task: { name: Ask, roles: [clerk], payload: { amount: = state.amount }, result: answer, on_complete: [ { id: nap, wait: 1ms } ] }
  - id: pay
    call: { worker: { type: demo.pay, payload: { amount: = state.amount } }, retry: { attempts: 2, backoff: 1ms }, result: receipt }
  - id: hear
    signal: { name: paid, key: = input.no, result: payment }
  - id: race
    first:
      - task: { name: Wait, roles: [clerk] }
      - signal: { name: enough }
  - id: inner
    subworkflow: { name: inner, input: { n: = state.amount }, result: inner }
  - id: divide
    set: { x: = 1 / state.zero }
---
cairn: 1
name: inner
version: 1.0.0
steps: [ { id: wait, signal: { name: go } } ]
output: { n: = input.n }
"""
for text in DEFINITIONS.split("---\n"):
    answer = server.call("POST", "/v1/definitions", text=text, **{"content-type": "application/yaml"})
    expect("it is deployed", answer.status == 201, answer.text)
trace = "0af7651916cd43dd8448eb211c80319c"
started = server.call("POST", "/v1/instances", {"definition": "review", "input": {"no": "R-1", "amount": 12}},
                      traceparent=f"00-{trace}-b7ad6b7169203331-01")
one = started.json["id"]


def instance():
    return ask(f"SELECT status, state_version, current_step, current_place, correlation_id, state, input, output, trace_id FROM cairn.wf_instances WHERE id = '{one}'")[0]


def wait_of(step):
    """What the instance waits for in this step, as soon as it does: a task or a child by its id."""
    for _ in range(100):
        found = server.call("GET", f"/v1/instances/{one}?wait=100ms").json
        waits = [wait for wait in found.get("waits", []) if wait["step"] == step]
        if waits:
            return waits[0]
    expect(f"it waits in {step}", False, found)
    return {"target": ""}


def activity(step):
    rows = ask("SELECT kind, status, attempt, input, result, last_error, actor, CASE WHEN completed_at IS NULL THEN 'open' ELSE 'over' END AS so_far "
               f"FROM cairn.wf_activities WHERE instance_id = '{one}' AND step = '{step}'")
    expect(f"{step} has one visit", len(rows) == 1, rows)
    return tuple(rows[0].values()) if rows else ()


def waits():
    return [tuple(row.values()) for row in ask(f"SELECT kind, step, name, key, payload FROM cairn.wf_waits WHERE instance_id = '{one}' ORDER BY kind")]


seen = instance()
version = started.json["state_version"]
expect("the instance waits for the task", seen == {
    "status": "waiting", "state_version": version, "current_step": "ask", "current_place": "steps[0]", "correlation_id": "R-1",
    "state": {"amount": 12, "zero": 0}, "input": {"no": "R-1", "amount": 12}, "output": None, "trace_id": trace}, seen)
expect("so does the table of waits", waits() == [("task", "ask", "Ask", None, {"amount": 12})], waits())
expect("and the visit is open", activity("ask")[:4] == ("task", "waiting", 1, {"amount": 12}), activity("ask"))
answer = server.call("POST", f"/v1/tasks/{wait_of('ask')['target']}/complete", {"payload": {"ok": True}})
expect("the task is done", answer.status == 200, answer.text)

for attempt in (1, 2):
    run = server.call("POST", "/v1/runs/lease", {"worker": "w", "types": ["demo.pay"], "wait": "10s"}).json["items"][0]
    if attempt == 1:
        expect("the task's steps have ended", activity("ask")[:2] == ("task", "completed"), activity("ask"))
        expect("a call waits", waits() == [("run", "pay", "demo.pay", None, {"amount": 12})], waits())
        server.call("POST", f"/v1/runs/{run['id']}/fail", {"fence": run["fence"], "error": {"class": "transport", "code": "busy", "message": "no answer"}})
    else:
        server.call("POST", f"/v1/runs/{run['id']}/complete", {"fence": run["fence"], "result": {"receipt": 7}})
wait_of("hear")
expect("a signal is awaited", waits() == [("signal", "hear", "paid", "R-1", None)], waits())
answer = server.call("POST", f"/v1/instances/{one}/signals", {"name": "paid", "key": "R-1", "payload": {"sum": 5}})
expect("the signal is taken", answer.status in (200, 202), answer.text)
wait_of("race")
server.call("POST", f"/v1/instances/{one}/signals", {"name": "enough", "payload": {"why": "late"}})
child = wait_of("inner")["target"]
expect("a child is awaited", waits() == [("subworkflow", "inner", "inner", None, {"n": 12})], waits())
expect("its visit is open", activity("inner")[:4] == ("subworkflow", "waiting", 1, {"n": 12}), activity("inner"))
server.call("POST", f"/v1/instances/{child}/signals", {"name": "go"})
for _ in range(100):
    if server.call("GET", f"/v1/instances/{one}?wait=100ms").json["status"] == "suspended":
        break

expect("the task", activity("ask")[:5] == ("task", "completed", 1, {"amount": 12}, {"ok": True}) and activity("ask")[6:] == ("admin-person", "over"),
       activity("ask"))
expect("the timer", activity("nap")[:2] == ("timer", "completed") and activity("nap")[3][0]["kind"] == "timer", activity("nap"))
expect("the call, with its retry", activity("pay")[:6] == ("call", "completed", 2, {"amount": 12}, {"receipt": 7}, "busy: no answer"), activity("pay"))
expect("the signal", activity("hear")[:5] == ("signal", "completed", 1, [{"kind": "signal", "name": "paid", "key": "R-1"}], {"sum": 5}),
       activity("hear"))
expect("the first of several", activity("race")[1] == "completed" and activity("race")[4] == {"why": "late"}, activity("race"))
expect("the child", activity("inner")[:5] == ("subworkflow", "completed", 1, {"n": 12}, {"n": 12}), activity("inner"))
failed = activity("divide")
expect("the failure", failed[:2] == (None, "failed") and "division" in failed[5] and failed[7] == "over", failed)
expect("the instance names the step that failed", instance()["current_step"] == "divide" and instance()["status"] == "suspended", instance())
expect("nothing is awaited", waits() == [], waits())

log = ask(f"SELECT kind, step, visit, input, duration_ms, trace_id FROM cairn.wf_execution_log WHERE instance_id = '{one}' ORDER BY n")
expect("the log begins with the input", log[0]["kind"] == "started" and log[0]["step"] == "" and log[0]["input"] == {"no": "R-1", "amount": 12}, log[0])
expect("every entry has the trace", {entry["trace_id"] for entry in log} == {trace}, log)
for step in ("ask", "nap", "pay", "hear", "race", "inner"):
    pair = [entry for entry in log if entry["step"] == step]
    expect(f"{step} is a pair", [entry["kind"] for entry in pair] == ["started", "completed"] and pair[0]["visit"] == pair[1]["visit"], pair)
    expect(f"{step} has a duration", pair[0]["duration_ms"] is None and pair[1]["duration_ms"] >= 0, pair)
    expect(f"{step} has its input", pair[0]["input"] is not None, pair)
history = server.call("GET", f"/v1/instances/{one}/history").json["items"]
expect("the API names the same visits", [entry.get("visit") for entry in history] == [entry["visit"] for entry in log], history)

described = page()
for block in re.findall(r"^```sql\n(.*?)^```$", described, re.M | re.S):
    for query in filter(str.strip, re.sub(r"^--.*$", "", block, flags=re.M).split(";")):
        expect("the example answers", isinstance(ask(query.strip()), list), query)
if on_server:
    for view in VIEWS:
        part = described.split(f"`{view}`: ")[1].split("```")[0]
        columns = ask(f"SELECT attname FROM pg_attribute WHERE attrelid = 'cairn.{view}'::regclass AND attnum > 0")
        expect(f"every column of {view} is described", columns and all(f"`{column['attname']}`" in part for column in columns), columns)
expect("the server ends with 0", server.end() == 0, server.said)
if on_server:
    psql(f"SET client_min_messages = error; DROP SCHEMA {schema} CASCADE")
finish()
