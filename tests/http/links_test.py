#!/usr/bin/env python3
"""links_test.py CAIRN SOURCE_DIR: links with which one person answers one task without an account, and credentials for pages that embed a part of the console."""
import base64, json, os, subprocess, sys, tempfile, time
from served import Served, expect, finish

FLOW = """cairn: 1
name: approval
version: 1.0.0
steps:
  - id: check
    task:
      name: Check
      roles: [clerk]
  - id: approve
    task:
      name: Approve
      title: "= 'Approve ' + input.what"
      roles: [boss]
      payload: { what: "= input.what", amount: 9007199254740993 }
      form: { type: object, required: [approved], properties: { approved: { type: boolean }, comment: { type: string } } }
"""
folder = tempfile.TemporaryDirectory()
key = os.path.join(folder.name, "links.pem")
subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True, capture_output=True)
os.chmod(key, 0o600)
server = Served(sys.argv[1], "--links-signing-key", key, "--cors-origins", "https://shop.example")
made = server.call("POST", "/v1/definitions", text=FLOW, **{"content-type": "application/yaml"})
expect("it is deployed", made.status == 201, made.text)


def task_of(instance, name):
    return next(one for one in server.call("GET", f"/v1/tasks?instance={instance}").json["items"] if one["name"] == name)


def begin(what="12 laptops"):
    """An instance that waits for the boss. Returns it and the task."""
    instance = server.call("POST", "/v1/instances", {"definition": "approval", "input": {"what": what}}, role="starter").json["id"]
    server.call("POST", f"/v1/tasks/{task_of(instance, 'Check')['id']}/complete", {"payload": {}}, role="task_worker")
    return instance, task_of(instance, "Approve")


def soon(holds):
    """Asks until it holds: what is valid for 1 ms can be used at once."""
    bound = time.monotonic() + 30
    while not holds():
        if time.monotonic() > bound:
            return False
    return True


def look(token):
    return server.call("GET", "/v1/answer", role=None, **{"x-cairn-link": token})


def answer(token, payload, **headers):
    return server.call("POST", "/v1/answer", {"payload": payload}, role=None, **{"x-cairn-link": token, **headers})


instance, task = begin()
link = server.call("POST", f"/v1/tasks/{task['id']}/link", {"person": "nora", "answer": {"approved": True}})
expect("a link is made", link.status == 201 and link.json["path"] == "/t/" + link.json["token"] and link.json["person"] == "nora", link.text)
token = link.json["token"]
page = look(token)
expect("it shows what is asked", page.json["state"] == "open" and page.json["title"] == "Approve 12 laptops" and page.json["person"] == "nora" and page.json["answer"] == {"approved": True} and
       page.json["requester"] == "starter-person" and page.json["form"]["required"] == ["approved"], page.text)
expect("numbers keep their digits", "9007199254740993" in page.text)
expect("and who decided before", [(one["title"], one["person"]) for one in page.json["before"]] == [("Check", "task_worker-person")], page.json["before"])
expect("nothing of the engine", not {"instance", "id", "step", "roles", "definition"} & set(page.json), page.json)
for _ in range(3):
    look(token)
expect("looking changes nothing", task_of(instance, "Approve")["state_version"] == task["state_version"])
bad = answer(token, {"approved": "yes"})
expect("the form is checked, with the place of the mistake", bad.status == 422 and bad.json["errors"][0]["pointer"] == "/payload/approved", bad.text)
expect("and nothing is done", look(token).json["state"] == "open")
done = answer(token, {"approved": False, "comment": "too many"})
expect("the answer is taken", done.status == 200 and done.json == {"state": "answered"}, done.text)
row = server.call("GET", f"/v1/tasks/{task['id']}").json
expect("in the name of the person", row["status"] == "completed" and row["completed_by"] == "nora", row)
again = look(token).json
expect("the link says that it was used, and no more", again["state"] == "answered" and again["answered_by"] == "nora" and "payload" not in again, again)
expect("it cannot be used twice", answer(token, {"approved": True}).status == 409)
trail = [one for one in server.call("GET", "/v1/audit?limit=1000").json["items"] if one["what"] in ("createTaskLink", "giveAnswer")]
expect("both are in the audit trail", [(one["what"], one["who"]) for one in trail][:1] == [("createTaskLink", "admin-person")] and ("giveAnswer", "nora") in [(one["what"], one["who"]) for one in trail], trail)
expect("the token is not", token not in json.dumps(server.call("GET", "/v1/audit?limit=1000").json))

# Every other byte is refused; a link of another server too.
body, signature = token.split(".")[1:]
claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
forged = base64.urlsafe_b64encode(json.dumps({**claims, "person": "mallory"}).encode()).rstrip(b"=").decode()
for wrong in ("", "x", token[:-1], token[:-1] + ("A" if token[-1] != "A" else "B"), f"ct1.{forged}.{signature}", f"ct1.{body}.", "ct1.." , "x" * 9000):
    seen = look(wrong) if len(wrong) < 8000 else None
    expect(f"not a link: {wrong[:30]!r}", seen is None or (seen.status == 200 and seen.json == {"state": "unknown"}), seen and seen.text)
    if seen is not None:
        expect(f"nothing to answer: {wrong[:30]!r}", answer(wrong, {"approved": True}).status == 404)
expect("a link is no credential", server.call("GET", "/v1/info", key=token).status == 401)

