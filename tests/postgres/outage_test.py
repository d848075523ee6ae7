#!/usr/bin/env python3
"""outage_test.py CAIRN SOURCE_DIR THROWAWAY: a database that goes away. Every request that needs it gets 503 `unavailable` with Retry-After, whichever
resource it asks for, and also where the server cannot check a credential. When the database is back, the node serves again."""
import concurrent.futures, os, signal, subprocess, sys, tempfile, time

cairn, source, throwaway = (os.path.abspath(path) for path in sys.argv[1:4])
sys.path.insert(0, os.path.join(source, "tests/http"))
from served import Served, expect, finish

ID = "7d0f1c52-7b5c-4f1e-9a55-0d6f3a1c9e11"
REQUESTS = [
    ("GET", "/readyz", None),
    ("GET", "/v1/instances", None),
    ("GET", "/v1/instances/a", None),
    ("GET", "/v1/instances/a/history", None),
    ("POST", "/v1/instances", {"definition": "hello", "input": {"name": "Ada"}}),
    ("POST", "/v1/instances/a/cancel", {"reason": "r"}),
    ("POST", "/v1/signals", {"name": "s"}),
    ("GET", "/v1/tasks", None),
    ("POST", "/v1/tasks/t/complete", {"payload": {}}),
    ("GET", "/v1/runs", None),
    ("POST", "/v1/runs", {"type": "demo.a"}),
    ("POST", "/v1/runs/lease", {"worker": "w", "types": ["demo.a"], "max": 1}),
    ("POST", f"/v1/runs/{ID}/heartbeat", {"fence": 1}),
    ("POST", f"/v1/runs/{ID}/release", {"fence": 1}),
    ("GET", "/v1/schedules", None),
    ("GET", "/v1/audit", None),
    ("GET", "/v1/keys", None),
]

if subprocess.run(["sh", "-c", "ls /usr/lib/postgresql/*/bin/initdb"], capture_output=True).returncode != 0:
    print("PostgreSQL is not installed: skipped")
    sys.exit(0)
folder = tempfile.TemporaryDirectory(prefix="cairn-outage-", dir="/tmp")
os.chmod(folder.name, 0o755)
database = os.path.join(folder.name, "pg")
subprocess.run([throwaway, "start", database, "durable"], check=True, stdin=subprocess.DEVNULL)
node = Served(cairn, store=f"postgresql:///cairn?host={database}&user=cairn", environment={"CAIRN_DRAIN": "5s"})
try:
    expect("it starts", node.port is not None, getattr(node, "said", ""))
    with open(os.path.join(source, "examples/hello.yaml")) as file:
        deployed = node.call("POST", "/v1/definitions", text=file.read(), content_type="application/yaml")
    expect("it serves", deployed.status in (200, 201), deployed.text)
    subprocess.run([throwaway, "halt", database, "immediate"], check=True)

    def ask(request):
        return request, node.call(*request)

    # The first round with the credential that the node still knows, the second without.
    for when in ("with a known credential", "with a forgotten credential"):
        with concurrent.futures.ThreadPoolExecutor(len(REQUESTS)) as threads:
            for (method, path, _), answer in threads.map(ask, REQUESTS):
                refused = answer.status == 503 and answer.json["type"] == "/problems/unavailable"
                expect(f"{method} {path} says when to try again, {when}", refused and int(answer.headers.get("retry-after", "0")) > 0,
                       (answer.status, answer.headers, answer.text))
        expect("the node lives", node.call("GET", "/livez").status == 200)
    subprocess.run([throwaway, "up", database], check=True, stdin=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while (again := node.call("GET", "/v1/instances")).status != 200 and time.monotonic() < until:
        pass
    expect("it serves again", again.status == 200, again.text)
    expect("it stops", node.end(signal.SIGTERM) == 0, getattr(node, "said", "")[-500:])
finally:
    node.process.kill()
    subprocess.run([throwaway, "stop", database])
finish()
