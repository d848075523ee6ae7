#!/usr/bin/env python3
"""large_rows_test.py CAIRN SOURCE_DIR [postgres]: rows as large as a request allows. A page of any list stays within its limit, and the server reads few of
them at once. An instance keeps only so many bytes of signals. On SQLite, or on the server that CAIRN_TEST_POSTGRES names."""
import http.client, json, os, sys
from served import Served, expect, finish, slack

PAGE_BYTES, MIB = 1_000_000, 1 << 20
store = None
if sys.argv[3:] == ["postgres"]:
    store = "%s&schema=large_%d" % (os.environ["CAIRN_TEST_POSTGRES"], os.getpid())
server = Served(sys.argv[1], "--limits-page-bytes-max", str(PAGE_BYTES), store=store)
expect("it starts", server.port is not None, getattr(server, "said", ""))
connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)


def post(path, body, role="admin"):
    connection.request("POST", path, json.dumps(body), {"authorization": "Bearer " + server.keys[role], "content-type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    return answer.status, json.loads(text) if text else None


def all_pages(path, limit=100):
    """Every item, read page by page; each page within the limit and one row."""
    items, cursor = [], ""
    while True:
        page = server.call("GET", f"{path}?limit={limit}{cursor}")
        expect(f"a page of {path}", page.status == 200 and 1 <= len(page.json["items"]) <= limit, (page.status, page.text[:300]))
        largest = max(len(json.dumps(item, ensure_ascii=False)) for item in page.json["items"])
        expect("is not larger than its limit", len(page.text) <= max(PAGE_BYTES, largest) + 5000, len(page.text))
        items += page.json["items"]
        if page.json["next_cursor"] is None:
            return items
        cursor = "&cursor=" + page.json["next_cursor"]


made = server.call("POST", "/v1/definitions", text="cairn: 1\nname: t.wait\nversion: 1.0.0\nsteps: [ { task: { name: Check, roles: [clerk] } } ]\n",
                   **{"content-type": "application/yaml"})
expect("a definition", made.status == 201, made.text)
_, instance = post("/v1/instances", {"definition": "t.wait"})
task = server.call("GET", f"/v1/tasks?instance={instance['id']}").json["items"][0]["id"]

# Comments of a task: a person can add any number.
for number in range(250):
    status, answer = post(f"/v1/tasks/{task}/comment", {"comment": f"{number:04}" + "x" * 15_000}, role="task_worker")
    expect("a comment", status == 200, answer)
events = all_pages(f"/v1/tasks/{task}/events")
expect("every comment is listed once, in order", [event["event"] for event in events] == ["created"] + ["commented"] * 250 and
       [int(event["details"]["comment"][:4]) for event in events[1:]] == list(range(250)), len(events))
shown = server.run("task", "events", task, "--server", f"http://127.0.0.1:{server.port}", "--columns", "EVENT", env={**os.environ, "CAIRN_TOKEN": server.keys["admin"]})
expect("the command prints them all", shown.stdout.count("commented") == 250, shown.stderr)

# Events of a run: each failed attempt has its details.
_, run = post("/v1/runs", {"type": "demo.x", "max_attempts": 1000})
for number in range(30):
    _, leased = post("/v1/runs/lease", {"worker": "w", "prefixes": ["demo."], "wait": "20s"}, role="worker")
    fence = leased["items"][0]["fence"]
    status, answer = post(f"/v1/runs/{run['id']}/fail", {"fence": fence, "delay": "1ms", "error": {"code": f"c{number}", "details": "x" * 100_000}}, role="worker")
    expect("a failed attempt", status == 200, answer)
for limit in (1, 7, 100):
    events = all_pages(f"/v1/runs/{run['id']}/events", limit)
    expect(f"every event is listed once, {limit} to a page", [event["event"] for event in events[:2]] == ["created", "leased"] and
           [event["event"] for event in events].count("leased") == 30, [event["event"] for event in events])
expect("a cursor that no page gave", server.call("GET", f"/v1/runs/{run['id']}/events?cursor=x").status == 422)
post(f"/v1/runs/{run['id']}/cancel", {})

# Signals that one instance keeps: every commit writes them all.
payload, kept = "x" * (3 * MIB), 0
for number in range(8):
    status, answer = post(f"/v1/instances/{instance['id']}/signals", {"name": "later", "payload": payload})
    if status != 200:
        break
    kept += 1
expect("16 MiB of signals are kept, then no more", (status, kept) == (413, 5) and answer["limit"] == "limits.signals_bytes_per_instance_max" and
       answer["limit_value"] == 16 * MIB, (status, kept, str(answer)[:300]))
expect("a small one still is", post(f"/v1/instances/{instance['id']}/signals", {"name": "later", "payload": 1})[0] == 200)
expect("the instance goes on", post(f"/v1/tasks/{task}/complete", {})[1]["status"] == "completed")

# Runs with payloads of 4 MiB: a page of them is not read as a whole.
expect("SIGTERM ends with 0", server.end() == 0, server.said)
server.start("--limits-page-bytes-max", str(PAGE_BYTES))
connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
payload = "x" * (4 * MIB - 200)
for _ in range(60):
    status, answer = post("/v1/runs", {"type": "demo.large", "payload": payload})
    expect("a large run", status == 201, str(answer)[:300])
expect("SIGTERM ends with 0", server.end() == 0, server.said)
server.start("--limits-page-bytes-max", str(PAGE_BYTES))


def most_mib():
    with open(f"/proc/{server.process.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


before = most_mib()
page = server.call("GET", "/v1/runs?limit=100", role="viewer")
grown = most_mib() - before
expect("a page of large runs has one", page.status == 200 and len(page.json["items"]) == 1 and page.json["next_cursor"], page.status)
expect("and needs little memory", grown < 200 * slack(sys.argv[1]), f"{grown:.0f} MiB")
expect("SIGTERM ends with 0", server.end() == 0, server.said)
checked = server.run("verify", "--store", server.store)
expect("the store is sound", checked.returncode == 0, checked.stdout + checked.stderr)
finish()
