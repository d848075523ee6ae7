#!/usr/bin/env python3
"""crowd_test.py CAIRN SOURCE_DIR: many clients use every operation of the OpenAPI document at once, with every header and option, valid and
invalid, while nodes are killed and drained. It runs on SQLite with one node, and on PostgreSQL with two where CAIRN_TEST_POSTGRES names a server.

It fails on an answer beyond its time bound, a 5xx other than 503, a connection that breaks without a cause, a process that ignores
SIGTERM, a repeat that is not answered as its first request was, and on any finding of `cairn verify`. CAIRN_CROWD_SECONDS sets the length
(30 per store), CAIRN_CROWD_CLIENTS the number of clients (16), CAIRN_CROWD_SEED the seed of a printed failure, CAIRN_CROWD_STORES which stores
(sqlite,postgres). CAIRN_CROWD_WITHOUT names what clients do not do (broken_off,odd_reason,burst,work,…), to see what else finds a fault."""
import collections, gzip, http.client, json, os, random, re, signal, socket, subprocess, sys, tempfile, threading, time, urllib.parse

from schema_values import HOSTILE_TEXTS, spoiled, spoiled_text, valid
from served import ROLES, expect, finish

CAIRN = os.path.abspath(sys.argv[1])
SECONDS = float(os.environ.get("CAIRN_CROWD_SECONDS", "30"))
CLIENTS = int(os.environ.get("CAIRN_CROWD_CLIENTS", "16"))
SEED = int(os.environ.get("CAIRN_CROWD_SEED", str(random.SystemRandom().randrange(1 << 31))))
BOUND = 30.0  # seconds that an answer may take beyond the wait that was asked for
WHOLE_STORE = 120.0  # seconds for the checks that read the whole store, which grows during the run
DRAIN = 5  # seconds
WITHOUT = os.environ.get("CAIRN_CROWD_WITHOUT", "").split(",")
SUBJECTS = ["ann", "bob", "cat"]

FLOWS = [
    """cairn: 1
name: crowd.task
version: 1.0.0
input: {type: object, properties: {n: {type: integer}}}
steps:
  - task: {name: Check, title: Check it, roles: [clerk], form: {type: object, properties: {ok: {type: boolean}}}, deadline: {after: 2s, steps: [{set: {late: true}}]}}
output: {n: = input.?n.orValue(0)}
""",
    """cairn: 1
name: crowd.work
version: 1.0.0
state: {}
steps:
  - try:
      - call: {worker: {type: demo.crowd.v1, payload: {n: 1}}, timeout: 20s, retry: {attempts: 2, backoff: 1s}, result: first}
      - call: {worker: {type: demo.crowd.v1, payload: {n: 2}}, timeout: 20s, retry: none, result: second}
    catch:
      - steps: [{set: {failed: true}}]
output: {done: true}
""",
    """cairn: 1
name: crowd.signal
version: 1.0.0
input: {type: object, properties: {key: {type: string}}}
state: {seen: 0}
steps:
  - parallel:
      branches:
        a: [{signal: {name: go, key: = input.?key.orValue("k"), timeout: 3s, on_timeout: [{set: {late: true}}]}}]
        b: [{wait: {for: 1s}}]
        c: [{subworkflow: {name: crowd.task, input: {n: 2}}}]
  - emit: {type: crowd.done, subject: x, data: {a: 1}}
output: {done: true}
""",
]


class Problems:
    """What went wrong, the same thing once, with an example. It is said when it is found, too."""

    def __init__(self):
        self.lock = threading.Lock()
        self.began = time.monotonic()
        self.count = collections.Counter()
        self.example = {}

    def add(self, kind, example):
        with self.lock:
            self.count[kind] += 1
            if kind in self.example:
                return
            self.example[kind] = example
            print(f"found after {time.monotonic() - self.began:.0f} s: {kind}: {str(example)[:200]}", flush=True)

    def add_hang(self, kind, example, node):
        """With the place where the node hangs; looking for that takes a while and comes after the finding."""
        first = not self.count[kind]
        self.add(kind, example)
        if first:
            self.example[kind] += "\n" + stacks(node.process.pid)


