#!/usr/bin/env python3
"""role_matrix_test.py CAIRN SOURCE_DIR: every route of the server × every role, from the route table that the server itself serves.
What a role may do stands here a second time, on purpose."""
import re, sys, time
from served import ROLES, Served, expect, finish

MAY = {
    "open": set(ROLES),
    "view": {"viewer", "starter", "operator", "deployer", "admin"},
    "view_tasks": {"viewer", "task_worker", "operator", "admin"},
    "start": {"starter", "operator", "admin"},
    "work_tasks": {"task_worker", "admin"},
    "work_runs": {"worker", "admin"},
    "operate": {"operator", "admin"},
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
            expect(f"{name} is open", answer.status < 400, answer.text)
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

# Revoking works within seconds, expiry at once.
doomed = server.call("POST", "/v1/keys", {"subject": "x", "roles": ["viewer"]}).json
expect("the new key works", server.call("GET", "/v1/info", key=doomed["key"]).status == 200)
expect("the list does not show it", doomed["key"] not in server.call("GET", "/v1/keys").text)
expect("it is revoked", server.call("DELETE", "/v1/keys/" + doomed["id"]).status == 204)

def last_answer(key):
    until = time.monotonic() + 5
    while (status := server.call("GET", "/v1/info", key=key).status) == 200 and time.monotonic() < until:
        pass
    return status
expect("and refused within 5 s", last_answer(doomed["key"]) == 401)
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
expect("audit verify says so", whole.returncode == 0 and "whole" in whole.stdout, whole.stdout + whole.stderr)
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
