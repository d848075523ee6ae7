#!/usr/bin/env python3
"""metrics_test.py CAIRN SOURCE_DIR: what /metrics says is true and well-formed, and what deploy/ asks for exists."""
import os, re, sys, time
from served import Served, expect, finish

cairn, source = sys.argv[1], sys.argv[2]
DEFINITIONS = """
cairn: 1
name: t.wait
version: 1.0.0
steps: [ { task: { name: Review, title: Look } } ]
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
server = Served(cairn, "--otlp-endpoint", "http://127.0.0.1:1")  # nobody there: its figures exist all the same
for text in DEFINITIONS.split("---\n"):
    server.call("POST", "/v1/definitions", text=text, **{"content-type": "application/yaml"})


def start(name):
    return server.call("POST", "/v1/instances", {"definition": name}).json["id"]


ids = [start("t.wait"), start("t.wait"), start("t.bad"), start("t.fail"), start("t.fail")]
ids += [server.call("POST", "/v1/runs", {"type": "demo.a.v1"}).json["id"] for _ in range(3)]
server.call("POST", "/v1/runs/lease", {"worker": "w", "types": ["demo.a.v1"]})
WANTED = {"cairn_tasks_open": 2, "cairn_instances_suspended": 1, "cairn_instances_failed": 2, "cairn_runs_ready": 2, "cairn_runs_leased": 1,
          "cairn_messages_waiting": 0, "cairn_dead_letters": 0, "cairn_timers_late_seconds": 0}


def read():
    text = server.call("GET", "/metrics").text
    return text, {line.rsplit(" ", 1)[0]: line.rsplit(" ", 1)[1] for line in text.splitlines() if line and line[0] != "#"}


# They are a few seconds old at most.
until = time.monotonic() + 30
while True:
    text, samples = read()
    if all(float(samples.get(name, "nan")) == value for name, value in WANTED.items()) or time.monotonic() > until:
        break
for name, value in WANTED.items():
    expect(f"{name} is {value}", float(samples.get(name, "nan")) == value, samples.get(name))
expect("the oldest run that waits has an age", float(samples["cairn_runs_ready_age_seconds"]) >= 0, samples["cairn_runs_ready_age_seconds"])
expect("no ids as labels", not any(id in text for id in ids))
families = set()
for line in text.splitlines():
    if line.startswith("# TYPE "):
        _, _, name, kind = line.split()
        expect(f"{name} stands once", name not in families)
        families.add(name)
        expect(f"{name} is named as Prometheus wants", re.fullmatch(r"[a-z_]+", name) and (kind != "counter" or name.endswith("_total")), (name, kind))
    elif line and line[0] != "#":
        expect("a sample is well-formed", re.fullmatch(r'[a-z_]+(\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? (NaN|nan|[-+0-9.e]+)', line), line)
known = {line.split("{")[0].split(" ")[0] for line in text.splitlines() if line and line[0] != "#"} | families | {"up"}
for name in ("alerts.yml", "grafana-dashboard.json"):
    with open(os.path.join(source, "deploy", name)) as file:
        asked = set(re.findall(r"\b((?:cairn|process)_[a-z_]+)\b", file.read()))
    expect(f"deploy/{name} asks for something", len(asked) > 3, asked)
    expect(f"deploy/{name} asks only for what there is", asked <= known, asked - known)
with open(os.path.join(source, "docs/server.md")) as file:
    written = file.read()
missing = [name for name in families if name.startswith("cairn_") and f"`{name}" not in written and f"{name}`" not in written]
expect("docs/server.md explains every figure", not missing, missing)
expect("SIGTERM ends with 0", server.end() == 0, server.said)
finish()
