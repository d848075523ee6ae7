#!/usr/bin/env python3
"""keyed_posts_test.py CAIRN SOURCE_DIR: every POST route with an Idempotency-Key, from 16 clients at once. Every request is answered in time, a
repeat gets the first status and body with `Idempotency-Replayed`, the process stays alive and SIGTERM ends it. Then each kind of change again with kill -9
after the answer and before it: nothing is done twice. Then keys whose instance ended, or was removed and its id used again, and two keys in one request. CAIRN_KEYED_ROUNDS makes it longer; CAIRN_SEED repeats a run."""
import collections, http.client, itertools, json, os, random, re, select, socket, sys, threading, time
from served import Served, expect, finish

CLIENTS = 16
TIME_BOUND = 30  # seconds for one answer, on a machine that others keep busy
rounds = int(os.environ.get("CAIRN_KEYED_ROUNDS", "2"))
seed = int(os.environ.get("CAIRN_SEED", "1"))
print("seed", seed)
DEFINITION = """
cairn: 1
name: t.keyed
version: 1.0.0
steps:
  - call: { worker: { type: demo.step.v1, payload: {} } }
  - task: { name: look, title: Look, roles: [clerk] }
"""
# Counts the signals that it gets.
COUNTING = """
cairn: 1
name: t.counting
version: 1.0.0
input: { type: object, properties: { key: { type: string } } }
state: { seen: 0 }
steps:
  - signal: { name: go, key: '= input.key' }
  - set: { seen: 1 }
  - signal: { name: go, key: '= input.key' }
  - set: { seen: 2 }
  - wait: { for: 1d }
"""
FLAGS = ("--log-level", "error", "--drain", "10s")
server = Served(sys.argv[1], *FLAGS)
expect("it starts", server.port is not None, getattr(server, "said", ""))
table = server.call("GET", "/openapi.json", role=None).json
posts = [(path, operation) for path, item in sorted(table["paths"].items()) for method, operation in item.items() if method == "post"]
for definition in (DEFINITION, COUNTING):
    made = server.call("POST", "/v1/definitions", text=definition, **{"content-type": "application/yaml"})
    expect("the definition is deployed", made.status in (200, 201), made.text)
server.call("POST", "/v1/schedules", {"name": "s", "spec": {"every": "1h", "start": {"definition": "t.keyed"}}})

stop = threading.Event()
lock = threading.Lock()
trouble, statuses, numbers = [], {}, itertools.count()
replayed = collections.Counter()  # by operation


