#!/usr/bin/env python3
"""promises_test.py CAIRN SOURCE_DIR [postgres]: kept signals, four eyes, If-Match and requests of operators, as a client sees them. On SQLite, or on
the server that CAIRN_TEST_POSTGRES names."""
import concurrent.futures, json, os, re, sys, tempfile, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from receiver import Receiver
from served import Served, expect, finish

keys_seen = []
down = True


def answer(path, headers, body):
    keys_seen.append(headers["idempotency-key"])
    return (503, "{}") if down else (200, "{}")


url = Receiver(answer).url
folder = tempfile.TemporaryDirectory()
settings = os.path.join(folder.name, "cairn.toml")
with open(settings, "w") as file:
    file.write(f'egress = ["{url}"]\n[config]\nurl = "{url}/"\n[log]\nlevel = "error"\n')
store = None
if sys.argv[3:] == ["postgres"]:
    store = "%s&schema=promises_%d" % (os.environ["CAIRN_TEST_POSTGRES"], os.getpid())
server = Served(sys.argv[1], "--config", settings, store=store)
expect("it starts", server.port is not None, getattr(server, "said", ""))


def key_of(person):
    made = server.call("POST", "/v1/keys", {"subject": person, "roles": ["task_worker"], "scope": {"task_roles": ["clerk"]}})
    expect(f"a key for {person}", made.status == 201, made.text)
    return made.json["key"]


ann, agent_of_ann, bob = [key_of(name) for name in ("ann", "ann", "bob")]


def deploy(text):
    made = server.call("POST", "/v1/definitions", text=text, **{"content-type": "application/yaml"})
    expect("a definition is deployed", made.status in (200, 201), made.text)


def start(definition):
    return server.call("POST", "/v1/instances", {"definition": definition}).json["id"]


def show(instance):
    return server.call("GET", "/v1/instances/" + instance).json


def cli(code, *arguments):
    environment = {**os.environ, "CAIRN_SERVER": f"http://127.0.0.1:{server.port}", "CAIRN_TOKEN": server.keys["admin"]}
    ran = server.run(*arguments, env=environment)
    expect("cairn " + " ".join(arguments), ran.returncode == code, (ran.returncode, ran.stdout, ran.stderr))
    return ran.stdout