class Node:
    """One server. It listens on a new port after each start; clients look at `port`."""

    def __init__(self, store, flags, problems):
        self.store, self.flags, self.problems = store, flags, problems
        self.disturbed = 0.0  # when it last went up or down
        self.port = None
        self.starts = 0

    def start(self):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([CAIRN, "serve", "--store", self.store, "--listen", "127.0.0.1:0", "--drain", f"{DRAIN}s", *self.flags],
                                        stdout=subprocess.PIPE, stderr=self.log, text=True, env={**os.environ, "CAIRN_DRAIN_DELAY": "0s"})
        line = self.process.stdout.readline()
        found = re.search(r"https?://[^:]+:(\d+)", line)
        if not found:
            self.process.wait(30)
            self.log.seek(0)
            sys.exit("a node does not start: " + line + self.log.read()[-2000:])
        self.starts += 1
        self.disturbed = time.monotonic()
        self.port = int(found.group(1))

    def kill(self):
        self.disturbed, self.port = time.monotonic(), None
        self.process.kill()
        self.process.wait()

    def terminate(self):
        """True when it ended by itself, with 0, within its drain time and a margin."""
        began, self.disturbed = time.monotonic(), time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(DRAIN + BOUND)
        except subprocess.TimeoutExpired:
            self.problems.add_hang("SIGTERM ignored", f"still there after {DRAIN + BOUND:.0f} s", self)
            self.kill()
            return False
        self.port = None
        if code != 0:
            self.log.seek(0)
            self.problems.add("exit code", f"{code} after SIGTERM: {self.log.read()[-1500:]}")
        self.disturbed = time.monotonic()
        return time.monotonic() - began < DRAIN + BOUND


def bound_of(path):
    return WHOLE_STORE if path.split("?")[0].endswith(("/verify", "/doctor")) else BOUND


def stacks(pid):
    """Where a hanging process is, if gdb can tell."""
    try:
        done = subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 12"], capture_output=True, text=True, timeout=60)
        shown = {}  # the frames of this program; equal stacks once
        for thread in done.stdout.split("\nThread ")[1:]:
            frames = [re.sub(r"^(#\d+) +0x\w+ in", r"\1", line) for line in thread.splitlines() if "cairn::" in line]
            shown.setdefault("\n".join(frames), thread.split(maxsplit=1)[0])
        return "\n".join(f"Thread {number}\n{frames}" for frames, number in shown.items() if frames)[:6000]
    except (OSError, subprocess.TimeoutExpired):
        return "(no gdb)"


class Known:
    """Ids that clients have seen, shared by all of them; a small random sample is enough."""

    def __init__(self):
        self.ids = collections.defaultdict(lambda: collections.deque(maxlen=60))

    def add(self, kind, value):
        if value is not None:
            self.ids[kind].append(value)

    def pick(self, kind, random):
        have = list(self.ids[kind])
        return random.choice(have) if have else None


