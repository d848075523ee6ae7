#!/usr/bin/env python3
"""retention_test.py CAIRN SOURCE_DIR [postgres]: every kind of old data goes with its own period, stale work ends through the engine, and audit rows
are exported before they are removed. On SQLite, or on the server that CAIRN_TEST_POSTGRES names."""
import glob, os, re, subprocess, sys, tempfile, time
from served import Served, expect, finish, slack

cairn = os.path.abspath(sys.argv[1])
TIME_BOUND = 20 * slack(cairn)
DEFINITIONS = """
cairn: 1
name: t.asking
version: 1.0.0
steps:
  - try: [ { task: { name: look } } ]
    catch: [ { steps: [ { set: { why: = error.code } } ] } ]
output: { why: = state.why }
---
cairn: 1
name: t.listening
version: 1.0.0
steps: [ { signal: { name: go } } ]
---
cairn: 1
name: t.patient
version: 1.0.0
steps: [ { wait: 30d } ]
"""
scratch = tempfile.TemporaryDirectory()
private, public, folder = (os.path.join(scratch.name, name) for name in ("audit.key", "audit.pem", "exports"))
os.mkdir(folder)
subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True, capture_output=True)
subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True, capture_output=True)
EXPORTS = ("--audit-signing-key", private, "--audit-export-folder", folder)
store = None
if sys.argv[3:] == ["postgres"]:
    store = "%s&schema=retention_%d" % (os.environ["CAIRN_TEST_POSTGRES"], os.getpid())


def until(wanted, ask):
    """Asks until the answer is as wanted: a row must be older than the period, by a millisecond at least."""
    bound = time.monotonic() + TIME_BOUND
    while time.monotonic() < bound:
        answer = ask()
        if wanted(answer):
            return answer
    return answer


def sweep(kind, count):
    """Removes everything of a kind that is older than 0 s."""
    removed = 0

    def once():
        nonlocal removed
        answer = server.call("POST", "/v1/retention/run", {kind: "0s"})
        if answer.status != 200:
            return answer
        removed += answer.json[count]
        return answer

    answer = until(lambda answer: answer.status != 200 or removed > 0, once)
    expect(f"{kind} is removed", answer.status == 200 and removed > 0, answer.text)
    return removed


# What the settings say.
server = Served(cairn, "--keep-every", "1d", *EXPORTS, store=store)
expect("it starts", server.port is not None, getattr(server, "said", ""))
shown = server.run("config", "show").stdout
for name, period in (("completed", "forever"), ("runs", "30d"), ("deleted_runs", "7d"), ("run_events", "30d"), ("dead_letters", "90d"), ("outbox", "30d"),
                     ("keys", "7d"), ("audit", "forever"), ("stale_tasks", "forever"), ("stale_instances", "forever")):
    expect(f"config show has the default of keep.{name}", re.search(rf"^keep\.{name}\s.*\b{period}\b", shown, re.M), shown)
refused = server.run("serve", "--store", "memory:", "--auth", "none", "--keep-audit", "90d")
expect("keep.audit without exports is refused", refused.returncode != 0 and "audit.export_folder" in refused.stderr, refused.stderr)

# Stale work.
for text in DEFINITIONS.split("---\n"):
    made = server.call("POST", "/v1/definitions", text=text, **{"content-type": "application/yaml"})
    expect("a definition is deployed", made.status == 201, made.text)
asking, listening, patient = (server.call("POST", "/v1/instances", {"definition": name}).json["id"] for name in ("t.asking", "t.listening", "t.patient"))
sweep("stale_tasks", "stale_tasks")
ended = server.call("GET", f"/v1/instances/{asking}?wait=10s").json
expect("a stale task fails its step, which catches it", ended["status"] == "completed" and ended["output"] == {"why": "task_stale"}, ended)
task = server.call("GET", f"/v1/tasks?instance={asking}&status=expired").json["items"]
expect("the task has expired", len(task) == 1, task)
sweep("stale_instances", "stale_instances")
ended = server.call("GET", f"/v1/instances/{listening}").json
expect("a stale instance is cancelled with a reason", ended["status"] == "cancelled" and "keep.stale_instances" in ended["error"]["message"], ended)
expect("one with a timer ahead stays", server.call("GET", f"/v1/instances/{patient}").json["status"] == "waiting")
trail = server.call("GET", "/v1/audit?limit=200").json["items"]
expect("the audit trail has both", {"retention.expireTask", "retention.cancelInstance"} <= {row["what"] for row in trail}, [row["what"] for row in trail])

