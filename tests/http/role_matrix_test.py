#!/usr/bin/env python3
"""role_matrix_test.py CAIRN SOURCE_DIR: every route of the server × every role, from the route table that the server itself serves.
What a role may do stands here a second time, on purpose."""
import os, re, sys, time
from served import ROLES, Served, expect, finish
from tokens import Issuer

MAY = {
    "open": set(ROLES),
    "signed_in": set(ROLES),
    "view": {"viewer", "starter", "operator", "deployer", "admin"},
    "view_tasks": {"viewer", "task_worker", "operator", "admin"},
    "start": {"starter", "operator", "admin"},
    "work_tasks": {"task_worker", "operator", "admin"},
    "work_runs": {"worker", "admin"},
    "report_runs": {"worker", "operator", "admin"},
    "operate": {"operator", "admin"},
    "tasks.manage": {"operator", "admin"},
    "deploy": {"deployer", "admin"},
    "administer": {"admin"},
    "signed_request": set(),  # no key is asked for and none helps: the signature of the request is what counts (hooks_test.py)
}
server = Served(sys.argv[1])
table = server.call("GET", "/openapi.json", role=None).json
cells = 0
for path, operations in table["paths"].items():
    for method, operation in operations.items():
        permission = operation.get("x-permission")
        name = operation["operationId"]
        expect(f"{name} declares a permission that this test knows", permission in MAY, permission)
        place = re.sub(r"\{[^}]*\}", "nothing-here", path)
        answer = server.call(method.upper(), place, role=None)
        cells += 1
        if permission == "open":
            expect(f"{name} is open", answer.status not in (401, 403), answer.text)
            continue
        if permission == "signed_request":
            answers = [answer] + [server.call(method.upper(), place, role=role) for role in ROLES]
            cells += len(ROLES)
            expect(f"{name} is for those who sign", all(one.status == 404 for one in answers), [one.status for one in answers])
            continue
        expect(f"{name} without a credential is 401", answer.status == 401 and answer.headers.get("www-authenticate") == "Bearer",
               (answer.status, answer.text))
        for role in ROLES:
            answer = server.call(method.upper(), place, role=role)
            cells += 1
            if role in MAY.get(permission, set()):
                expect(f"{role} may {name}", answer.status not in (401, 403) and answer.status < 500, (answer.status, answer.text))
            else:
                expect(f"{role} may not {name}", answer.status == 403 and answer.json["type"].endswith("/forbidden"),
                       (answer.status, answer.text))
print(f"{cells} cells")

# Bad credentials all look the same.
good = server.keys["admin"]
seen = set()
for bad in ["", "Bearer", "Bearer ", "Bearer x", "Basic " + good, "Bearer " + good[:-1], "Bearer " + good.upper(), "Bearer " + good + "0",
            "Bearer " + good[:-1] + ("0" if good[-1] != "0" else "1"), "Bearer a.b.c", "Bearer " + "x" * 9000,
            "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0."]:
    answer = server.call("GET", "/v1/info", role=None, **({"authorization": bad} if bad else {}))
    expect(f"refused: {bad[:30]!r}", answer.status == 401 or (answer.status == 431 and len(bad) > 8192), (answer.status, answer.text))
    if answer.status == 401:
        seen.add(answer.text)
expect("every refusal has the same words", len(seen) == 1, seen)
expect("a key in the query is not looked at", server.call("GET", "/v1/info?key=" + good, role=None).status == 401)
expect("identity headers are ignored", server.call("GET", "/v1/info", role=None, **{"X-Cairn-User": "root", "X-Forwarded-User": "root"}).status == 401)

# A worker is bound to its types.
expect("a worker may lease its own types", server.call("POST", "/v1/runs/lease", {"worker": "w", "prefixes": ["demo."]}, role="worker").status == 200)
for body in [{"worker": "w", "prefixes": ["hr."]}, {"worker": "w"}, {"worker": "w", "types": ["hr.pay.v1"]}, {"worker": "w", "prefixes": ["demo.", "d"]}]:
    expect(f"a worker may not lease {body}", server.call("POST", "/v1/runs/lease", body, role="worker").status == 403)