class Client:
    def __init__(self, number):
        self.dice = random.Random(f"{seed}/{number}")
        self.number = number
        self.connection = None
        self.ids = {"instance": [], "task": [], "run": []}

    def send(self, path, data, headers):
        for _ in range(2):
            try:
                fresh = self.connection is None
                if fresh:
                    self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIME_BOUND)
                self.connection.request("POST", path, data, headers)
                answer = self.connection.getresponse()
                return answer.status, answer.read(), answer.getheader("idempotency-replayed")
            except (http.client.RemoteDisconnected, ConnectionError):
                self.connection = None  # a kept connection may have been closed: once more
                if fresh:
                    raise
            except OSError:
                self.connection = None
                raise

    def post(self, operation, path, body, key=None, kind="application/json"):
        """One request with a key. Gives its status, its body, and whether it says that it is a repeat."""
        if stop.is_set():
            raise SystemExit
        key = key or f"k-{next(numbers)}"
        data = body if isinstance(body, str) else json.dumps(body)
        headers = {"authorization": "Bearer " + server.keys["admin"], "content-type": kind, "idempotency-key": key}
        try:
            status, text, again = self.send(path, data, headers)
        except (OSError, http.client.HTTPException) as error:
            with lock:
                trouble.append(f"{operation}: {type(error).__name__} {error}")
            stop.set()
            raise SystemExit
        with lock:
            statuses[(operation, status)] = statuses.get((operation, status), 0) + 1
            replayed[operation] += again == "true"
            if status >= 500 and status != 503:
                trouble.append(f"{operation}: {status} {text[:300]}")
        return status, text, again == "true"

    def post_twice(self, operation, path, body, kind="application/json"):
        key = f"k-{next(numbers)}"
        first = self.post(operation, path, body, key, kind)
        second = self.post(operation, path, body, key, kind)
        # A refusal changed nothing and is judged again. Leases and the secrets of new keys and sessions are kept nowhere. All other answers are the first one again.
        kept = first[0] < 400 and operation not in ("createKey", "createSession", "createEmbedToken", "createTaskLink", "leaseRuns")
        if second != (*first[:2], True) if kept else second[2] and first[0] >= 400:
            with lock:
                trouble.append(f"{operation}: a repeat got {second} after {first}")
        return first[0], json.loads(first[1]) if first[1][:1] in b"{[" else None

    def work(self):
        """Runs and instances, from their start to the report."""
        for _ in range(4):
            status, started = self.post_twice("startInstance", "/v1/instances", {"definition": "t.keyed"})
            if status == 201:
                self.ids["instance"].append(started["id"])
        self.post_twice("submitRuns", "/v1/runs/batch", {"runs": [{"type": "demo.alone.v1", "payload": n} for n in range(12)]})
        lease = {"worker": f"w{self.number}", "prefixes": ["demo."], "max": 12, "lease": "60s"}
        for _ in range(3):
            status, leased = self.post_twice("leaseRuns", "/v1/runs/lease", lease)
            for number, run in enumerate(leased["items"] if status == 200 else []):
                self.ids["run"].append(run["id"])
                path, fence = f"/v1/runs/{run['id']}", run["fence"]
                end = {"fence": fence, "result": {"n": number}}
                if number % 4 == 0:
                    self.post("heartbeatRun", path + "/heartbeat", {"fence": fence})
                if number % 4 == 1:
                    self.post_twice("failRun", path + "/fail", {"fence": fence, "error": {"code": "no"}, "retry": False})
                elif number % 4 == 2:
                    self.post_twice("reportRuns", "/v1/runs/report", {"reports": [{"id": run["id"], **end}]})
                else:
                    self.post_twice("completeRun", path + "/complete", end)
                self.post("completeRun", path + "/complete", end)  # too late

    def value(self, schema, depth=0):
        if not isinstance(schema, dict) or depth > 4:
            return "x"
        if "enum" in schema:
            return self.dice.choice(schema["enum"])
        kind = schema.get("type")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "object":
            return {name: self.value(inner, depth + 1) for name, inner in schema.get("properties", {}).items()
                    if name in schema.get("required", []) or self.dice.random() < 0.3}
        if kind == "array":
            return [self.value(schema.get("items", {}), depth + 1) for _ in range(self.dice.randrange(3))]
        if kind in ("integer", "number"):
            return self.dice.choice([0, 1, 5])
        if kind == "boolean":
            return False
        return self.dice.choice(["x", "t.keyed", "5s", "2020-01-01T00:00:00Z"])

    def all_routes(self):
        for path, operation in self.dice.sample(posts, len(posts)):
            known = "task" if "/tasks/" in path else "run" if "/runs/" in path else "instance"
            filled = re.sub(r"\{[^}]*\}", lambda _: self.dice.choice(self.ids[known] + ["s", "t.keyed", "1"]), path)
            content = operation.get("requestBody", {}).get("content", {})
            if "application/json" in content or not content:
                body = self.value(content.get("application/json", {}).get("schema", {"type": "object"}))
                if isinstance(body, dict):
                    body.pop("wait", None)  # nobody waits here
                    body.pop("keys", None)  # nor removes the answers that are compared
                self.post_twice(operation["operationId"], filled, body)
            else:
                self.post_twice(operation["operationId"], filled, DEFINITION, kind=next(iter(content)))

    def run(self):
        for _ in range(rounds):
            self.work()
            self.all_routes()


def converse(number):
    try:
        Client(number).run()
    except SystemExit:
        pass
    except Exception as error:  # of this test: said, not swallowed with its thread
        with lock:
            trouble.append(f"client {number}: {type(error).__name__} {error}")
        stop.set()