class Crowd:
    def __init__(self, store, nodes, environment_flags=()):
        self.problems = Problems()
        self.store = store
        self.keys = {}
        self.statuses = collections.Counter()
        self.operations = collections.Counter()
        self.slowest = (0.0, "")
        for role in ROLES:
            more = ["--prefix", "demo."] if role == "worker" else ["--task-role", "clerk"] if role == "task_worker" else []
            made = subprocess.run([CAIRN, "keys", "create", "--store", store, "--subject", random.Random(role).choice(SUBJECTS), "--role", role, *more],
                                  capture_output=True, text=True, timeout=120)
            if made.returncode != 0:
                sys.exit("cannot make a key: " + made.stderr)
            self.keys[role] = made.stdout.strip()
        self.nodes = [Node(store, list(environment_flags), self.problems) for _ in range(nodes)]
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            node.disturbed = float("-inf")  # no client has seen it start
        self.known = Known()
        self.stop = threading.Event()
        self.hung = threading.Event()
        self.document = json.loads(self.plain("GET", "/openapi.json"))
        self.operations_of = [(method.upper(), path, operation) for path, operations in self.document["paths"].items()
                              for method, operation in operations.items()]
        for flow in FLOWS:
            said = self.plain("POST", "/v1/definitions", flow, "application/yaml")
            if '"name"' not in said:
                sys.exit("a definition was refused: " + said)

    def may(self, deed):
        """A server that hangs because of requests that are cut off tells no more about the rest, so the first quarter has none of them."""
        return deed not in WITHOUT and (deed != "broken_off" or time.monotonic() - self.problems.began > SECONDS / 4)

    def stop_hung(self):
        """A node that hangs tells no more. True for the first who says so."""
        with self.problems.lock:
            first = not self.hung.is_set()
            self.hung.set()
        self.stop.set()
        return first

    def plain(self, method, path, body=None, kind="application/json"):
        connection = http.client.HTTPConnection("127.0.0.1", self.nodes[0].port, timeout=60)
        headers = {"authorization": "Bearer " + self.keys["admin"]}
        if body is not None:
            headers["content-type"] = kind
        connection.request(method, path, body, headers)
        text = connection.getresponse().read().decode()
        connection.close()
        return text


