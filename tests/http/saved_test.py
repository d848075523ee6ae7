#!/usr/bin/env python3
"""saved_test.py CAIRN SOURCE_DIR: what the server keeps for people: drafts of tasks and saved views. And what went wrong, grouped: GET /v1/errors, status:retrying."""
import json, sys, time
from served import Served, expect, finish

FLOW = """cairn: 1
name: review
version: 1.0.0
steps:
  - id: look
    task: { name: Look, roles: [clerk] }
"""
CHARGE = """cairn: 1
name: charge
version: 1.0.0
input: { type: object }
steps:
  - id: pay
    call: { worker: { type: demo.pay, payload: { n: "= input.n" } }, retry: { attempts: 3, backoff: PT1H } }
"""
server = Served(sys.argv[1])
for text in (FLOW, CHARGE):
    made = server.call("POST", "/v1/definitions", text=text, **{"content-type": "application/yaml"})
    expect("it is deployed", made.status == 201, made.text)
instance = server.call("POST", "/v1/instances", {"definition": "review"}).json["id"]
task = server.call("GET", f"/v1/tasks?instance={instance}").json["items"][0]["id"]
place = f"/v1/tasks/{task}/draft"
expect("no draft yet", server.call("GET", place, role="task_worker").json == {"payload": None, "saved_at": None})
saved = server.call("PUT", place, text='{"payload":{"amount":9007199254740993,"half":"filled"}}', role="task_worker")
expect("a draft is saved, whatever it says", saved.status == 200 and saved.json["saved_at"], saved.text)
read = server.call("GET", place, role="task_worker")
expect("and read again, with its digits", '"amount":9007199254740993' in read.text and read.json["payload"]["half"] == "filled", read.text)
expect("each person has their own", server.call("GET", place, role="operator").json["payload"] is None)
before = len(server.call("GET", "/v1/audit?limit=1000").json["items"])
for n in range(5):
    server.call("PUT", place, {"payload": {"n": n}}, role="task_worker")
expect("drafts fill no audit trail", len(server.call("GET", "/v1/audit?limit=1000").json["items"]) == before)
expect("the last one counts", server.call("GET", place, role="task_worker").json["payload"] == {"n": 4})
large = server.call("PUT", place, {"payload": "x" * 70000}, role="task_worker")
expect("it has a limit", large.status == 413 and large.json["limit"] == "draft_bytes", (large.status, large.text))
expect("an unknown task has none", server.call("GET", "/v1/tasks/nothing-here/draft").status == 404)
expect("a viewer writes none", server.call("PUT", place, {"payload": 1}, role="viewer").status == 403)
server.end()
server.start()
expect("a draft survives a restart", server.call("GET", place, role="task_worker").json["payload"] == {"n": 4})
expect("it can be dropped", server.call("DELETE", place, role="task_worker").status == 204 and server.call("GET", place, role="task_worker").json["payload"] is None)
server.call("POST", f"/v1/tasks/{task}/complete", {"payload": {}}, role="task_worker")
expect("a closed task takes none", server.call("PUT", place, {"payload": 1}, role="task_worker").status == 409)

# Views.
mine = server.call("PUT", "/v1/views/late", {"name": "Late", "filter": "status:suspended definition:charge"}, role="viewer")
expect("a view is saved", mine.status == 200 and mine.json["own"] and mine.json["owner"] == "viewer-person", mine.text)
server.call("PUT", "/v1/views/late", {"name": "Mine too", "filter": "status:failed"}, role="operator")
shared = server.call("PUT", "/v1/views/all", {"name": "For all", "filter": "status:retrying", "shared": True}, role="operator")
expect("an operator shares one", shared.status == 200 and shared.json["shared"], shared.text)
names = lambda role: [(one["name"], one["own"]) for one in server.call("GET", "/v1/views", role=role).json["items"]]
expect("each person sees their own and the shared ones", names("viewer") == [("For all", False), ("Late", True)] and names("operator") == [("For all", True), ("Mine too", True)], (names("viewer"), names("operator")))
expect("a viewer shares none", server.call("PUT", "/v1/views/x", {"name": "x", "filter": "", "shared": True}, role="viewer").status == 403)
expect("a filter must be readable", server.call("PUT", "/v1/views/x", {"name": "x", "filter": "colour:red"}, role="viewer").status == 400)
expect("of tasks too", server.call("PUT", "/v1/views/x", {"name": "x", "page": "inbox", "filter": "role:clerk"}, role="viewer").status == 200)
expect("another's view stays", server.call("DELETE", "/v1/views/all", role="viewer").status == 404 and server.call("DELETE", "/v1/views/all", role="operator").status == 204)
for n in range(110):
    last = server.call("PUT", f"/v1/views/v{n}", {"name": f"v{n}", "filter": ""}, role="viewer")
