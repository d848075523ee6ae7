#!/usr/bin/env python3
"""incidents_test.py CAIRN SOURCE_DIR: an operator sees every incident: one line of the log, one count, one event."""
import json, os, re, sys, tempfile
from served import Served, expect, finish

cairn = sys.argv[1]
DEFINITIONS = """
cairn: 1
name: t.bad
version: 1.0.0
steps: [ { id: sum, set: { x: '= state.nothing' } } ]
---
cairn: 1
name: t.fail
version: 1.0.0
steps: [ { id: refuse, fail: { code: no, message: "no more" } } ]
---
cairn: 1
name: t.pay
version: 1.0.0
steps:
  - id: pay
    call: { worker: { type: demo.pay, payload: { sum: 5 } }, retry: { attempts: 1 } }
"""
with tempfile.TemporaryDirectory() as folder:
    settings = os.path.join(folder, "cairn.toml")
    with open(settings, "w") as file:
        file.write('[events]\nkeep = ["incidents"]\n')
    os.chmod(settings, 0o600)
    server = Served(cairn, "--config", settings)
    for text in DEFINITIONS.split("---\n"):
        server.call("POST", "/v1/definitions", text=text, **{"content-type": "application/yaml"})
    ids = {name: server.call("POST", "/v1/instances", {"definition": name}).json["id"] for name in ("t.bad", "t.fail", "t.pay")}


    def lease(kind, worker="w1"):
        return server.call("POST", "/v1/runs/lease", {"worker": worker, "types": [kind], "wait": "10s"}).json["items"][0]


    run = lease("demo.pay")
    answer = server.call("POST", f"/v1/runs/{run['id']}/fail", {"fence": run["fence"], "error": {"code": "busy", "message": "no answer"}})
    expect("the call has failed", answer.json["outcome"] == "finished", answer.text)
    alone = server.call("POST", "/v1/runs", {"type": "demo.lost", "max_attempts": 5}).json["id"]
    first = lease("demo.lost")
    server.call("POST", f"/v1/runs/{alone}/release", {"fence": first["fence"]})
    second = lease("demo.lost", "w2")
    for _ in range(2):
        answer = server.call("POST", f"/v1/runs/{alone}/heartbeat", {"fence": first["fence"]})
        expect("the first worker has lost its lease", answer.status == 409 and answer.json["type"].endswith("lease_lost"), answer.text)
    answer = server.call("POST", f"/v1/runs/{alone}/complete", {"fence": second["fence"], "result": 1})
    expect("the second has it", answer.json["outcome"] == "finished", answer.text)

    WANTED = {"cairn.instance.suspended": [ids["t.bad"], ids["t.pay"]], "cairn.instance.failed": [ids["t.fail"]], "cairn.run.exhausted": [ids["t.pay"]],
              "cairn.dead_letter.created": [ids["t.pay"]], "cairn.run.lease_lost": [alone]}
    events = server.call("GET", "/v1/outbox?type=cairn.").json["items"]
    for kind, subjects in WANTED.items():
        seen = [event["subject"] for event in events if event["type"] == kind]
        expect(f"{kind} is written once for each", sorted(seen) == sorted(subjects), seen)
    expect("and nothing else", len(events) == sum(map(len, WANTED.values())), events)
    letters = server.call("GET", "/v1/dead-letters").json["items"]
    expect("one dead letter, of the call", [letter["envelope"].get("run") for letter in letters] == [run["id"]], letters)

    counts = dict(re.findall(r"cairn_incidents_total\{(.*)\} (\d+)", server.call("GET", "/metrics").text))
    COUNTED = {
        'kind="instance_suspended",definition="t.bad",step="sum",type=""': "1",
        'kind="instance_suspended",definition="t.pay",step="pay",type=""': "1",
        'kind="instance_failed",definition="t.fail",step="refuse",type=""': "1",
        'kind="attempts_exhausted",definition="",step="pay",type="demo.pay"': "1",
        'kind="dead_letter",definition="",step="",type="demo.pay"': "1",
        'kind="lease_lost",definition="",step="",type="demo.lost"': "1",
    }
    expect("each is counted", counts == COUNTED, counts)
    expect("the server ends with 0", server.end() == 0, server.said)
    lines = [json.loads(line) for line in server.said.splitlines() if line.startswith("{")]
    for event, field, value in (("instance.suspended", "instance", ids["t.bad"]), ("instance.suspended", "instance", ids["t.pay"]),
                                ("instance.failed", "instance", ids["t.fail"]), ("run.attempts_exhausted", "run", run["id"]),
                                ("dead_letter.created", "run", run["id"]), ("run.lease_lost", "run", alone)):
        found = [line for line in lines if line.get("event") == event and line.get(field) == value]
        expect(f"the log says {event} of {value} once", len(found) == 1 and found[0]["level"] == "warning", found)
    expect("and who lost the lease, also if the report names no worker", [line["worker"] for line in lines if line.get("event") == "run.lease_lost"] ==
           ["admin-person"], lines)
finish()
