#!/usr/bin/env python3
"""problems_test.py CAIRN SOURCE_DIR: every problem has a description at its address, the same as in docs/errors.md, and input errors say where they are."""
import json, os, re, subprocess, sys
from served import Served, expect, finish

cairn, source = sys.argv[1], sys.argv[2]
with open(os.path.join(source, "docs/errors.md")) as file:
    table = file.read().split("# Problems of the HTTP API")[1]
documented = {}
for line in table.splitlines():
    if not line.startswith("| `"):
        continue
    names, status, description, advice = (cell.strip() for cell in (line.strip("|") + " ").split(" | ", 3))
    for name in re.findall(r"`([a-z_]+)`", names):
        documented[name] = {"type": f"/problems/{name}", "status": int(status), "description": description, "advice": advice}
used = set()
for folder, _, files in os.walk(os.path.join(source, "src")):
    for name in files:
        if name.endswith(".cc") and not name.endswith("_test.cc"):
            with open(os.path.join(folder, name)) as file:
                used |= set(re.findall(r'\bproblem\(\s*\d{3},\s*"([a-z_]+)"', file.read()))
expect("the table has rows, and the code problems", len(documented) > 30 and len(used) > 25, (len(documented), len(used)))
expect("every problem is documented", used <= set(documented), used - set(documented))

server = Served(cairn)
for name, text in documented.items():
    answer = server.call("GET", f"/problems/{name}", role=None)  # without a credential
    expect(f"/problems/{name} is as documented", answer.status == 200 and answer.json == text, f"{answer.text}\n  {text}")
expect("another name is 404", server.call("GET", "/problems/none", role=None).status == 404)


def refused(what, answer, wanted, name="invalid"):
    at = [error.get("pointer") for error in (answer.json or {}).get("errors", [])]
    expect(what, answer.status == 422 and answer.json["type"] == f"/problems/{name}" and at == wanted, (answer.status, answer.text))
    expect(f"{what}: each with a text", all(error["detail"] for error in answer.json["errors"]), answer.text)
    expect(f"{what}: its address has the description", server.call("GET", answer.json["type"], role=None).status == 200)


DEFINITION = """
cairn: 1
name: t.form
version: 1.0.0
input: { type: object, required: [customer], properties: { customer: { type: string }, lines: { items: { type: integer } } } }
steps:
  - task: { name: Review, form: { type: object, required: [approved], properties: { approved: { type: boolean } } } }
"""
server.call("POST", "/v1/definitions", text=DEFINITION, **{"content-type": "application/yaml"})
refused("input of the wrong kind", server.call("POST", "/v1/instances", {"definition": "t.form", "input": {"customer": 5, "lines": [1, "two"]}}),
        ["/input/customer", "/input/lines/1"])
refused("a required member", server.call("POST", "/v1/instances", {"definition": "t.form", "input": {}}), ["/input"])
refused("a body of the wrong shape", server.call("POST", "/v1/instances", {"definition": 7}), ["/definition"])
started = server.call("POST", "/v1/instances", {"definition": "t.form", "input": {"customer": "ada"}}).json["id"]
task = server.call("GET", f"/v1/tasks?instance={started}").json["items"][0]["id"]
refused("a form", server.call("POST", f"/v1/tasks/{task}/complete", {"payload": {"approved": "yes"}}), ["/payload/approved"])
refused("a schedule", server.call("POST", "/v1/schedules", {"name": "nightly", "cron": "99 * * * *", "start": {"definition": "t.form"}}), ["/cron"])
refused("a definition", server.call("POST", "/v1/definitions", text="cairn: 1\nname: t.x\nversion: 1.0.0\nsteps: [ { tsk: {} } ]\n", **{"content-type": "application/yaml"}),
        ["/steps/0/tsk"], "definition_invalid")