run = server.call("POST", "/v1/runs", {"type": "hr.pay.v1", "payload": 1}, role="starter")
expect("a starter submits a run", run.status == 201, run.text)
leased = server.call("POST", "/v1/runs/lease", {"worker": "a", "prefixes": ["hr."]}, role="admin").json["items"][0]
for verb in ["heartbeat", "complete", "release"]:
    answer = server.call("POST", f"/v1/runs/{leased['id']}/{verb}", {"fence": leased["fence"]}, role="worker")
    expect(f"a worker may not {verb} a foreign run", answer.status == 403, (answer.status, answer.text))

# Only the worker that leased a run holds it, not another one with the same rights.
def key_of(subject, *flags):
    made = server.call("POST", "/v1/keys", {"subject": subject, "roles": [flags[0]], "scope": flags[1]})
    return made.json["key"], "key:" + made.json["id"]


first, first_account = key_of("billing", "worker", {"prefixes": ["demo."]})
second, _ = key_of("billing", "worker", {"prefixes": ["demo."]})


def lease_one(key=first, **more):
    id = server.call("POST", "/v1/runs", {"type": "demo.work.v1", "payload": 1, **more}, role="starter").json["id"]
    items = server.call("POST", "/v1/runs/lease", {"worker": "mallory", "types": ["demo.work.v1"]}, key=key).json["items"]
    expect("the run is leased", [item["id"] for item in items] == [id], items)
    return items[0]


leased = lease_one()
place, fence = f"/v1/runs/{leased['id']}", {"fence": leased["fence"]}
for verb, more in [("heartbeat", {}), ("release", {}), ("complete", {"result": 1}), ("fail", {"error": {"code": "x"}})]:
    answer = server.call("POST", f"{place}/{verb}", {**fence, **more, "worker": "mallory"}, key=second)
    expect(f"another credential of the same person may not {verb} it", answer.status == 403, (answer.status, answer.text))
    answer = server.call("POST", f"{place}/{verb}", {"fence": leased["fence"] + 1, **more}, key=first)
    expect(f"its holder needs the fence to {verb} it, which is not told", answer.status == 409 and str(leased["fence"]) not in answer.text, answer.text)
answer = server.call("POST", "/v1/runs/report", {"reports": [{"id": leased["id"], **fence, "result": 1}]}, key=second)
for verb in ("heartbeat", "release"):
    many = server.call("POST", f"/v1/runs/{verb}", {"runs": [{"id": leased["id"], **fence}]}, key=second)
    expect(f"nor {verb} it among many", many.status == 200 and many.json["items"][0]["outcome"] == "lease_lost", many.text)
expect("nor among many", answer.status == 200 and answer.json["items"][0]["outcome"] == "error", answer.text)
shown = server.call("GET", place, role="viewer").json
expect("a viewer does not see the fence", "fence" not in shown and shown["leased_by"] == "mallory" and shown["lease_account"] == first_account, shown)
expect("nor in a list", all("fence" not in run for run in server.call("GET", "/v1/runs", role="viewer").json["items"]))
expect("an operator does", server.call("GET", place, role="operator").json["fence"] == leased["fence"])
expect("its holder keeps it", server.call("POST", place + "/heartbeat", fence, key=first).status == 200)
expect("and ends it", server.call("POST", place + "/complete", {**fence, "result": 1, "worker": "mallory"}, key=first).json["outcome"] == "finished")
# Nor does an Idempotency-Key give the holder's answer to another credential of the same person.
kept = lease_one()
for key, status in ((first, 200), (first, 200), (second, 403)):
    answer = server.call("POST", f"/v1/runs/{kept['id']}/heartbeat", {"fence": kept["fence"]}, key=key, idempotency_key="beat")
    expect("a kept answer about a lease is its holder's", answer.status == status, (answer.status, answer.text))
