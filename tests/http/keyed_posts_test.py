#!/usr/bin/env python3
"""keyed_posts_test.py CAIRN SOURCE_DIR: every POST route with an Idempotency-Key, from 16 clients at once. Every request is answered in time, a
repeat gets the first answer, the process stays alive and SIGTERM ends it. CAIRN_KEYED_ROUNDS makes it longer; CAIRN_SEED repeats a run."""
import http.client, itertools, json, os, random, re, sys, threading, time
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
server = Served(sys.argv[1], "--log-level", "error", "--drain", "10s", environment={"CAIRN_DRAIN_DELAY": "0s"})
expect("it starts", server.port is not None, getattr(server, "said", ""))
table = server.call("GET", "/openapi.json", role=None).json
posts = [(path, operation) for path, item in sorted(table["paths"].items()) for method, operation in item.items() if method == "post"]
made = server.call("POST", "/v1/definitions", text=DEFINITION, **{"content-type": "application/yaml"})
expect("the definition is deployed", made.status in (200, 201), made.text)
server.call("POST", "/v1/schedules", {"name": "s", "spec": {"every": "1h", "start": {"definition": "t.keyed"}}})

stop = threading.Event()
lock = threading.Lock()
trouble, statuses, numbers = [], {}, itertools.count()
replayed = 0


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
        """One request with a key. Gives its status and document."""
        global replayed
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
            replayed += again is not None
            if status >= 500 and status != 503:
                trouble.append(f"{operation}: {status} {text[:300]}")
        return status, json.loads(text) if text[:1] in b"{[" else None

    def post_twice(self, operation, path, body):
        key = f"k-{next(numbers)}"
        first = self.post(operation, path, body, key)
        second = self.post(operation, path, body, key)
        # A refusal for now is not an answer for later. Routes that keep the key with the change itself say that it
        # is a repeat, or show what the first one made as it is now. The secret of a new key is kept nowhere.
        same = first == second or (first[0] < 300 and (second[1].get("repeated") or first[1].get("id") == second[1].get("id", "")))
        if operation != "createKey" and first[0] < 500 and first[0] not in (409, 429) and not same:
            with lock:
                trouble.append(f"{operation}: a repeat got {second} after {first}")
        return first

    def work(self):
        """Runs and instances, from their start to the report."""
        for _ in range(4):
            status, started = self.post_twice("startInstance", "/v1/instances", {"definition": "t.keyed"})
            if status == 201:
                self.ids["instance"].append(started["id"])
        self.post_twice("submitRuns", "/v1/runs/batch", {"runs": [{"type": "demo.alone.v1", "payload": n} for n in range(12)]})
        lease = {"worker": f"w{self.number}", "prefixes": ["demo."], "max": 12, "lease": "60s"}
        for _ in range(3):
            status, leased = self.post("leaseRuns", "/v1/runs/lease", lease)
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
                self.post_twice(operation["operationId"], filled, body) if path != "/v1/runs/lease" else self.post("leaseRuns", filled, body)
            else:
                self.post(operation["operationId"], filled, DEFINITION, kind=next(iter(content)))

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
seen = {operation for operation, _ in statuses}
expect("every POST route was asked", stop.is_set() or {operation["operationId"] for _, operation in posts} <= seen,
       {operation["operationId"] for _, operation in posts} - seen)
expect("reports succeeded", statuses.get(("completeRun", 200), 0) > CLIENTS and statuses.get(("reportRuns", 200), 0) > CLIENTS, statuses)
expect("repeats were answered from what is kept", stop.is_set() or replayed > CLIENTS * 10, replayed)
if not stop.is_set():
    expect("the process is alive", server.call("GET", "/livez", role=None).status == 200)
code = server.end()
expect("SIGTERM ends with 0", code == 0, (code, server.said[-2000:]))
print(f"{sum(statuses.values())} requests in {time.monotonic() - began:.1f} s, {replayed} replayed")
if code == 0:
    checked = server.run("verify", "--store", server.store)
    expect("verify finds nothing", checked.returncode == 0, checked.stdout + checked.stderr)
finish()