threads = [threading.Thread(target=converse, args=(number,)) for number in range(CLIENTS)]
began = time.monotonic()
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
expect("every request with a key is answered in time and as the first one was", not trouble, "\n".join(trouble[:10]))
asked_for = {operation for operation, _ in statuses}
expect("every POST route was asked", stop.is_set() or {operation["operationId"] for _, operation in posts} <= asked_for,
       {operation["operationId"] for _, operation in posts} - asked_for)
expect("reports succeeded", statuses.get(("completeRun", 200), 0) > CLIENTS and statuses.get(("reportRuns", 200), 0) > CLIENTS, statuses)
expect("repeats were answered from what is kept", stop.is_set() or sum(replayed.values()) > CLIENTS * 10, replayed)


def ask(path):
    return server.call("GET", path).json


def start(**more):
    return server.call("POST", "/v1/instances", {"definition": "t.counting", "input": {"key": "none"}, **more}).json["id"]


def leased(name):
    server.call("POST", "/v1/runs", {"type": f"demo.{name}.v1"})
    return server.call("POST", "/v1/runs/lease", {"worker": "w", "types": [f"demo.{name}.v1"], "lease": "10m"}).json["items"][0]


def task_of(name):
    """An open task."""
    server.call("POST", "/v1/definitions", text=DEFINITION.replace("t.keyed", f"t.{name}").replace("- call: { worker: { type: demo.step.v1, payload: {} } }", "- set: { x: 1 }"),
                **{"content-type": "application/yaml"})
    instance = server.call("POST", "/v1/instances", {"definition": f"t.{name}"}).json["id"]
    return ask(f"/v1/tasks?instance={instance}")["items"][0]["id"]


def events(path, word):
    return lambda: sum(item["event"] == word for item in ask(path)["items"])


def seen(instance):
    return lambda: ask(f"/v1/instances/{instance}")["state"]["seen"]


def history(instance, what):
    return lambda: sum(what in json.dumps(row) for row in ask(f"/v1/instances/{instance}/history?limit=1000")["items"])