expect("there is a limit for each person", last.status == 413 and last.json["limit"] == "views_per_person", (last.status, last.text))
expect("not for the others", server.call("PUT", "/v1/views/y", {"name": "y", "filter": ""}, role="operator").status == 200)

# What is retried, and errors in groups.
ids = [server.call("POST", "/v1/instances", {"definition": "charge", "input": {"n": n}}).json["id"] for n in range(5)]
leased = server.call("POST", "/v1/runs/lease", {"worker": "w", "types": ["demo.pay"], "max": 10, "wait": "10s"}, role="worker").json["items"]
expect("all are leased", len(leased) == 5, leased)
rows = lambda text: {one["id"]: one for one in server.call("GET", "/v1/instances?with=waits&limit=100&filter=" + text.replace(" ", "%20").replace('"', "%22")).json["items"]}
expect("the first attempt is no retry", rows("status:retrying") == {} and server.call("GET", "/v1/errors").json["items"] == [])


def fail(run, message, code="bank_down"):
    return server.call("POST", f"/v1/runs/{run['id']}/fail", {"fence": run["fence"], "error": {"code": code, "message": message}}, role="worker")


by_instance = {run["instance"]: run for run in leased}
for n, one in enumerate(ids[:4]):
    answer = fail(by_instance[one], f"no answer for order 10000{n}77", "bank_down" if n < 3 else "card_stolen")
    expect("it will be retried", answer.status == 200, answer.text)
found = rows("status:retrying")
expect("retrying instances are found", set(found) == set(ids[:4]), found)
one = found[ids[0]]
expect("with attempt, error and next try", one["retrying"]["attempt"] == 1 and one["retrying"]["max_attempts"] == 3 and one["retrying"]["step"] == "pay" and one["retrying"]["code"] == "bank_down" and
       "no answer" in one["retrying"]["last_error"] and one["retrying"]["next_at"] > one["retrying"]["failed_at"], one)
expect("the row has its waits", one["waits"][0]["kind"] == "run" and one["status"] == "waiting", one)
expect("so has the instance", server.call("GET", f"/v1/instances/{ids[0]}").json["retrying"]["code"] == "bank_down")
expect("status= too", len(server.call("GET", "/v1/instances?status=retrying").json["items"]) == 4)
expect("by step", len(rows("status:retrying step:pay")) == 4 and rows("status:retrying step:other") == {})
expect("a step alone says too little", server.call("GET", "/v1/instances?filter=step:pay").status == 400)
groups = server.call("GET", "/v1/errors").json
expect("one group for each error", [(group["status"], group["code"], group["count"], group["step"], group["definition"]) for group in groups["items"]] ==
       [("retrying", "bank_down", 3, "pay", "charge"), ("retrying", "card_stolen", 1, "pay", "charge")] and groups["complete"], groups)
first = groups["items"][0]
expect("with times, an example and a filter", sum(first["times"]) == 3 and len(first["times"]) == 24 and first["example"] in ids[:3] and first["next_at"] and first["first_at"] <= first["last_at"], first)
expect("its filter finds its instances", set(ids[:3]) <= set(rows(first["filter"])), first["filter"])
# Without attempts left they are suspended: another group, found by its fingerprint.
for one in ids[:3]:
    server.call("POST", f"/v1/instances/{one}/suspend", {"reason": "x"})
expect("a suspended one is not retrying", set(rows("status:retrying")) == {ids[3]})
for n in range(4):
    server.call("POST", "/v1/definitions", text=f"cairn: 1\nname: broken\nversion: 1.0.{n}\ninput: {{ type: object }}\nsteps:\n  - id: bad\n    fail: {{ code: no_stock, message: \"= 'article ' + string(input.n) + ' is out'\" }}\n", **{"content-type": "application/yaml"})
    server.call("POST", "/v1/instances", {"definition": "broken", "input": {"n": 1000000 + n}})
failed = [group for group in server.call("GET", "/v1/errors?status=failed").json["items"]]
expect("failed ones too, whatever the number in the message", len(failed) == 1 and failed[0]["count"] == 4 and failed[0]["code"] == "no_stock" and len(failed[0]["versions"]) == 4, failed)
expect("the fingerprint is a filter", len(rows(failed[0]["filter"])) == 4 and failed[0]["filter"] == "error:" + failed[0]["fingerprint"])
expect("of one workflow", server.call("GET", "/v1/errors?definition=charge&status=failed").json["items"] == [])
for path in ("/v1/errors?status=running", "/v1/errors?window=x", "/v1/errors?window=1s", "/v1/instances?filter=error:x"):
    expect(f"refused: {path}", server.call("GET", path).status == 400)
expect("a task worker does not see them", server.call("GET", "/v1/errors", role="task_worker").status == 403)
expect("it ends with 0", server.end() == 0, server.said[-1000:])
finish()