# Rows.
finished, deleted, kept = (server.call("POST", "/v1/runs", {"type": "demo." + name}).json["id"] for name in ("finished", "deleted", "kept"))
server.call("POST", f"/v1/runs/{finished}/cancel", {})
server.call("DELETE", f"/v1/runs/{deleted}?reason=test")
sweep("run_events", "run_events")
expect("the events are gone", server.call("GET", f"/v1/runs/{kept}/events").json["items"] == [])
expect("their run is there", server.call("GET", f"/v1/runs/{kept}").status == 200)
sweep("deleted_runs", "deleted_runs")
expect("the deleted run is gone", server.call("GET", f"/v1/runs/{deleted}").status == 404)
expect("the finished one is not", server.call("GET", f"/v1/runs/{finished}").status == 200)
sweep("runs", "runs")
expect("then it is", server.call("GET", f"/v1/runs/{finished}").status == 404)
run = server.call("POST", "/v1/runs", {"type": "demo.poison", "max_attempts": 1}).json["id"]
leased = server.call("POST", "/v1/runs/lease", {"worker": "w", "types": ["demo.poison"], "wait": "10s"}).json["items"][0]
server.call("POST", f"/v1/runs/{run}/fail", {"fence": leased["fence"], "error": {"code": "no", "message": "no"}})
expect("there is a dead letter", len(server.call("GET", "/v1/dead-letters").json["items"]) == 1)
sweep("dead_letters", "dead_letters")
expect("it is gone", server.call("GET", "/v1/dead-letters").json["items"] == [])

# The audit trail.
sweep("audit", "audit")
report = server.call("GET", "/v1/audit/verify").json
expect("the trail is intact and begins later", report["intact"] and report["first_row"] > 1, report)
files = sorted(glob.glob(os.path.join(folder, "audit-*.jsonl")))
expect("its beginning is in a file", len(files) >= 1, os.listdir(folder))
rest = server.run("audit", "export", "--store", server.store)
expect("the rest can be exported", rest.returncode == 0 and "audit.export" in rest.stdout, rest.stderr)
exports = "".join(open(file).read() for file in files)
whole = server.run("audit", "verify", "--key", public, "--file", "-", "--json", input=exports + rest.stdout)
expect("both together are the whole trail", whole.returncode == 0 and '"first_row":1,' in whole.stdout, whole.stdout + whole.stderr)
alone = server.run("audit", "verify", "--key", public, "--file", "-", input=exports)
expect("the exports alone are intact", alone.returncode == 0, alone.stdout + alone.stderr)
forged = server.run("audit", "verify", "--key", public, "--file", "-", input=exports.replace("admin-person", "other-person", 1))
expect("a changed export is found", forged.returncode == 1, forged.stdout + forged.stderr)
expect("the metrics count it", re.search(r'cairn_retention_removed_total\{kind="audit"\} [1-9]', server.call("GET", "/metrics").text))
expect("the server ends with 0", server.end() == 0, server.said)
verified = server.run("verify", "--store", server.store)
expect("the store is correct", verified.returncode == 0, verified.stdout + verified.stderr)

# The server does it on its own.
server.start("--keep-every", "5ms", "--keep-runs", "0s", "--keep-completed", "0s", "--keep-audit", "0s", *EXPORTS)
run = server.call("POST", "/v1/runs", {"type": "demo.finished"}).json["id"]
server.call("POST", f"/v1/runs/{run}/cancel", {})
answer = until(lambda answer: answer.status == 404, lambda: server.call("GET", f"/v1/runs/{run}"))
expect("finished runs go by themselves", answer.status == 404, answer.text)
answer = until(lambda answer: answer.status == 404, lambda: server.call("GET", f"/v1/instances/{asking}"))
expect("and so do ended instances", answer.status == 404, answer.text)
expect("live work stays", server.call("GET", f"/v1/instances/{patient}").json["status"] == "waiting")
expect("so do runs that wait", server.call("GET", f"/v1/runs/{kept}").status == 200)
more = until(lambda names: len(names) > len(files), lambda: glob.glob(os.path.join(folder, "audit-*.jsonl")))
expect("audit rows are exported", len(more) > len(files), more)
expect("the server ends with 0", server.end() == 0, server.said)
expect("it says what it removed", '"retention.done"' in server.said and "retention.failed" not in server.said and "chain_broken" not in server.said, server.said)
verified = server.run("verify", "--store", server.store)
expect("the store is correct", verified.returncode == 0, verified.stdout + verified.stderr)
finish()