server.call("POST", f"/v1/runs/{kept['id']}/complete", {"fence": kept["fence"]}, key=first)
# But for what belongs to the person, both credentials are one sender.
starters = [key_of("buyer", "starter", {})[0] for _ in range(2)]
answers = [server.call("POST", "/v1/runs", {"type": "hr.once.v1"}, key=key, idempotency_key="buy") for key in starters]
expect("two credentials of one person share their keys", answers[0].text == answers[1].text and answers[1].headers.get("idempotency-replayed") == "true",
       [answer.text for answer in answers])
chosen = "7d0f1c52-7b5c-4f1e-9a55-0d6f3a1c9e11"
by_key = server.call("POST", "/v1/runs", {"type": "hr.twice.v1", "idempotency_key": chosen}, key=server.keys["starter"])
by_id = server.call("POST", "/v1/runs", {"type": "hr.twice.v1", "id": chosen}, key=server.keys["starter"])
expect("an id is no key that its sender used", (by_key.status, by_id.status, by_id.json.get("id")) == (201, 201, chosen), (by_key.text, by_id.text))
events = server.call("GET", place + "/events").json["items"]
expect("the first event names who submitted it", [(event["actor"], event.get("account", "").startswith("key:")) for event in events if event["event"] == "created"]
       == [("starter-person", True)], events)
done = [(event["event"], event["actor"], event["account"], event["worker"]) for event in events if event["event"] in ("leased", "succeeded")]
expect("the events name the caller, and its own name for itself as a label",
       done == [("leased", "billing", first_account, "mallory"), ("succeeded", "billing", first_account, "mallory")], events)
leased = lease_one()
answer = server.call("POST", f"/v1/runs/{leased['id']}/release", {"fence": leased["fence"]}, role="operator")
expect("an operator may give a lease back", answer.status == 200, answer.text)
server.call("POST", f"/v1/runs/{leased['id']}/cancel")

# No caller may submit, schedule or lease the engine's own types.
reserved = {"type": "cairn.http.v1", "payload": {"method": "GET", "url": "http://127.0.0.1/"}}
for role in ("starter", "operator", "admin"):
    for path, body in [("/v1/runs", reserved), ("/v1/runs/batch", {"runs": [reserved]})]:
        answer = server.call("POST", path, body, role=role)
        expect(f"{role} may not submit cairn.http.v1 at {path}", answer.status == 403 and "cairn." in answer.text, answer.text)
answer = server.call("POST", "/v1/schedules", {"name": "x", "every": "1h", "run": reserved}, role="operator")
expect("nor schedule it", answer.status == 403, answer.text)
for body in ({"types": ["cairn.http.v1"]}, {"prefixes": ["cairn."]}, {"prefixes": ["c"]}):
    expect(f"nor lease {body}", server.call("POST", "/v1/runs/lease", {"worker": "w", **body}).status == 403)
answer = server.call("POST", "/v1/definitions", text="{cairn: 1, name: t.raw, version: 1.0.0, steps: [{call: {worker: {type: cairn.http.v1}}}]}",
                     **{"content-type": "application/yaml"})
expect("nor ask for it in a definition", answer.status == 422 and "reserved" in answer.text, answer.text)

# Idempotency keys and ids of signals are their sender's.
server.call("POST", "/v1/definitions", text="""
cairn: 1
name: t.hear
version: 1.0.0
steps: [ { signal: { name: paid, key: = input.no, result: got } } ]
output: = state.got
""", **{"content-type": "application/yaml"})
ann, _ = key_of("ann", "starter", {})
bob, _ = key_of("bob", "starter", {})
starts = [server.call("POST", "/v1/instances", {"definition": "t.hear", "input": {"no": "N"}}, key=key, **{"Idempotency-Key": "order-1"}) for key in (ann, bob, ann)]
expect("a key of one sender is not another's", starts[0].json["id"] != starts[1].json["id"] and starts[0].json["id"] == starts[2].json["id"],
       [one.text for one in starts])