# A link is for the task as it was, for one person, and for a while.
_, task = begin("chairs")
first = server.call("POST", f"/v1/tasks/{task['id']}/link", {"person": "nora"}).json["token"]
server.call("POST", "/v1/keys", {"subject": "ann", "roles": ["task_worker"], "scope": {"task_roles": ["boss"]}})
expect("the task goes to another person", server.call("POST", f"/v1/tasks/{task['id']}/reassign", {"assignee": "ann"}).status == 200)
expect("a change of the task ends its links", look(first).json == {"state": "changed", "person": "nora", "title": "Approve chairs"} and answer(first, {"approved": True}).status == 409)
repeated = [server.call("POST", f"/v1/tasks/{task['id']}/link", {"person": "ann"}, **{"idempotency-key": "one-link"}) for _ in range(2)]
expect("a link is not kept for a repeat", [one.status for one in repeated] == [201, 201] and "idempotency-replayed" not in repeated[1].headers, repeated[1].headers)
expect("another person gets no link to an assigned task", server.call("POST", f"/v1/tasks/{task['id']}/link", {"person": "nora"}).status == 409)
expect("the assignee does", server.call("POST", f"/v1/tasks/{task['id']}/link", {"person": "ann"}).status == 201)
instance, task = begin("desks")
short = server.call("POST", f"/v1/tasks/{task['id']}/link", {"person": "nora", "expires_in": "1ms"}).json["token"]
expect("a link expires", soon(lambda: look(short).json["state"] == "expired") and "payload" not in look(short).json and answer(short, {"approved": True}).status == 409)
closed = server.call("POST", f"/v1/tasks/{task['id']}/link", {"person": "nora"}).json["token"]
server.call("POST", f"/v1/instances/{instance}/cancel", {"reason": "x"})
expect("a cancelled question is closed", look(closed).json["state"] == "closed" and answer(closed, {"approved": True}).status == 409)
expect("no link to a closed task", server.call("POST", f"/v1/tasks/{task['id']}/link", {"person": "nora"}).status == 409)
_, task = begin("lamps")
for body, status in (({}, 422), ({"person": ""}, 422), ({"person": "nora", "expires_in": "31d"}, 422), ({"person": "nora", "expires_in": "x"}, 422)):
    expect(f"refused: {body}", server.call("POST", f"/v1/tasks/{task['id']}/link", body).status == status, server.call("POST", f"/v1/tasks/{task['id']}/link", body).text)
expect("a task worker makes no links", server.call("POST", f"/v1/tasks/{task['id']}/link", {"person": "x"}, role="task_worker").status == 403)
kept = server.call("POST", f"/v1/tasks/{task['id']}/link", {"person": "nora"}).json["token"]

# Credentials for other pages: for one instance or the inbox, for a while, never more than the caller has.
made = server.call("POST", "/v1/embed", {"instance": instance}, role="viewer")
expect("a viewer makes one for a diagram", made.status == 201, made.text)
shop = {"key": made.json["token"], "origin": "https://shop.example"}


def by(token, method, path, body=None, **headers):
    return server.call(method, path, body, role=None, key=token, **headers)


picture = by(made.json["token"], "GET", f"/v1/instances/{instance}/diagram?format=svg&theme=tokens", origin="https://shop.example")
expect("the page gets the picture", picture.status == 200 and picture.headers.get("access-control-allow-origin") == "https://shop.example", (picture.status, picture.headers))
for path in (f"/v1/instances/{instance}", "/v1/instances", f"/v1/instances/{instance}/history", "/v1/tasks", "/v1/definitions", "/v1/info", f"/v1/instances/{instance}x/diagram"):
    seen = by(made.json["token"], "GET", path)
    expect(f"and nothing else: {path}", seen.status == 403, (seen.status, seen.text))
inbox = server.call("POST", "/v1/embed", {"inbox": True, "expires_in": "5m"}, role="task_worker").json["token"]
_, _ = begin("cups")
instance = server.call("POST", "/v1/instances", {"definition": "approval", "input": {"what": "pens"}}, role="starter").json["id"]
tasks = by(inbox, "GET", "/v1/tasks?mine=true").json["items"]
expect("the inbox has what the person may do", {one["name"] for one in tasks} == {"Check"}, tasks)
taken = by(inbox, "POST", f"/v1/tasks/{task_of(instance, 'Check')['id']}/complete", {"payload": {}})
expect("and completes it", taken.status == 200, taken.text)
expect("in the person's name", server.call("GET", f"/v1/tasks?instance={instance}&closed=true").json["items"][-1].get("completed_by", "") in ("task_worker-person", "") )
expect("no further credential grows from it", by(inbox, "POST", "/v1/embed", {"inbox": True}).status == 403)
for role, body, status in (("viewer", {"inbox": True}, 403), ("task_worker", {"instance": instance}, 403), ("viewer", {"instance": instance, "person": "ann"}, 403), ("viewer", {}, 422),
                           ("viewer", {"instance": "nothing-here"}, 404), ("viewer", {"instance": instance, "expires_in": "2h"}, 422)):
    seen = server.call("POST", "/v1/embed", body, role=role)
    expect(f"refused for {role}: {body}", seen.status == status, (seen.status, seen.text))
other = server.call("POST", "/v1/embed", {"inbox": True, "person": "ann", "task_roles": ["boss"]}).json["token"]
expect("an admin makes one for another person, with that person's roles", {one["name"] for one in by(other, "GET", "/v1/tasks?mine=true").json["items"]} == {"Approve"})
old = server.call("POST", "/v1/embed", {"inbox": True, "expires_in": "1ms"}, role="task_worker").json["token"]
expect("it expires", soon(lambda: by(old, "GET", "/v1/tasks").status == 401))
expect("a diagram's credential is no link", look(made.json["token"]).json == {"state": "unknown"})

# With a key in a file, links outlive the process; without one they end with it.
server.end()
server.start("--links-signing-key", key)
expect("the link still works", look(kept).json["state"] == "open")
server.end()
server.start()
expect("with another key it does not", look(kept).json == {"state": "unknown"})
expect("it ends with 0", server.end() == 0, server.said[-1000:])
finish()