def until(what, find, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = find()
        if found:
            return found
    expect(what, False)
    return None


def letters(name):
    return [one for one in server.call("GET", "/v1/dead-letters?limit=1000").json["items"] if one["reason"].startswith("expired") and name in json.dumps(one)]


# Signals that no step has taken yet: kept without expiry, also over a restart.
deploy("""
cairn: 1
name: t.early
version: 1.0.0
signals: { typed: { schema: { type: object, required: [amount] } } }
steps:
  - signal: { name: paid, key: K, result: paid }
  - task: { name: Look, roles: [clerk] }
  - signal: { name: typed, result: typed }
output: { paid: = state.paid, typed: = state.typed }
""")
kept = server.call("POST", "/v1/signals", {"name": "paid", "key": "K", "payload": {"n": 1}})
expect("a signal that no instance waits for is kept", kept.status == 202 and kept.json["kept"] is True, kept.text)
server.end()
server.start("--config", settings)
items = server.call("GET", "/v1/signals?name=paid").json["items"]
expect("it is listed after a restart, without an end", len(items) == 1 and items[0]["until"] is None and items[0]["payload"] == {"n": 1}, items)
expect("also by the command", re.search(r'paid\tK\t', cli(0, "signals", "--name", "paid")), "")
one = start("t.early")
until("the instance takes it", lambda: [wait for wait in show(one)["waits"] if wait["kind"] == "task"])
expect("and it is gone from the list", server.call("GET", "/v1/signals?name=paid").json["items"] == [])
early = server.call("POST", f"/v1/instances/{one}/signals", {"name": "typed", "payload": {"amount": 3}})
expect("an instance keeps a signal too", early.status == 200 and [kept["name"] for kept in show(one)["signals"]] == ["typed"], early.text)
expect("cairn show shows it", "typed" in cli(0, "show", one))
expect("cairn signals too", "typed" in cli(0, "signals", "--instance", one))
for path in (f"/v1/instances/{one}/signals", "/v1/signals"):
    wrong = server.call("POST", path, {"name": "typed", "payload": 3})
    expect(f"the schema refuses another payload at {path}", wrong.status == 422 and "amount" in wrong.text or "object" in wrong.text, wrong.text)
task = server.call("GET", f"/v1/tasks?instance={one}").json["items"][0]["id"]
server.call("POST", f"/v1/tasks/{task}/complete", {}, key=ann)
expect("it is taken later", show(one)["output"] == {"paid": {"n": 1}, "typed": {"amount": 3}}, show(one))

# A signal with a time to live becomes a dead letter, with an event and in the metric.
two = start("t.early")
server.call("POST", "/v1/signals", {"name": "short.store", "key": "K", "payload": 5, "ttl": "100ms"})
server.call("POST", f"/v1/instances/{two}/signals", {"name": "short.instance", "payload": 6, "ttl": "100ms"})
for name in ("short.store", "short.instance"):
    found = until(f"{name} becomes a dead letter", lambda: letters(name))
    events = [event for event in server.call("GET", "/v1/outbox?limit=1000").json["items"] if "cairn.signal.expired" in json.dumps(event) and name in json.dumps(event)]
    expect(f"{name}: with one event", len(events) == 1, events)
    expect(f"{name}: one letter", found is not None and len(found) == 1, found)
expect("they are not listed any more", server.call("GET", "/v1/signals?name=short.store").json["items"] == [] and show(two)["signals"] == [])
counted = re.search(r"^cairn_signals_expired_total (\d+)", server.call("GET", "/metrics").text, re.M)
expect("the metric counts them", counted and int(counted.group(1)) == 2, counted)
letter = letters("short.store")[0]["id"]
expect("a replay sends it again", server.call("POST", f"/v1/dead-letters/{letter}/replay").status in (200, 202, 204))
again = server.call("GET", "/v1/signals?name=short.store").json["items"]
expect("and it is kept without an end", len(again) == 1 and again[0]["until"] is None, again)
cli(0, "signals", "discard", str(again[0]["number"]), "--reason", "test")
expect("it can be discarded", server.call("GET", "/v1/signals?name=short.store").json["items"] == [])

# Four eyes: with two keys of one person at once, only one of two tasks can be completed. An agent with a key of a person is that person.
deploy("""
cairn: 1
name: t.eyes
version: 1.0.0
steps:
  - parallel:
      four_eyes: all
      branches:
        a: [ { task: { name: A, roles: [clerk] } } ]
        b: [ { task: { name: B, roles: [clerk] } } ]
""")
for round in range(10):
    pair = start("t.eyes")
    tasks = [task["id"] for task in server.call("GET", f"/v1/tasks?instance={pair}").json["items"]]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        claims = list(pool.map(lambda call: server.call("POST", f"/v1/tasks/{call[0]}/assign", {}, key=call[1]).status,
                               zip(tasks, (ann, agent_of_ann))))
        ended = list(pool.map(lambda call: server.call("POST", f"/v1/tasks/{call[0]}/complete", {}, key=call[1]).status,
                              zip(tasks, (ann, agent_of_ann))))
    expect(f"round {round}: both are claimed, one is completed", claims == [200, 200] and sorted(ended) == [200, 403], (claims, ended))
    rest = tasks[ended.index(403)]
    expect(f"round {round}: ann cannot take the other", server.call("POST", f"/v1/tasks/{rest}/release", {}, key=ann).status == 200 and
           server.call("POST", f"/v1/tasks/{rest}/assign", {}, key=agent_of_ann).status == 403)
    expect(f"round {round}: bob does the other", server.call("POST", f"/v1/tasks/{rest}/complete", {}, key=bob).status == 200)
    expect(f"round {round}: it ends", show(pair)["status"] == "completed")

# If-Match: 412 with the current ETag on every change of an instance or a task, 400 on every other change.
deploy("cairn: 1\nname: t.broken\nversion: 1.0.0\nstate: { by: 0 }\nsteps: [ { id: divide, set: { x: = 1 / state.by } } ]\noutput: = state.x\n")
waiting, suspended = start("t.early"), start("t.broken")
server.call("POST", "/v1/signals", {"name": "paid", "key": "K"})
until("its task opens", lambda: server.call("GET", f"/v1/tasks?instance={waiting}").json["items"])
task = server.call("GET", f"/v1/tasks?instance={waiting}").json["items"][0]["id"]
BODIES = {"signalInstance": {"name": "x"}, "skipStep": {"result": 1}, "editState": {"by": 1}, "reassignTask": {"assignee": "bob"}, "commentTask": {"comment": "x"}}
table = server.call("GET", "/openapi.json", role=None).json
about_one = 0
for path, methods in table["paths"].items():
    for method, operation in methods.items():
        if method == "get" or not path.startswith("/v1/"):
            continue
        name = operation["operationId"]
        of_instance = path.startswith("/v1/instances/{id}")
        of_task = path.startswith("/v1/tasks/{id}") and not path.endswith(("/draft", "/link"))
        if name in ("changeSchedule", "receiveHook", "giveAnswer") or "hooks" in path or (method == "patch" and "schedules" in path):
            continue
        place = path.replace("{id}", (waiting if name in ("signalInstance", "cancelInstance", "suspendInstance") else suspended) if of_instance else task)
        place = re.sub(r"\{[a-z]+\}", "1", place)
        refused = server.call(method.upper(), place, BODIES.get(name, {}) if method != "delete" else None, **{"if-match": '"9999"'})
        if of_instance or of_task:
            about_one += 1
            current = server.call("GET", re.match(r"/v1/[a-z]+/[^/]+", place).group(0)).headers["etag"]
            expect(f"{name}: 412 with the ETag", refused.status == 412 and refused.headers.get("etag") == current, (refused.status, refused.text, refused.headers))
        else:
            expect(f"{name}: 400", refused.status == 400 and "If-Match" in refused.text, (refused.status, refused.text))
expect("that were all", about_one >= 13, about_one)

# Requests of operators: a reason, and old and new values in the history and the audit trail.
cli(0, "state", "edit", suspended, "--patch", '{"by": 4}', "--reason", "a typing error")
cli(0, "retry", suspended, "--reason", "once more", "--if-state-version", str(show(suspended)["state_version"]))
history = server.call("GET", f"/v1/instances/{suspended}/history?limit=1000").json["items"]
edited = [entry["details"] for entry in history if entry["event"] == "edited"][-1]
expect("the history has the reason and both values", edited == {"reason": "a typing error", "changed": [{"path": "/by", "old": 0, "new": 4}]}, edited)
expect("also of the retry", [entry["details"] for entry in history if entry["event"] == "resumed"][-1]["reason"] == "once more", history)
paused, broken = start("t.early"), start("t.broken")
cli(0, "suspend", paused, "--reason", "stop")
cli(0, "resume", paused, "--reason", "go")
cli(0, "skip", broken, "--reason", "not needed")
trail, cursor = [], ""
while True:
    page = server.call("GET", f"/v1/audit?limit=1000&cursor={cursor}").json
    trail += page["items"]
    cursor = page["next_cursor"]
    if not cursor:
        break
whys = [(row["what"], row["why"], row["details"]["old"]["status"], row["details"]["new"]["status"]) for row in trail
        if row["resource"].startswith((f"/v1/instances/{broken}/", f"/v1/instances/{paused}/"))]
expect("the audit trail has the reasons, the old and the new status", sorted(whys) == [
    ("resumeInstance", "go", "suspended", "waiting"), ("skipStep", "not needed", "suspended", "suspended"),
    ("suspendInstance", "stop", "waiting", "suspended")], whys)
cancelled = start("t.early")
cli(0, "cancel", cancelled, "--reason", "no longer wanted")
expect("a cancel has its reason", "no longer wanted" in json.dumps(show(cancelled)["error"]), show(cancelled))

# A retry keeps the idempotency key of the call, unless the operator wants a new one.
deploy("""
cairn: 1
name: t.pay
version: 1.0.0
steps: [ { call: { http: { method: POST, url: = config.url, body: { amount: 1 } }, retry: none } } ]
""")
payment = start("t.pay")
until("the call fails", lambda: show(payment)["status"] == "suspended")
for arguments in ((), ("--new-key",)):
    before = len(keys_seen)
    cli(0, "retry", payment, *arguments)
    until("it is called again", lambda: len(keys_seen) > before)
    until("it fails again", lambda: show(payment)["status"] == "suspended")
server.end()
server.start("--config", settings)
down = False
cli(0, "retry", payment)
until("it ends", lambda: show(payment)["status"] == "completed")
expect("the key is kept, then new, then kept over a restart", len(keys_seen) == 4 and keys_seen[0] == keys_seen[1] and keys_seen[1] != keys_seen[2] and
       keys_seen[2] == keys_seen[3], keys_seen)

checked = server.end()
verified = server.run("verify", "--store", server.store)
expect("it stops, and the store is sound", checked == 0 and verified.returncode == 0, (checked, verified.stdout, verified.stderr))
finish()