newer, _ = key_of("ann", "starter", {})
again = server.call("POST", "/v1/instances", {"definition": "t.hear", "input": {"no": "N"}}, key=newer, **{"Idempotency-Key": "order-1"})
expect("a new credential of the same sender repeats", again.json["id"] == starts[0].json["id"], again.text)
runs = [server.call("POST", "/v1/runs", {"type": "demo.k", "payload": 1, "idempotency_key": "run-1"}, key=key) for key in (ann, bob, ann)]
expect("the same for runs", [one.status for one in runs] == [201, 201, 200] and runs[0].json["id"] != runs[1].json["id"] and
       all(one.json["idempotency_key"] == "run-1" for one in runs), [one.text for one in runs])
answer = server.call("POST", "/v1/runs", {"type": "demo.k", "payload": 2, "idempotency_key": "run-1"}, key=ann)
expect("one's own key for other work is refused by its name", "'run-1'" in answer.text and answer.status in (409, 422), answer.text)
for run in runs:
    server.call("POST", f"/v1/runs/{run.json['id']}/cancel")
chosen = {"type": "demo.k", "payload": 1, "id": "018bcfe5-6800-8111-8000-000000000001"}
runs = [server.call("POST", "/v1/runs", chosen, key=key) for key in (ann, bob, ann, newer)]
expect("an id that another sender chose is taken", [one.status for one in runs] == [201, 409, 200, 200] and "payload" not in runs[1].text, [one.text for one in runs])
expect("and is no other key of the run", all("idempotency_key" not in runs[n].json for n in (0, 2, 3)), runs[0].text)
batch = [server.call("POST", "/v1/runs/batch", {"runs": [chosen]}, key=key) for key in (ann, bob)]
expect("the same in a batch", batch[0].json["items"][0].get("created") is False and "exists already" in batch[1].json["items"][0].get("error", ""), [one.text for one in batch])
again = server.call("POST", "/v1/runs", {**chosen, "idempotency_key": "other"}, key=ann)
expect("another key of the same sender finds it by its id", again.status == 200, again.text)
server.call("POST", f"/v1/runs/{chosen['id']}/cancel")
target = f"/v1/instances/{starts[0].json['id']}/signals"
signals = [server.call("POST", target, {"name": "other", "id": "s-1"}, key=key) for key in (ann, bob, ann)]
expect("the same for signals", [one.json.get("repeated", False) for one in signals] == [False, False, True], [one.text for one in signals])
gone = [server.call("DELETE", target + "/s-1", role="operator") for _ in range(2)]
kept = [signal["id"] for signal in server.call("GET", target.replace("signals", "snapshot")).json["signals"]]
expect("an operator who names what two senders sent is told both", gone[0].status == 409 and len(kept) == 2 and all(id in gone[0].text for id in kept), gone[0].text)
expect("and discards one by its whole id", server.call("DELETE", f"{target}/{kept[0]}", role="operator").status == 200)
expect("then the other by its sender's", server.call("DELETE", target + "/s-1", role="operator").status == 200)
signals = [server.call("POST", "/v1/signals", {"name": "nobody.waits", "id": "s-2"}, key=key) for key in (ann, bob, ann)]
expect("and for those to everybody", [one.json["repeated"] for one in signals] == [False, False, True], [one.text for one in signals])

# Ids that callers choose.
for id in ("", "a b", "a/b", "a@2026-01-01T00:00:00Z", "..", "ä", "a\u0000b", "x" * 201, "a%2fb"):
    answer = server.call("POST", "/v1/instances", {"definition": "t.hear", "input": {"no": "N"}, "id": id})
    expect(f"{id!r} is no id of an instance", answer.status == 400, (answer.status, answer.text))
    answer = server.call("POST", "/v1/signals", {"name": "nobody.waits", "id": id})
    expect(f"{id!r} is no id of a signal", answer.status == 400, (answer.status, answer.text))