def kinds(name):
    """Every kind of change, ready to be asked for: operation, path, body, and how often it was done."""
    yield ("startInstance", "/v1/instances", {"definition": "t.counting", "input": {"key": "none"}, "reference": {"key": name}},
           lambda: len(ask(f"/v1/instances?reference={name}")["items"]))
    yield "submitRun", "/v1/runs", {"type": f"demo.{name}.one"}, lambda: len(ask(f"/v1/runs?type=demo.{name}.one")["items"])
    yield ("submitRuns", "/v1/runs/batch", {"runs": [{"type": f"demo.{name}.two"}, {"type": f"demo.{name}.two"}]},
           lambda: len(ask(f"/v1/runs?type=demo.{name}.two")["items"]) / 2)
    one, by_name, by_event, by_bulk = (start(input={"key": f"{name}-{number}"}, reference={"key": f"{name}-{number}"}) for number in range(4))
    yield "signalInstance", f"/v1/instances/{one}/signals", {"name": "go", "key": f"{name}-0"}, seen(one)
    yield "sendSignal", "/v1/signals", {"name": "go", "key": f"{name}-1"}, seen(by_name)
    yield ("receiveEvents", "/v1/events", {"specversion": "1.0", "id": name, "source": "/t", "type": "go", "subject": f"{name}-2"}, seen(by_event))
    yield ("startBulk", "/v1/bulk", {"action": "signal", "filter": f"ref:{name}-3", "signal": {"name": "go", "key": f"{name}-3"}}, seen(by_bulk))
    for verb, body, word in (("complete", {"payload": {}}, "completed"), ("comment", {"comment": "hm"}, "commented"), ("assign", {}, "assigned")):
        task = task_of(name + verb)
        yield verb + "Task", f"/v1/tasks/{task}/{verb}", body, events(f"/v1/tasks/{task}/events", word)
    for verb, body, word in (("complete", {"result": 1}, "succeeded"), ("fail", {"error": {"code": "no"}, "retry": False}, "failed"), ("release", {}, "released")):
        run = leased(name + verb)
        yield verb + "Run", f"/v1/runs/{run['id']}/{verb}", {"fence": run["fence"], **body}, events(f"/v1/runs/{run['id']}/events", word)
    run = leased(name + "report")
    yield "reportRuns", "/v1/runs/report", {"reports": [{"id": run["id"], "fence": run["fence"], "result": 1}]}, events(f"/v1/runs/{run['id']}/events", "succeeded")
    run = leased(name + "many")
    yield "releaseRuns", "/v1/runs/release", {"runs": [{"id": run["id"], "fence": run["fence"]}]}, events(f"/v1/runs/{run['id']}/events", "released")
    run = leased(name + "cancel")
    yield "cancelRun", f"/v1/runs/{run['id']}/cancel", {}, events(f"/v1/runs/{run['id']}/events", "cancelled")
    for verb in ("suspend", "cancel"):
        instance = start()
        yield verb + "Instance", f"/v1/instances/{instance}/{verb}", {"reason": "r"}, history(instance, verb)
    instance = start()
    server.call("POST", f"/v1/instances/{instance}/suspend")
    yield "resumeInstance", f"/v1/instances/{instance}/resume", {}, history(instance, "resume")
    schedule = {"name": name, "cron": "0 0 1 1 *", "start": {"definition": "t.counting", "input": {"key": "none"}}}
    yield "createSchedule", "/v1/schedules", schedule, lambda: sum(item["name"] == name for item in ask("/v1/schedules?limit=1000")["items"])
    server.call("POST", "/v1/schedules", {**schedule, "name": name + ".t"})
    yield ("triggerSchedule", f"/v1/schedules/{name}.t/trigger", {}, lambda: sum(item["id"].startswith(name + ".t@") for item in ask("/v1/instances?limit=1000")["items"]))
    yield ("createKey", "/v1/keys", {"subject": name, "roles": ["viewer"]}, lambda: sum(item["subject"] == name for item in ask("/v1/keys")["items"]))


def large_kinds(name):
    """Changes with large answers: a batch, a report and a release of 1000 runs each, and one run with a large payload."""
    def many(type):
        server.call("POST", "/v1/runs/batch", {"runs": [{"type": type, "payload": n} for n in range(1000)]})
        found = server.call("POST", "/v1/runs/lease", {"worker": "w", "types": [type], "max": 1000, "lease": "1h"}).json["items"]
        expect("1000 runs are leased", len(found) == 1000, len(found))
        return [{"id": run["id"], "fence": run["fence"]} for run in found]

    yield ("submitRuns", "/v1/runs/batch", {"runs": [{"type": f"demo.{name}.many", "payload": n} for n in range(1000)]},
           lambda: len(ask(f"/v1/runs?type=demo.{name}.many&limit=1000")["items"]) / 1000)
    runs = many(f"demo.{name}.reported")
    yield "reportRuns", "/v1/runs/report", {"reports": [{**run, "result": 1} for run in runs]}, events(f"/v1/runs/{runs[0]['id']}/events", "succeeded")
    runs = many(f"demo.{name}.released")
    yield "releaseRuns", "/v1/runs/release", {"runs": runs}, events(f"/v1/runs/{runs[0]['id']}/events", "released")
    yield "submitRun", "/v1/runs", {"type": f"demo.{name}.big", "payload": "x" * 100_000}, lambda: len(ask(f"/v1/runs?type=demo.{name}.big")["items"])


MAY_CONFLICT = ("createSchedule",)  # docs/server.md: after a death before the answer, 409 says that it is done
DONE_AGAIN = ("commentTask", "createKey")  # docs/server.md: after a death before the answer; the secret of a key is not kept at all


def keyed(kind, path, body, key):
    answer = server.call("POST", path, body, **{"idempotency-key": key})
    return answer.status, answer.text, answer.headers.get("idempotency-replayed") == "true"


