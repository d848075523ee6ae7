#!/usr/bin/env python3
"""serve_test.py CAIRN SOURCE_DIR: two `cairn serve` on one PostgreSQL: keys, one audit trail, hints that may go away.
CAIRN_TEST_POSTGRES names the server; without one nothing is tested."""
import os, re, shutil, signal, subprocess, sys, tempfile, threading, time

cairn, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path.insert(0, os.path.join(source, "tests/http"))
from served import Served, expect, finish

server = os.environ.get("CAIRN_TEST_POSTGRES")
if not server:
    print("CAIRN_TEST_POSTGRES names no server: skipped")
    sys.exit(0)
store = f"{server}&schema=serve_{os.getpid()}"
folder = tempfile.TemporaryDirectory()
redis_socket = os.path.join(folder.name, "redis.sock")
with_redis = shutil.which("redis-server") is not None


def within(seconds, what):
    """Polls until it is so."""
    until = time.monotonic() + seconds
    while not what():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def start_redis():
    process = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", redis_socket, "--save", "", "--appendonly", "no",
                                "--dir", folder.name, "--logfile", os.path.join(folder.name, "log")])
    expect("redis starts", within(30, lambda: os.path.exists(redis_socket)))
    return process


def redis(*words):
    return subprocess.run(["redis-cli", "-s", redis_socket, *words], capture_output=True, text=True, timeout=30).stdout


redis_process = start_redis() if with_redis else None
flags = ["--hints", "unix:" + redis_socket] if with_redis else []
a = Served(cairn, "--node", "a", *flags, store=store)
# One node has one writer: it shares the store all the same.
b = Served(cairn, "--node", "b", *flags, store=store + "&writers=1", keys=False)
b.keys = a.keys
expect("both start", a.port and b.port, [getattr(node, "said", "") for node in (a, b)])

# A key that one node accepts is accepted by the other, and so is its revocation.
expect("a key works on both", a.call("GET", "/v1/info").status == 200 and b.call("GET", "/v1/info").status == 200)
expect("no key on neither", a.call("GET", "/v1/info", role=None).status == 401 and b.call("GET", "/v1/info", role=None).status == 401)
made = a.call("POST", "/v1/keys", {"subject": "passing", "roles": ["viewer"]})
expect("a key is made", made.status == 201, made.text)
secret, key_id = made.json.get("key") or made.json.get("secret"), made.json["id"]
expect("and is known to the other", b.call("GET", "/v1/instances", key=secret).status == 200)
expect("it is revoked", b.call("DELETE", "/v1/keys/" + key_id).status in (200, 204))
expect("and the other refuses it", within(15, lambda: a.call("GET", "/v1/instances", key=secret).status == 401))

# Changes on both at once: one trail, without a gap, each change in it once.
with open(os.path.join(source, "examples/hello.yaml")) as file:
    hello = file.read()
deployed = a.call("POST", "/v1/definitions", text=hello, content_type="application/yaml")
expect("deployed on one", deployed.status in (200, 201), deployed.text)
started, errors = [], []


def start_some(node, count):
    for _ in range(count):
        answer = node.call("POST", "/v1/instances", {"definition": "hello", "input": {"name": "Ada"}})
        (started if answer.status == 201 else errors).append(answer.json["id"] if answer.status == 201 else answer.text)


threads = [threading.Thread(target=start_some, args=(node, 20)) for node in (a, b) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
expect("all were started", len(started) == 120 and not errors, errors[:3])


def trail():
    rows, cursor = [], ""
    while True:
        page = b.call("GET", "/v1/audit?limit=500" + ("&cursor=" + cursor if cursor else "")).json
        rows += page["items"]
        cursor = page.get("next_cursor") or ""
        if not cursor:
            return rows


def starts_in(rows):
    return sum(row["what"] == "startInstance" for row in rows)


within(15, lambda: starts_in(trail()) >= 120)
rows = trail()
expect("each start stands in the trail once", starts_in(rows) == 120, [len(rows), rows[0]])
verified = a.run("audit", "verify", "--store", store)
expect("the chain is whole", verified.returncode == 0, verified.stdout + verified.stderr)

# A wait for the end on one node is answered when the other has brought it about.
answers = []
waiting = threading.Thread(target=lambda: answers.append(
    a.call("POST", "/v1/instances?wait=30s", {"definition": "hello", "input": {"name": "Bob"}, "id": "bob"})))
waiting.start()
expect("it is there", within(15, lambda: b.call("GET", "/v1/instances/bob").status == 200))
task = next(task for task in b.call("GET", "/v1/tasks?limit=500").json["items"] if "bob" in (task.get("instance_id"), task.get("instance")))
done = b.call("POST", f"/v1/tasks/{task['id']}/complete", {"payload": {"greeting": "hi"}})
expect("completed on the other", done.status == 200, done.text)
begun = time.monotonic()
waiting.join()
expect("answered at once", answers[0].json["status"] == "completed" and time.monotonic() - begun < 5, answers[0].text)

# A wait for a change that is not the end, too: nodes do not tell each other of those.
two_tasks = """
cairn: 1
name: two-tasks
version: 1.0.0
steps:
  - task: { name: First }
  - task: { name: Second }
"""
deployed = a.call("POST", "/v1/definitions", text=two_tasks, content_type="application/yaml")
expect("deployed", deployed.status in (200, 201), deployed.text)
begun = a.call("POST", "/v1/instances", {"definition": "two-tasks", "id": "two"})
expect("started", begun.status == 201, begun.text)
version = b.call("GET", "/v1/instances/two").json["state_version"]
task = next(task for task in a.call("GET", "/v1/tasks?limit=500").json["items"] if "two" in (task.get("instance_id"), task.get("instance")))
changes = []
waiting = threading.Thread(target=lambda: changes.append(b.call("GET", f"/v1/instances/two?after={version}&wait=20s")))
waiting.start()
connections = lambda: int(re.search(r"^cairn_http_connections (\d+)", b.call("GET", "/metrics").text, re.M).group(1))
expect("it waits", within(15, lambda: connections() >= 2))  # the one that asks, and the one that waits
done = a.call("POST", f"/v1/tasks/{task['id']}/complete", {"payload": {}})
expect("completed on the other", done.status == 200, done.text)
begun = time.monotonic()
waiting.join()
expect("the change is seen soon", changes[0].json["state_version"] > version and time.monotonic() - begun < 10, changes[0].text)

if with_redis:
    names = redis("KEYS", "cairn:*:metrics:*").split()
    expect("each node's figures are in Redis", within(15, lambda: len(redis("KEYS", "cairn:*:metrics:*").split()) == 2), names)
    name = redis("KEYS", "cairn:*:metrics:*").split()[0]
    expect("as Prometheus reads them", "cairn_http_requests_total" in redis("GET", name), name)
    redis_process.kill()
    redis_process.wait()
    before = len(started)
    start_some(a, 5)
    start_some(b, 5)
    expect("without Redis all goes on", len(started) == before + 10, errors[:3])

for node in (a, b):
    expect("it drains", node.end(signal.SIGTERM) == 0, getattr(node, "said", "")[-500:])
if with_redis:
    expect("and has said that Redis went away", "hints.lost" in a.said and "hints.listening" in a.said, a.said[-1500:])
verified = a.run("verify", "--store", store)
expect("all invariants hold", verified.returncode == 0, verified.stdout + verified.stderr)
refused = subprocess.run([cairn, "serve", "--store", "memory:", "--hints", "redis://localhost"], capture_output=True, text=True)
expect("hints need PostgreSQL", refused.returncode == 8 and "PostgreSQL" in refused.stderr, refused.stderr)
finish()