for id in ("", "7", "../7", "018bcfe5-6800-8111-8000-00000000000g"):
    for path, body in [("/v1/runs", {"type": "demo.k", "id": id}), ("/v1/runs/batch", {"runs": [{"type": "demo.k", "id": id}]})]:
        answer = server.call("POST", path, body)
        expect(f"{id!r} is no id of a run", answer.status == 400, (answer.status, answer.text))
answer = server.call("POST", "/v1/instances", {"definition": "t.hear", "input": {"no": "N"}, "id": "Order_7.a:b~c-D"})
expect("this is one", answer.status == 201 and answer.json["id"] == "Order_7.a:b~c-D", answer.text)
for key in ("a b", "x" * 201):
    answer = server.call("POST", "/v1/instances", {"definition": "t.hear"}, **{"Idempotency-Key": key})
    expect(f"{key[:5]!r} is no Idempotency-Key", answer.status == 400, (answer.status, answer.text))

# Tasks: who may do what with which one, with API keys and with tokens. What is allowed stands here a second time, on purpose.
TASKS = """
cairn: 1
name: t.own
version: 1.0.0
managers: [lead]
steps: [ { task: { name: Check, roles: [clerk], exclude: [mallory], payload: { secret: = input.no } } } ]
"""
PEOPLE = {  # who: their role, their roles in tasks
    "ann": ("task_worker", ["clerk"]), "cid": ("task_worker", ["clerk", "other"]), "gil": ("task_worker", ["guest"]), "nic": ("task_worker", []),
    "lea": ("task_worker", ["lead"]), "oz": ("operator", []), "ada": ("admin", []), "mallory": ("task_worker", ["clerk"]), "vic": ("viewer", []),
    "vera": ("viewer", ["clerk"]), "sam": ("starter", ["clerk"]),
}
WITH_A_RIGHT = {"ann", "cid", "lea", "oz", "ada", "mallory"}  # to an open task
MANAGERS = {"lea", "oz", "ada"}
READERS = WITH_A_RIGHT | {"vera"}
numbers = iter(range(1000))


def new_task(server, assignee=None):
    instance = server.call("POST", "/v1/instances", {"definition": "t.own", "input": {"no": f"X{next(numbers)}"}}).json["id"]
    task = server.call("GET", f"/v1/tasks?instance={instance}").json["items"][0]
    if assignee:
        expect("it is assigned", server.call("POST", f"/v1/tasks/{task['id']}/assign", {"assignee": assignee}).status == 200)
    return task["id"]


def allowed(what, who, answer, yes):
    global cells
    cells += 1
    expect(f"{who} {'may' if yes else 'may not'} {what}", answer.status == 200 if yes else answer.status == 403, (answer.status, answer.text))