class Client:
    """One thread: picks what to do from its own random generator and judges every answer."""

    def __init__(self, crowd, number, seed):
        self.crowd, self.random = crowd, random.Random(f"{seed}/{number}")
        self.name = f"client-{number}"
        self.connection = self.node = None
        self.used_keys = collections.deque(maxlen=20)

    def run(self):
        try:
            while not self.crowd.stop.is_set():
                self.act()
        except SystemExit:
            pass
        except Exception as failure:  # a fault of this test, not to be overlooked
            import traceback
            self.crowd.problems.add("the test itself", traceback.format_exc())

    def act(self):
        roll = self.random.random()
        for share, deed in ((0.5, self.random_operation), (0.62, self.work), (0.67, self.burst), (0.75, self.start), (0.85, self.complete_task), (0.93, self.signals),
                            (0.96, self.look), (1.0, self.broken_off)):
            if roll < share:
                return deed() if self.crowd.may(deed.__name__) else None

    # --- one request ---------------------------------------------------------------------------------------------------
    def ask(self, method, path, body=None, role="admin", kind="application/json", wait=0.0, operation="", headers=None):
        """The status and the decoded answer; (None, None) where the node went away."""
        if self.crowd.hung.is_set():
            raise SystemExit
        random = self.random
        all_headers = {"authorization": "Bearer " + self.crowd.keys[role]} if role else {}
        if body is not None:
            all_headers["content-type"] = kind
        all_headers.update(headers or {})
        data = body if isinstance(body, (bytes, str)) or body is None else json.dumps(body)
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogatepass")
        began = time.monotonic()
        node = None
        try:
            connection, node = self.connect(bound_of(path) + wait)
            if connection is None:
                return None, None
            connection.request(method, path, data, all_headers)
            answer = connection.getresponse()
            if "event-stream" in answer.getheader("content-type", ""):
                took = time.monotonic() - began  # the stream itself has no end
                try:
                    answer.fp.raw._sock.settimeout(0.05)
                    answer.read(random.choice([0, 10, 2000]))
                except (OSError, http.client.HTTPException):
                    pass
                self.close()
                text = ""
            else:
                text = answer.read()
                if answer.getheader("content-encoding") == "gzip":
                    text = gzip.decompress(text)
                took = time.monotonic() - began
            status = answer.status
            if answer.getheader("connection", "").lower() == "close" or random.random() < 0.05:
                self.close()
        except socket.timeout:
            self.close()
            self.judge_gone(node, began, f"{method} {path}", "no answer")
            return None, None
        except (OSError, http.client.HTTPException) as failure:
            self.close()
            self.judge_gone(node, began, f"{method} {path}", repr(failure))
            return None, None
        self.crowd.statuses[status] += 1
        self.crowd.operations[operation or method] += 1
        if took - wait > self.crowd.slowest[0]:
            self.crowd.slowest = (took - wait, f"{method} {path[:120]}")
        if took > bound_of(path) + wait:
            self.crowd.problems.add("slow answer", f"{method} {path}: {status} after {took:.1f} s")
        said = text[:400] if text else ""
        if status >= 500 and status != 503:
            self.crowd.problems.add(f"{status} {operation or method}", f"{method} {path}\n headers {all_headers}\n body {(data or b'')[:300]}\n said {said}")
        if status == 503 and not self.excused(node, began) and not answer.getheader("retry-after"):
            self.crowd.problems.add("503 without a cause or Retry-After", f"{method} {path} said {said}")
        try:
            return status, json.loads(text) if text and "json" in answer.getheader("content-type", "") else text
        except ValueError:
            self.crowd.problems.add("malformed JSON", f"{method} {path} {status}: {said}")
            return status, None

    def connect(self, bound):
        if self.connection and (self.node.port is None or self.random.random() < 0.02):
            self.close()
        while self.connection is None:
            up = [node for node in self.crowd.nodes if node.port is not None]
            if up:
                self.node = self.random.choice(up)
                self.connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=BOUND + 2)
            elif self.crowd.stop.wait(0.05):
                return None, None
        if self.connection.sock is None:
            self.connection.connect()
        self.connection.sock.settimeout(bound + 2)
        return self.connection, self.node

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def excused(self, node, began):
        return node is None or node.port is None or node.disturbed >= began - 1.5 or any(other.disturbed >= began - 10 for other in self.crowd.nodes)

    def judge_gone(self, node, began, what, how):
        # A kept connection may be closed by the server between two requests; a retry on a new one must work.
        if self.excused(node, began):
            return
        if how == "no answer":
            said = f"{what} after {time.monotonic() - began:.0f} s"
            kind = "no answer to keyed reports" if what.startswith("keyed reports") else "no answer"
            if self.crowd.stop_hung():
                self.crowd.problems.add_hang(kind, said, node)
            else:
                self.crowd.problems.add(kind, said)
        elif time.monotonic() - began > 1 or "Refused" in how:
            self.crowd.problems.add("connection broke", f"{what}: {how}")

    def key_header(self, share=0.4):
        random = self.random
        if random.random() > share:
            return {}
        if self.used_keys and random.random() < 0.3:
            return {"idempotency-key": random.choice(list(self.used_keys))}
        key = f"{self.name}-{random.getrandbits(48):x}" if random.random() < 0.7 else f"shared-{random.randrange(50)}"
        self.used_keys.append(key)
        return {"idempotency-key": key}

    # --- what clients do -----------------------------------------------------------------------------------------------
    def random_operation(self):
        random = self.random
        method, path, operation = random.choice(self.crowd.operations_of)
        name = operation["operationId"]
        wait = 0.0

        def value(match):
            field = match.group(1)
            kind = {"instances": "instance", "tasks": "task", "runs": "run", "definitions": "definition", "schedules": "schedule", "run-types": "run_type",
                    "dead-letters": "letter", "keys": "key", "bulk": "bulk", "outbox": "sequence"}.get(path.split("/")[2] if path.startswith("/v1/") else "", "")
            known = self.crowd.known.pick(kind, random)
            if field == "version":
                known = "1.0.0"
            text = str(known) if known is not None and random.random() < 0.85 else random.choice(HOSTILE_TEXTS + ["nothing"])
            return urllib.parse.quote(text, safe="", errors="replace")

        place = re.sub(r"\{([^}]*)\}", value, path)
        query = {}
        for parameter in operation.get("parameters", []):
            if parameter["in"] != "query" or random.random() > 0.3:
                continue
            label = parameter["name"]
            query[label] = random.choice({
                "wait": ["100ms", "0s", "-1s", "x"], "after": ["0", "1", "-1", "999999999999999999999", "x"], "limit": ["1", "10", "1000", "0", "-5", "x", "99999999"],
                "cursor": ["", "x", "AAAA", "eyJ9"], "status": ["running", "suspended", "open", "pending", "x"], "format": ["svg", "png", "dot", "mermaid", "x"],
                "filter": ["status:running", "definition:crowd.task", '"free words"', "part.x:1", "::::", 'ref:"', "x" * 700],
                "q": ["crowd", "a" * 700, "%_\\"]}.get(label, ["true", "false", "crowd", "clerk", "1", "x", ""] + HOSTILE_TEXTS))
            if label == "wait" and query[label] == "100ms":
                wait = 0.2
        if query:
            place += "?" + urllib.parse.urlencode(query, errors="replace")
        body, kind = None, "application/json"
        content = operation.get("requestBody", {}).get("content", {})
        if content:
            kind = random.choice(sorted(content))
            schema = content[kind].get("schema", {})
            if "yaml" in kind or name == "deployDefinition":
                body = random.choice(FLOWS)
                if random.random() < 0.4:
                    at = random.randrange(len(body))
                    body = body[:at] + random.choice(["\u2028", "\t", "[", "x: &a *a", "\u0000", ""]) + body[at + random.randrange(20):]
                kind = "application/yaml"
            else:
                body = valid(schema, random, self.crowd.document)
                roll = random.random()
                if roll < 0.25:
                    body = spoiled(body, random)
                elif roll < 0.3:
                    body = spoiled_text(body, random)
            if isinstance(body, dict) and isinstance(body.get("wait"), str):
                body["wait"], wait = "100ms", 0.2
            if random.random() < 0.03:
                kind = random.choice(["text/plain", "application/xml", "application/json; charset=latin1", "multipart/form-data"])
        elif method in ("POST", "PATCH", "PUT") and random.random() < 0.1:
            body = {"reason": "crowd"}
        headers = self.key_header() if method == "POST" else {}
        if random.random() < 0.2:
            headers["if-match"] = random.choice(['"1"', '"2"', "*", '"99"', "x", '""', '"18446744073709551616"'])
        if random.random() < 0.2:
            headers["x-cairn-reason"] = random.choice(["because", "x" * 500] + ["caf\xe9", "\xff\xfe"] * ("odd_reason" not in WITHOUT))
        if random.random() < 0.1:
            headers["traceparent"] = random.choice(["00-" + "a" * 32 + "-" + "b" * 16 + "-01", "garbage", "00-" + "0" * 32 + "-" + "0" * 16 + "-00"])
        if random.random() < 0.2:
            headers["accept-encoding"] = random.choice(["gzip", "br", "gzip;q=0", "*"])
        if name == "streamEvents" or place.startswith("/v1/events"):
            headers["last-event-id"] = random.choice(["0", "1", "x", "99999999999"])
        if name == "revokeKey":
            known = self.crowd.known.pick("key", random)
            place = f"/v1/keys/{known or 'nothing'}"
        role = random.choice(["admin"] * 4 + ROLES + [None])
        status, answer = self.ask(method, place, body, role, kind, wait + 1, name, headers)
        if isinstance(answer, dict) and status is not None and status < 300:
            self.learn(name, answer)

    def learn(self, name, answer):
        items = answer.get("items") if isinstance(answer.get("items"), list) else [answer]
        kind = {"Instance": "instance", "Task": "task", "Run": "run", "Definition": "definition", "Schedule": "schedule", "DeadLetter": "letter",
                "Key": "key", "Bulk": "bulk", "Outbox": "sequence", "Event": "sequence"}
        for word, label in kind.items():
            if word in name and name != "listKeys":
                for item in items[:5]:
                    if isinstance(item, dict):
                        value = item.get("id") or item.get("name") or item.get("sequence")
                        self.crowd.known.add(label, value)

    def start(self):
        name = self.random.choice(["crowd.task", "crowd.work", "crowd.signal"])
        wait = self.random.choice([0, 0, 0, 0.1])
        path = "/v1/instances" + ("?wait=100ms" if wait else "")
        status, answer = self.ask("POST", path, {"definition": name, "input": {"n": 1} if name == "crowd.task" else {}}, "starter", wait=wait, operation="startInstance",
                                  headers=self.key_header())
        if status == 201 and isinstance(answer, dict):
            self.crowd.known.add("instance", answer.get("id") or answer.get("instance"))

    def work(self):
        random = self.random
        status, answer = self.ask("POST", "/v1/runs/lease", {"worker": self.name, "prefixes": ["demo."], "max": random.choice([1, 3, 20]), "wait": "100ms"}, "worker",
                                  wait=0.5, operation="leaseRuns", headers=self.key_header(0.1))
        if status != 200 or not isinstance(answer, dict):
            return
        reports = []
        for run in answer.get("items", []):
            self.crowd.known.add("run", run["id"])
            body = {"fence": run["fence"]}
            way = random.random()
            if way < 0.3:
                self.ask("POST", f"/v1/runs/{run['id']}/complete", {**body, "result": {"ok": True}}, "worker", operation="completeRun", headers=self.key_header(0.7))
            elif way < 0.4:
                self.ask("POST", f"/v1/runs/{run['id']}/fail", {**body, "error": {"class": "transport", "code": "x", "message": "m"}}, "worker", operation="failRun",
                         headers=self.key_header(0.7))
            elif way < 0.45:
                self.ask("POST", f"/v1/runs/{run['id']}/release", body, "worker", operation="releaseRun", headers=self.key_header(0.5))
            elif way < 0.5:
                self.ask("POST", f"/v1/runs/{run['id']}/heartbeat", body, "worker", operation="heartbeatRun", headers=self.key_header(0.5))
            else:
                reports.append({"id": run["id"], **body, **({"result": 1} if way < 0.9 else {"error": {"class": "business", "code": "b"}, "retry": False})})
        if reports:
            self.ask("POST", "/v1/runs/report", {"worker": self.name, "reports": reports}, "worker", operation="reportRuns", headers=self.key_header(0.7))

    def burst(self):
        """Runs of its own, and all their reports with a key at once: every request is sent before the first answer is read, over several connections. Some are
        repeated: the answer must be the same, whatever happened to the node in between."""
        random = self.random
        count = random.choice([8, 32, 64])
        kind = f"demo.burst.{self.name}.v1"
        self.ask("POST", "/v1/runs/batch", {"runs": [{"type": kind, "payload": n} for n in range(count)]}, "starter", operation="submitRuns")
        status, answer = self.ask("POST", "/v1/runs/lease", {"worker": self.name, "types": [kind], "max": count}, "worker", operation="leaseRuns")
        if status != 200 or not isinstance(answer, dict):
            return
        reports = []
        for run in answer.get("items", []):
            name, path, body = random.choice([
                ("completeRun", f"/v1/runs/{run['id']}/complete", {"result": {"ok": True}}),
                ("failRun", f"/v1/runs/{run['id']}/fail", {"error": {"class": "business", "code": "b"}, "retry": False}),
                ("reportRuns", "/v1/runs/report", None)])
            if body is None:
                body = {"reports": [{"id": run["id"], "fence": run["fence"], "result": 1}]}
            else:
                body["fence"] = run["fence"]
            reports.append((name, path, body, f"{self.name}-{random.getrandbits(48):x}"))
        answered = self.send_at_once(reports)
        again = random.sample(sorted(answered), min(len(answered), 4))
        for number, repeated in zip(again, self.send_at_once([reports[number] for number in again], in_order=True)):
            first = answered[number]
            if repeated is None or first[0] >= 300 or repeated[0] == 503:
                continue
            if repeated[:2] != first[:2] or not repeated[2]:
                self.crowd.problems.add("a repeat is answered otherwise", f"{reports[number][:2]}: {repeated} after {first}")

    def send_at_once(self, requests, in_order=False):
        """{index: (status, body, replayed)} of those that were answered; a list with None for the others, if `in_order`."""
        random = self.random
        answers = {}
        up = [node for node in self.crowd.nodes if node.port is not None]
        port = up and (node := random.choice(up)).port
        if not port or not requests:
            return [None] * len(requests) if in_order else {}
        width = min(len(requests), random.choice([4, 16, 32]))
        began = time.monotonic()
        lines = []
        try:
            for first in range(width):
                lines.append(socket.create_connection(("127.0.0.1", port), timeout=BOUND + 2))
            for first, line in enumerate(lines):
                text = b""
                for _, path, body, key in requests[first::width]:
                    data = json.dumps(body).encode()
                    text += (f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.crowd.keys['worker']}\r\nContent-Type: application/json\r\n"
                             f"Idempotency-Key: {key}\r\nContent-Length: {len(data)}\r\n\r\n").encode() + data
                line.sendall(text)
            for first, line in enumerate(lines):
                with line.makefile("rb") as reader:
                    for number in range(first, len(requests), width):
                        answers[number] = self.read_answer(reader, requests[number])
            took = time.monotonic() - began
            if took > BOUND:
                self.crowd.problems.add("slow answer", f"{len(requests)} keyed reports at once: {took:.1f} s")
        except socket.timeout:
            self.judge_gone(node, began, "keyed reports at once", "no answer")
        except (OSError, ValueError) as failure:
            self.judge_gone(node, began, "keyed reports at once", repr(failure))
        finally:
            for line in lines:
                line.close()
        return [answers.get(number) for number in range(len(requests))] if in_order else answers

    def read_answer(self, reader, request):
        line = reader.readline()
        if not line:
            raise ConnectionError("closed before the answer")
        status, headers = int(line.split()[1]), {}
        while (line := reader.readline().strip()):
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = reader.read(int(headers.get("content-length", 0)))
        self.crowd.statuses[status] += 1
        self.crowd.operations[request[0]] += 1
        if status >= 500 and status != 503:
            self.crowd.problems.add(f"{status} {request[0]}", f"{request}\n said {body[:400]}")
        return status, body, headers.get("idempotency-replayed") == "true"

    def complete_task(self):
        random = self.random
        status, answer = self.ask("GET", f"/v1/tasks?limit={random.choice([1, 5, 20])}", None, "task_worker", operation="listTasks")
        if status != 200 or not isinstance(answer, dict):
            return
        for task in answer.get("items", [])[:3]:
            self.crowd.known.add("task", task["id"])
            verb = random.choice(["assign", "complete", "complete", "comment", "release", "reassign"])
            body = {"assign": {}, "complete": {"payload": {"ok": True}}, "comment": {"comment": "hm"}, "release": None, "reassign": {"assignee": "bob"}}[verb]
            self.ask("POST", f"/v1/tasks/{task['id']}/{verb}", body, random.choice(["task_worker", "admin"]), operation=verb + "Task", headers=self.key_header())

    def signals(self):
        random = self.random
        known = self.crowd.known.pick("instance", random)
        for _ in range(random.choice([1, 1, 5])):
            body = {"name": random.choice(["go", "other"]), "payload": {"x": 1}}
            if random.random() < 0.5 and known:
                self.ask("POST", f"/v1/instances/{known}/signals", body, "starter", operation="signalInstance", headers=self.key_header())
            else:
                self.ask("POST", "/v1/signals", {**body, "key": random.choice(["k", "other"])}, "starter", operation="broadcastSignal", headers=self.key_header())

    def look(self):
        for path in ["/livez", "/readyz", "/metrics", "/v1/info", "/"]:
            self.ask("GET", path, None, "admin", operation="look")

    def broken_off(self):
        """A request that is cut somewhere: nobody answers it, and nobody may hang because of it."""
        random = self.random
        up = [node for node in self.crowd.nodes if node.port is not None]
        if not up:
            return
        body = json.dumps({"definition": "crowd.task", "input": {"n": 1}}).encode()
        head = f"POST /v1/instances HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.crowd.keys['starter']}\r\nContent-Type: application/json\r\n"
        if random.random() < 0.5:
            text = head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
        else:
            half = len(body) // 2
            text = head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:half], body[half:])) + b"0\r\n\r\n"
        try:
            with socket.create_connection(("127.0.0.1", random.choice(up).port), timeout=5) as connection:
                connection.sendall(text[: random.randrange(len(text))])
                if random.random() < 0.5:
                    connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def makes_progress(crowd, node):
    """Whether the node commits what it is asked to, within the bound."""
    connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=BOUND)
    began = time.monotonic()
    try:
        connection.request("POST", "/v1/instances", json.dumps({"definition": "crowd.task"}),
                           {"authorization": "Bearer " + crowd.keys["admin"], "content-type": "application/json"})
        connection.getresponse().read()
        return True
    except (OSError, http.client.HTTPException) as failure:
        crowd.stop_hung()
        crowd.problems.add_hang("no progress", f"a start got {failure!r} after {time.monotonic() - began:.0f} s", node)
        return False
    finally:
        connection.close()


