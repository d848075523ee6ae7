#!/usr/bin/env python3
"""problems_test.py CAIRN SOURCE_DIR: every problem has a description at its address, the same as in docs/errors.md, and input errors say where they are."""
import os, re, subprocess, sys
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
expect("the server ends with 0", server.end() == 0, server.said)
finish()