def check_tasks(server, keys, unknown_person):
    """`unknown_person`: the answer to an assignment to a person whom the server does not know, and its reason."""
    server.call("POST", "/v1/definitions", text=TASKS, **{"content-type": "application/yaml"})
    open_task, anns_task = new_task(server), new_task(server, "ann")
    for who, key in keys.items():
        for task, readers in ((open_task, READERS), (anns_task, READERS)):
            for path in (f"/v1/tasks/{task}", f"/v1/tasks/{task}/events"):
                allowed(f"read {path}", who, server.call("GET", path, key=key), who in readers)
            listed = server.call("GET", "/v1/tasks?limit=1000&closed=true", key=key)
            if who == "sam":
                expect("a starter lists no tasks", listed.status == 403, listed.text)
            else:
                expect(f"{who} lists {'it' if who in readers else 'nothing'}", (task in listed.text) == (who in readers), listed.text)
        allowed("comment", who, server.call("POST", f"/v1/tasks/{anns_task}/comment", {"comment": "hm"}, key=key), who in WITH_A_RIGHT)
        allowed("release what is ann's", who, server.call("POST", f"/v1/tasks/{new_task(server, 'ann')}/release", key=key), who in MANAGERS | {"ann"})
        answer = server.call("POST", f"/v1/tasks/{new_task(server, 'ann')}/reassign", {"assignee": who}, key=key)
        allowed("take what is ann's", who, answer, who in MANAGERS | {"ann"})
        answer = server.call("POST", f"/v1/tasks/{new_task(server, 'ann')}/reassign", {"assignee": "cid"}, key=key)
        allowed("hand on what is ann's", who, answer, who in MANAGERS | {"ann"})
        answer = server.call("POST", f"/v1/tasks/{new_task(server)}/assign", {}, key=key)
        allowed("take an open task", who, answer, who in WITH_A_RIGHT - {"mallory"})
        allowed("complete an open task", who, server.call("POST", f"/v1/tasks/{new_task(server)}/complete", {}, key=key), who in WITH_A_RIGHT - {"mallory"})
        answer = server.call("POST", f"/v1/tasks/{new_task(server, 'ann')}/complete", {}, key=key)
        allowed("complete what is ann's", who, answer, who in MANAGERS | {"ann"})
    check_assignments(server, keys["lea"], unknown_person)
    stolen = new_task(server, "ann")
    server.call("POST", f"/v1/tasks/{stolen}/reassign", {"assignee": "cid"}, key=keys["cid"])
    expect("a task stays with its assignee", server.call("GET", f"/v1/tasks/{stolen}").json["assignee"] == "ann")


def check_assignments(server, manager, unknown_person):
    for whom, status, reason in [("cid", 200, ""), ("gil", 403, "clerk"), ("nic", 403, "clerk"), ("mallory", 403, "exclude"), ("vic", 403, "work on tasks"),
                                 ("sam", 403, "work on tasks"), ("nobody", *unknown_person), ("lea", 200, ""), ("oz", 200, "")]:
        for verb in ("assign", "reassign"):
            answer = server.call("POST", f"/v1/tasks/{new_task(server)}/{verb}", {"assignee": whom}, key=manager)
            expect(f"{verb} to {whom}: {'yes' if status == 200 else 'no, and why'}", answer.status == status and reason in answer.text, answer.text)


def check_current_rights(server, credential_of):
    """An assignee who lacks the roles has no right. `credential_of`: a new credential of a person, with these roles in tasks."""
    early = new_task(server, "una")
    for who, task_roles in (("una", ["guest"]), ("una", [])):
        key = credential_of(who, task_roles)
        for method, path in (("GET", ""), ("GET", "/events"), ("POST", "/assign"), ("POST", "/release"), ("POST", "/complete")):
            answer = server.call(method, f"/v1/tasks/{early}{path}", {} if method == "POST" else None, key=key)
            allowed(f"{path or 'read'} a task that was assigned before they logged in", who, answer, False)
        expect("and lists nothing", early not in server.call("GET", "/v1/tasks", key=key).text)
    answer = server.call("POST", f"/v1/tasks/{new_task(server)}/assign", {"assignee": "una"})
    expect("a person who is known to lack the role gets no task", answer.status == 403 and "clerk" in answer.text, answer.text)
    kept = new_task(server)
    before = credential_of("eve", ["clerk"])
    allowed("take a task", "eve", server.call("POST", f"/v1/tasks/{kept}/assign", key=before), True)
    after = credential_of("eve", ["guest"])
    allowed("complete it without the role", "eve", server.call("POST", f"/v1/tasks/{kept}/complete", key=after), False)
    allowed("complete it with the role", "eve", server.call("POST", f"/v1/tasks/{kept}/complete", key=credential_of("eve", ["clerk"])), True)


check_tasks(server, {who: key_of(who, role, {"task_roles": roles})[0] for who, (role, roles) in PEOPLE.items()}, (403, "API key"))
issuer = Issuer()
with_tokens = Served(sys.argv[1], *issuer.flags())
tokens = {who: issuer.token(who, ["cairn:" + role, *roles]) for who, (role, roles) in PEOPLE.items()}
for token in tokens.values():
    with_tokens.call("GET", "/v1/tasks", key=token)