def disturb(crowd, seed):
    """Kills and drains, one node after the other, until the crowd stops."""
    chance = random.Random(f"{seed}/disturb")
    kills = drains = 0
    while not crowd.stop.wait(chance.uniform(1.0, 3.0)):
        node = chance.choice(crowd.nodes)
        # Ending a node that hangs would hide that.
        if not makes_progress(crowd, node):
            break
        if chance.random() < 0.5:
            node.kill()
            kills += 1
        elif node.terminate():
            drains += 1
        node.start()
    crowd.disturbances = f"{kills} kills, {drains} drains"


def play(label, store, nodes, flags):
    crowd = Crowd(store, nodes, flags)
    clients = [Client(crowd, number, SEED) for number in range(CLIENTS)]
    threads = [threading.Thread(target=client.run, daemon=True) for client in clients]
    for thread in threads:
        thread.start()
    # The first half without a disturbance: nothing is excused there.
    crowd.stop.wait(SECONDS / 2)
    disturber = threading.Thread(target=disturb, args=(crowd, SEED), daemon=True)
    disturber.start()
    crowd.stop.wait(SECONDS / 2)
    crowd.stop.set()
    for thread in threads + [disturber]:
        thread.join(WHOLE_STORE + BOUND)
        if thread.is_alive():
            crowd.problems.add("a client did not end", thread.name)
    for node in crowd.nodes:
        if node.process.poll() is None:
            node.terminate()
        elif node.process.returncode not in (0, -9):
            node.log.seek(0)
            crowd.problems.add("a node died", f"{node.process.returncode}: {node.log.read()[-2000:]}")
    checked = subprocess.run([CAIRN, "verify", "--store", store], capture_output=True, text=True, timeout=600)
    if checked.returncode != 0:
        crowd.problems.add("verify", checked.stdout[-3000:] + checked.stderr[-1000:])
    untouched = sorted({operation["operationId"] for _, _, operation in crowd.operations_of} - set(crowd.operations))
    print(f"{label}: {sum(crowd.statuses.values())} answers {dict(sorted(crowd.statuses.items()))}, {getattr(crowd, 'disturbances', '')}, "
          f"slowest {crowd.slowest[0]:.2f} s ({crowd.slowest[1]}), not reached: {untouched}")
    for kind, count in crowd.problems.count.items():
        expect(f"{label}, seed {SEED}: {kind} ({count} times)", False, "")
        print("   ", str(crowd.problems.example[kind])[:6000].replace("\n", "\n    "))
    expect(f"{label}: no problem", not crowd.problems.count)
    expect(f"{label}: most operations were reached", len(untouched) <= 10 or SECONDS < 30, untouched)


print(f"seed {SEED}, {CLIENTS} clients, {SECONDS:g} s on each store")
stores = os.environ.get("CAIRN_CROWD_STORES", "sqlite,postgres").split(",")
more_flags = os.environ.get("CAIRN_CROWD_FLAGS", "").split()
if "sqlite" in stores:
    with tempfile.TemporaryDirectory() as folder:
        play("SQLite, 1 node", "sqlite:" + os.path.join(folder, "cairn.db"), 1, more_flags)
url = os.environ.get("CAIRN_TEST_POSTGRES")
if url and "postgres" in stores:
    schema = f"crowd_{os.getpid()}"
    play("PostgreSQL, 2 nodes", url + ("&" if "?" in url else "?") + "schema=" + schema, 2, more_flags)
    subprocess.run(["psql", "-X", "-q", url, "-c", f"DROP SCHEMA IF EXISTS {schema} CASCADE"], capture_output=True)
finish()