def done_once(kind, times):
    """Messages to instances are delivered soon after the answer."""
    until = time.monotonic() + (1 if kind == "startBulk" else TIME_BOUND)
    while (count := times()) == 0 and time.monotonic() < until:
        pass
    return count == 1 or (kind in DONE_AGAIN and count == 2) or (kind == "startBulk" and count == 0), count


def killed():
    server.process.kill()
    server.process.communicate()
    server.start(*FLAGS)


def killed_after_answers():
    """All kinds, then kill -9, then all again: the same answers."""
    asked = list(kinds("after")) + list(large_kinds("large"))
    firsts = [keyed(kind, path, body, f"after-{number}") for number, (kind, path, body, _) in enumerate(asked)]
    expect("large answers are large", all(len(first[1]) > 64 << 10 for first in firsts[-4:]), [len(first[1]) for first in firsts[-4:]])
    killed()
    for number, ((kind, path, body, times), first) in enumerate(zip(asked, firsts)):
        expect(f"{kind}: is done", first[0] < 300 and not first[2], first)
        again = keyed(kind, path, body, f"after-{number}")
        expect(f"{kind}: after a kill the repeat gets the first answer", again == (*first[:2], True) or kind == "createKey", (first, again))
    for kind, _, _, times in asked:
        fine, count = done_once(kind, times)
        expect(f"{kind}: done once although the server was killed", fine, count)


def killed_before_answers():
    """Each kind with kill -9 at some time before its answer is read, then again."""
    dice = random.Random(f"{seed}/kill")
    asked = list(kinds("before"))
    for kind, path, body, times in asked:
        data = json.dumps(body).encode()
        with socket.create_connection(("127.0.0.1", server.port)) as line:
            line.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.keys['admin']}\r\nContent-Type: application/json\r\n"
                         f"Idempotency-Key: before-{kind}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
            select.select([line], [], [], dice.choice([0, 0.001, 0.002, 0.005, TIME_BOUND]))  # how far it comes
            killed()
        second = keyed(kind, path, body, f"before-{kind}")
        allowed = second[0] < 300 and "lease_lost" not in second[1] or kind in MAY_CONFLICT and second[0] == 409
        expect(f"{kind}: a repeat after a kill is not refused, or hears that it is done", allowed, second)
        third = keyed(kind, path, body, f"before-{kind}")
        expect(f"{kind}: the answer of the repeat is kept", second[0] >= 300 or third == (*second[:2], True) or kind == "createKey", (second, third))
    for kind, _, _, times in asked:
        fine, count = done_once(kind, times)
        expect(f"{kind}: done once although the server was killed before its answer", fine or kind == "createKey" and count == 3, count)


# Ends with its signal.
LISTENING = """
cairn: 1
name: t.listening
version: 1.0.0
steps:
  - signal: { name: go, result: got }
output: = state.got
"""
ECHOING = """
cairn: 1
name: t.echoing
version: 1.0.0
steps:
  - set: { said: = input }
output: = state.said
"""
ASKING = """
cairn: 1
name: t.asking
version: 1.0.0
steps:
  - task: { name: look, title: Look, roles: [clerk] }
output: done
"""


def removed(instance):
    """Runs the retention until it has removed an ended instance."""
    until = time.monotonic() + TIME_BOUND
    while time.monotonic() < until:
        server.call("POST", "/v1/retention/run", {"completed": "0s"})
        if server.call("GET", f"/v1/instances/{instance}").status == 404:
            return True
    return False


def repeated_after_the_end():
    """The id of a signal: a repeat is a repeat, although the instance takes no more signals."""
    instance = server.call("POST", "/v1/instances", {"definition": "t.listening"}).json["id"]
    path = f"/v1/instances/{instance}/signals"
    first = server.call("POST", path, {"name": "go", "id": "s1", "payload": 1})
    expect("the signal ends its instance", first.status == 200 and first.json["status"] == "completed", first.text)
    again = server.call("POST", path, {"name": "go", "id": "s1", "payload": 1})
    expect("a repeat after the end is a repeat", again.status == 200 and again.json.get("repeated") and again.json["status"] == "completed", again.text)
    other = server.call("POST", path, {"name": "go", "id": "s2", "payload": 1})
    expect("another signal is refused", other.status == 409, other.text)