check_tasks(with_tokens, tokens, (200, ""))
check_current_rights(with_tokens, lambda who, roles: issuer.token(who, ["cairn:task_worker", *roles]))
expect("SIGTERM ends with 0", with_tokens.end() == 0, with_tokens.said)
with_tokens.start(*issuer.flags())
check_assignments(with_tokens, tokens["lea"], (200, ""))  # what the server knows of them is in the store
os.remove(issuer.jwks)
expect("without the file of keys the last keys stay", with_tokens.call("GET", "/v1/tasks", key=tokens["ann"]).status == 200)
issuer.publish()
expect("an empty set refuses every token", with_tokens.call("GET", "/v1/tasks", key=tokens["ann"]).status == 401)
expect("SIGTERM ends with 0", with_tokens.end() == 0, with_tokens.said)
print(f"{cells} cells with tasks")

# Revoking works within seconds, expiry at once.
doomed = server.call("POST", "/v1/keys", {"subject": "x", "roles": ["viewer"]}).json
expect("the new key works", server.call("GET", "/v1/info", key=doomed["key"]).status == 200)
expect("the list does not show it", doomed["key"] not in server.call("GET", "/v1/keys").text)
expect("it is revoked", server.call("DELETE", "/v1/keys/" + doomed["id"]).status == 204)

def last_answer(key):
    """What the key gets at last. On a quick machine the loop meets the rate of a viewer (429) before."""
    until = time.monotonic() + 5
    while (status := server.call("GET", "/v1/info", key=key).status) in (200, 429) and time.monotonic() < until:
        pass
    return status
seen = last_answer(doomed["key"])
expect("and refused within 5 s", seen == 401, seen)
short = server.call("POST", "/v1/keys", {"subject": "x", "roles": ["viewer"], "expires_in": "1ms"}).json
expect("an expired key is refused", last_answer(short["key"]) == 401)  # asking may take less than that 1 ms
expect("a role that there is not", server.call("POST", "/v1/keys", {"subject": "x", "roles": ["root"]}).status == 422)

# Every change is in the audit trail, which is whole.
trail = server.call("GET", "/v1/audit?limit=1000").json["items"]
whats = [(row["who"], row["what"]) for row in trail]
expect("making a key is recorded", ("admin-person", "createKey") in whats, whats)
expect("revoking it too", ("admin-person", "revokeKey") in whats, whats)
expect("a refused change is recorded", any(row["what"] == "createKey" and row["who"] == "viewer-person" and row["details"]["status"] == 403 for row in trail))
expect("no secret is in it", doomed["key"] not in str(trail))
checked = server.call("GET", "/v1/audit/verify").json
expect("the trail is whole", checked["intact"] and checked["rows"] == len(trail), checked)

# The trail survives a restart and shows tampering.
expect("SIGTERM ends with 0", server.end() == 0, server.said)
expect("no error was logged", '"level":"error"' not in server.said, server.said[-2000:])
import sqlite3
whole = server.run("audit", "verify", "--store", server.store)
expect("audit verify says so", whole.returncode == 0 and "intact" in whole.stdout, whole.stdout + whole.stderr)
database = sqlite3.connect(server.store[len("sqlite:"):])
try:
    database.execute("UPDATE wf_audit SET who = 'nobody' WHERE sequence = 2")
    expect("the database refuses to change a row", False)
except sqlite3.Error:
    expect("the database refuses to change a row", True)
database.executescript("DROP TRIGGER wf_audit_is_not_changed; UPDATE wf_audit SET who = 'nobody' WHERE sequence = 2;")
database.close()
broken = server.run("audit", "verify", "--store", server.store)
expect("audit verify names the row", broken.returncode == 1 and "row 2" in broken.stdout, broken.stdout + broken.stderr)
finish()