# Values that the schema of a route takes for any text.
RULES = """
cairn: 1
name: t.rules
version: 1.0.0
signals: { paid: { schema: { type: object, properties: { amount: { type: number } } } } }
state: { n: 0 }
state_schema: { type: object, properties: { n: { type: number } } }
steps:
  - task: { name: Review, require: [ completion.n > 3 ] }
"""
server.call("POST", "/v1/definitions", text=RULES, **{"content-type": "application/yaml"})
ruled = server.call("POST", "/v1/instances", {"definition": "t.rules"}).json["id"]
task = server.call("GET", f"/v1/tasks?instance={ruled}").json["items"][0]["id"]
signals = f"/v1/instances/{ruled}/signals"
LONG = "4000d"
for what, method, path, body, wanted in (
    ("a guard", "POST", f"/v1/tasks/{task}/complete", {"payload": {"n": 1}}, ["/payload"]),
    ("the payload of a signal", "POST", signals, {"name": "paid", "payload": {"amount": "x"}}, ["/payload/amount"]),
    ("the payload of a signal by name", "POST", "/v1/signals", {"name": "paid", "payload": {"amount": "x"}}, ["/payload/amount"]),
    ("the ttl of a signal", "POST", signals, {"name": "x", "ttl": "soon"}, ["/ttl"]),
    ("the ttl of a signal by name", "POST", "/v1/signals", {"name": "x", "ttl": "-1s"}, ["/ttl"]),
    ("the name of a signal", "POST", signals, {"name": ""}, ["/name"]),
    ("an edit", "PATCH", f"/v1/instances/{ruled}/state", {"n": "x"}, ["/n"]),
    ("the filter of a bulk action", "POST", "/v1/bulk", {"action": "cancel", "filter": "colour:red"}, ["/filter"]),
    ("the lifetime of a key", "POST", "/v1/keys", {"subject": "s", "roles": ["viewer"], "expires_in": "soon"}, ["/expires_in"]),
    ("a delay", "POST", "/v1/runs", {"type": "t", "delay": "soon"}, ["/delay"]),
    ("a time", "POST", "/v1/runs", {"type": "t", "run_at": "soon"}, ["/run_at"]),
    ("a time and a delay", "POST", "/v1/runs", {"type": "t", "run_at": "2030-01-01T00:00:00Z", "delay": "1s"}, ["/delay"]),
    ("a timeout", "POST", "/v1/runs", {"type": "t", "timeout": LONG}, ["/timeout"]),
    ("a backoff", "POST", "/v1/runs", {"type": "t", "retry": {"backoff": "soon"}}, ["/retry/backoff"]),
    ("a cap", "POST", "/v1/runs", {"type": "t", "retry": {"cap": "soon"}}, ["/retry/cap"]),
    ("a delay of many", "POST", "/v1/runs/batch", {"runs": [{"type": "t"}, {"type": "t", "delay": "soon"}]}, ["/runs/1/delay"]),
    ("a timeout of many", "POST", "/v1/runs/batch", {"runs": [{"type": "t"}, {"type": "t", "timeout": LONG}]}, ["/runs/1/timeout"]),
    ("a lease", "POST", "/v1/runs/lease", {"worker": "w", "lease": "1ms"}, ["/lease"]),
    ("a wait", "POST", "/v1/runs/lease", {"worker": "w", "wait": "soon"}, ["/wait"]),
    ("a lease of many", "POST", "/v1/runs/heartbeat", {"runs": [{"id": ruled, "fence": 1, "lease": "1ms"}]}, ["/runs/0/lease"]),
    ("a type's lease", "PUT", "/v1/run-types/t", {"lease": "1ms"}, ["/lease"]),
    ("a type's cap", "PUT", "/v1/run-types/t", {"cap": LONG}, ["/cap"]),
    ("a type's window", "PUT", "/v1/run-types/t", {"rate": 1, "rate_window": "0s"}, ["/rate_window"]),
    ("a type's key", "PUT", "/v1/run-types/t", {"limit_key": "state.x"}, ["/limit_key"]),
):
    refused(what, server.call(method, path, body), wanted)
event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
refused("an event of a batch", server.call("POST", "/v1/events", text=json.dumps([event, {**event, "type": ""}]), **{"content-type": "application/cloudevents-batch+json"}), ["/1"])
answer = server.call("GET", "/v1/instances?limit=0")
expect("a limit of a list that is no number is a parameter", answer.status == 400 and answer.json["type"] == "/problems/parameter", answer.text)

for value in ("x", "*", '""', '"1", "2"', '"-1"'):
    answer = server.call("POST", f"/v1/instances/{ruled}/suspend", **{"if-match": value})
    expect(f"If-Match: {value} cannot be read", answer.status == 400 and answer.json["type"] == "/problems/state_version", answer.text)

# Every header that the documents name is a parameter of its operations.
document = server.call("GET", "/openapi.json").json
headers = {}
for path in document["paths"].values():
    for operation in path.values():
        headers[operation["operationId"]] = {one["name"] for one in operation.get("parameters", []) if one["in"] == "header"}
expect("streams take Last-Event-ID", "Last-Event-ID" in headers["streamEvents"], headers["streamEvents"])
expect("changes take a reason and the token of a session", all({"X-Cairn-Reason", "X-Cairn-CSRF"} <= headers[name] for name in ("deleteRunType", "cancelInstance")), headers)
expect("questions take neither", not headers["getInstance"] & {"X-Cairn-Reason", "X-Cairn-CSRF"}, headers["getInstance"])
for operation, path in (("getDefinitionDiagram", "/v1/definitions/t.rules/1.0.0/diagram"), ("getNewestDiagram", "/v1/definitions/t.rules/diagram"),
                        ("getInstanceDiagram", f"/v1/instances/{ruled}/diagram")):
    tag = server.call("GET", path).headers["etag"]
    known = server.call("GET", path, **{"if-none-match": tag}).status
    documented = next(one for path in document["paths"].values() for one in path.values() if one["operationId"] == operation)
    expect(f"{operation} documents If-None-Match and 304", known == 304 and "304" in documented["responses"] and "If-None-Match" in headers[operation], (known, documented))
expect("the server ends with 0", server.end() == 0, server.said)
finish()