def ids_used_again():
    """Keys belong to the instance, not to the next one with its id."""
    def begin(definition, key=None, **more):
        return server.call("POST", "/v1/instances", {"definition": definition, "id": definition, **more}, **({"idempotency-key": key} if key else {}))

    begin("t.echoing", "start-1", input="first")
    expect("the echo is removed", removed("t.echoing"))
    begin("t.echoing", "start-2", input="second")
    for query in ("", "?wait=1s"):
        answer = server.call("POST", "/v1/instances" + query, {"definition": "t.echoing", "id": "t.echoing", "input": "first"}, **{"idempotency-key": "start-1"})
        expect("a repeated start tells nothing of the successor", answer.status == 201 and "second" not in answer.text, answer.text)
    expect("the second echo is removed", removed("t.echoing"))

    for number in (1, 2):
        begin("t.listening")
        for repeat in (False, True):
            answer = keyed("", "/v1/instances/t.listening/signals", {"name": "go", "payload": 1}, "signal-1")
            expect(f"signal {number}: the successor gets its own", answer[0] == 200 and answer[2] == repeat, answer)
            expect(f"signal {number}: and ends", ask("/v1/instances/t.listening")["status"] == "completed")
        expect("the listener is removed", removed("t.listening"))
    gone = keyed("", "/v1/instances/t.listening/signals", {"name": "go", "payload": 1}, "signal-1")
    expect("a repeat gets its answer although the instance is removed", gone[0] == 200 and gone[2], gone)

    for number in (1, 2):
        begin("t.asking")
        task = ask("/v1/tasks?instance=t.asking")["items"][0]["id"]
        for verb, body in (("comment", {"comment": "hm"}), ("complete", {"payload": {}})):
            for repeat in (False, True):
                answer = keyed("", f"/v1/tasks/{task}/{verb}", body, "task-1")
                expect(f"{verb} {number}: the task of the successor is another one", answer[0] == 200 and answer[2] == repeat, answer)
        expect(f"complete {number}: the instance ends", ask("/v1/instances/t.asking")["status"] == "completed")
        expect("the asking one is removed", removed("t.asking"))


def two_keys():
    def send(*keys):
        data = json.dumps({"type": "demo.twokeys.v1"}).encode()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIME_BOUND)
        connection.putrequest("POST", "/v1/runs")
        for name, value in (("authorization", "Bearer " + server.keys["admin"]), ("content-type", "application/json"), ("content-length", str(len(data)))):
            connection.putheader(name, value)
        for key in keys:
            connection.putheader("idempotency-key", key)
        connection.endheaders(data)
        answer = connection.getresponse()
        status, text = answer.status, answer.read().decode()
        connection.close()
        return status, text

    refused = send("two-a", "two-b")
    expect("two different keys are refused", refused[0] == 400 and json.loads(refused[1])["type"].endswith("idempotency_key"), refused)
    expect("and nothing is submitted", ask("/v1/runs?type=demo.twokeys.")["items"] == [])
    expect("the same key twice is one key", send("two-c", "two-c")[0] == 201)


if not stop.is_set():
    for definition in (LISTENING, ECHOING, ASKING):
        made = server.call("POST", "/v1/definitions", text=definition, **{"content-type": "application/yaml"})
        expect("the definition is deployed", made.status in (200, 201), made.text)
    repeated_after_the_end()
    ids_used_again()
    two_keys()
    killed_after_answers()
    killed_before_answers()
    expect("the process is alive", server.call("GET", "/livez", role=None).status == 200)
code = server.end()
expect("SIGTERM ends with 0", code == 0, (code, server.said[-2000:]))
print(f"{sum(statuses.values())} requests of the crowd, {time.monotonic() - began:.1f} s, {sum(replayed.values())} replayed")
if code == 0:
    checked = server.run("verify", "--store", server.store)
    expect("verify finds nothing", checked.returncode == 0, checked.stdout + checked.stderr)
finish()
