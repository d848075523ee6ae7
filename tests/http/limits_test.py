#!/usr/bin/env python3
"""limits_test.py CAIRN SOURCE_DIR: every limit of a server refuses with its name and value, is counted, and leaves others alone; a revoked
credential ends what it had open; the audit trail survives whatever callers send."""
import http.client, json, os, re, select, socket, subprocess, sys, tempfile, time
from served import Answer, Served, expect, finish, slack

folder = tempfile.TemporaryDirectory()
subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", f"{folder.name}/key.pem"], check=True, capture_output=True)
subprocess.run(["openssl", "pkey", "-in", f"{folder.name}/key.pem", "-pubout", "-out", f"{folder.name}/public.pem"], check=True, capture_output=True)

server = Served(sys.argv[1], "--drain-delay", "0s", "--limits-rate-viewer", "50", "--limits-rate-task-worker", "20", "--limits-expensive-max", "3", "--limits-streams-max", "2",
                "--limits-long-polls-max", "3", "--limits-page-bytes-max", "100000", "--limits-png-pixels-max", "100000",
                "--limits-comment-bytes-max", "100", "--limits-reference-bytes-max", "200", "--limits-signals-per-key-max", "5",
                "--audit-signing-key", f"{folder.name}/key.pem")
expect("the server starts", server.port is not None, getattr(server, "said", ""))

WAIT = """cairn: 1
name: t.wait
version: 1.0.0
steps:
  - id: check
    task: { name: Check, roles: [clerk] }
"""
deployed = server.call("POST", "/v1/definitions", text=WAIT, **{"content-type": "application/yaml"})
expect("a definition", deployed.status == 201, deployed.text)


def refused(what, answer, status, limit, value):
    problem = answer.json or {}
    expect(f"{what}: {status}", answer.status == status, (answer.status, answer.text))
    expect(f"{what}: names its limit", problem.get("limit") == limit and problem.get("limit_value") == value, answer.text)
    if status in (429, 503):
        expect(f"{what}: says when to come back", int(answer.headers.get("retry-after", "0")) >= 1, answer.headers)


def metric(name):
    text = server.call("GET", "/metrics").text
    found = re.search(r'^cairn_limit_refusals_total\{limit="' + re.escape(name) + r'"\} (\d+)$', text, re.M)
    return int(found.group(1)) if found else 0


# Rate: a burst of one credential is refused; others continue.
answers = []
connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
deadline = time.monotonic() + 60
while time.monotonic() < deadline and not any(answer.status == 429 for answer in answers):
    connection.request("GET", "/v1/tasks", headers={"authorization": "Bearer " + server.keys["task_worker"]})
    got = connection.getresponse()
    body = got.read().decode()
    answers.append(Answer(got.status, {name.lower(): value for name, value in got.getheaders()}, body))
refused("a rate", answers[-1], 429, "limits.rate_task_worker", 20)
expect("only rates are refused", all(answer.status in (200, 429) for answer in answers), {answer.status for answer in answers})
expect("another credential is not concerned", server.call("GET", "/v1/tasks", role="admin").status == 200)
expect("a rate is counted", metric("limits.rate_task_worker") >= 1)


def split_request():
    """The body follows when the server asks for it, so that the head is judged alone."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(b"POST /v1/tasks/none/comment HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + server.keys["task_worker"].encode()
                           + b"\r\nContent-Type: application/json\r\nContent-Length: 16\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n")
        said = connection.recv(4096)
        if b" 100 " in said:
            connection.sendall(b'{"comment": "x"}')
            said = connection.recv(4096)
        return int(said.split()[1])


expect("requests whose body follows count too", any(split_request() == 429 for _ in range(2000)))

# Streams and long polls: as many as allowed, one more is refused, and a place is free again when one has ended.


def raw(method, path, key, body=None):
    opened = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    data = json.dumps(body).encode() if body is not None else b""
    kind = "Content-Type: application/json\r\n" if body is not None else ""
    opened.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n{kind}Content-Length: {len(data)}\r\n\r\n".encode() + data)
    return opened


def read_head(opened):
    text = b""
    while b"\r\n\r\n" not in text:
        part = opened.recv(4096)
        if not part:
            break
        text += part
    return text


def new_key():
    made = server.call("POST", "/v1/keys", {"subject": "somebody", "roles": ["viewer"]})
    expect("a key", made.status == 201, made.text)
    return made.json


made = new_key()
key, key_id = made["key"], made["id"]
streams = [raw("GET", "/v1/events", key) for _ in range(2)]
for stream in streams:
    expect("a stream is open", b" 200 " in read_head(stream))
refused("a third stream", server.call("GET", "/v1/events", key=key), 429, "limits.streams_max", 2)
streams[0].close()


def until(what, condition, seconds=60):
    """Polls with a generous deadline."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            expect(what, True)
            return
        time.sleep(0.05)
    expect(what, False)


until("a stream that has ended makes room", lambda: server.call("GET", "/v1/events", key=key).status == 200)

instance = server.call("POST", "/v1/instances", {"definition": "t.wait"}).json["id"]
polls = [raw("GET", f"/v1/instances/{instance}?wait=60s", key) for _ in range(3)]


def fourth_is_refused():
    """The fourth may overtake one of the three, which is refused then and asks again."""
    for at in range(3):
        if select.select([polls[at]], [], [], 0)[0]:
            polls[at].close()
            polls[at] = raw("GET", f"/v1/instances/{instance}?wait=60s", key)
    return server.call("GET", f"/v1/instances/{instance}?wait=1s", key=key).status == 429 and not select.select(polls, [], [], 0)[0]


until("a fourth long poll is refused", fourth_is_refused)
expect("a long poll is counted", metric("limits.long_polls_max") >= 1)

# A revoked key: its stream and its long polls end by themselves.
began = time.monotonic()
revoked = server.call("DELETE", f"/v1/keys/{key_id}")
expect("it is revoked", revoked.status in (200, 204), revoked.text)
for poll in polls:
    head = read_head(poll)
    expect("a long poll ends with 401", b" 401 " in head, head)
while streams[1].recv(4096):
    pass
took = time.monotonic() - began
expect("streams and long polls end within 5 s", took < 5 * slack(sys.argv[1]), took)
print(f"a revocation took {took:.1f} s to end streams and long polls")

# Lists: a page ends early with a cursor, and the pages together are the list.
for number in range(6):
    made = server.call("POST", "/v1/runs", {"type": "demo.big", "payload": {"text": "x" * 30_000, "n": number}}, role="starter")
    expect("a run", made.status == 201, made.text)
seen, cursor, pages = [], "", 0
while True:
    page = server.call("GET", "/v1/runs?limit=1000" + (f"&cursor={cursor}" if cursor else ""), role="admin")
    expect("a page is below the limit", page.status == 200 and len(page.text) <= 100_000, len(page.text))
    seen += [row["payload"]["n"] for row in page.json["items"]]
    pages += 1
    cursor = page.json["next_cursor"]
    if not cursor:
        break
expect("all rows, each once", sorted(seen) == list(range(6)), seen)
expect("on several pages", pages >= 2, pages)

# Sizes.
task = server.call("GET", f"/v1/tasks?instance={instance}").json["items"][0]["id"]
refused("a long comment", server.call("POST", f"/v1/tasks/{task}/comment", {"comment": "x" * 101}), 413, "limits.comment_bytes_max", 100)
refused("a large reference", server.call("POST", "/v1/instances", {"definition": "t.wait", "reference": {"key": "K", "parts": {"a": "x" * 300}}}), 413,
        "limits.reference_bytes_max", 200)
for number in range(5):
    kept = server.call("POST", "/v1/signals", {"name": "later", "key": "K"})
    expect("a signal is kept", kept.status in (200, 202), kept.text)
refused("a sixth signal", server.call("POST", "/v1/signals", {"name": "later", "key": "K"}), 429, "limits.signals_per_key_max", 5)
expect("another key has room", server.call("POST", "/v1/signals", {"name": "later", "key": "L"}).status in (200, 202))
refused("a large picture", server.call("GET", "/v1/definitions/t.wait/diagram?format=png&scale=4"), 413, "limits.png_pixels_max", 100_000)
refused("a long search", server.call("GET", "/v1/instances?q=" + "x" * 201), 413, "limits.search_length_max", 200)
expect("a search", len(server.call("GET", "/v1/instances?q=T.WAIT").json["items"]) == 1)
for limit in ("limits.comment_bytes_max", "limits.reference_bytes_max", "limits.signals_per_key_max", "limits.png_pixels_max", "limits.search_length_max"):
    expect(f"{limit} is counted", metric(limit) >= 1)

# Diagrams of an instance come from the cache until it moves.
drawn = server.call("POST", "/v1/instances", {"definition": "t.wait"}).json["id"]
first = server.call("GET", f"/v1/instances/{drawn}/diagram")
again = server.call("GET", f"/v1/instances/{drawn}/diagram", **{"if-none-match": first.headers["etag"]})
expect("a diagram", first.status == 200 and again.status == 304, (first.status, again.status))
answer = server.call("POST", f"/v1/tasks/{server.call('GET', f'/v1/tasks?instance={drawn}').json['items'][0]['id']}/complete", {"payload": {}})
expect("it goes on", answer.status == 200, answer.text)
moved = server.call("GET", f"/v1/instances/{drawn}/diagram")
expect("another diagram once it has moved", moved.text != first.text)
server.call("POST", f"/v1/instances/{instance}/suspend", {})

# Events over the limit of a stream's buffer: one at a time, and the stream continues.
EVENT = "cairn: 1\nname: t.event\nversion: 1.0.0\nsteps: [ { emit: { type: t.big, subject: s, data: = input } } ]\n"
expect("a definition with an event", server.call("POST", "/v1/definitions", text=EVENT, **{"content-type": "application/yaml"}).status == 201)


def emit(number, size):
    made = server.call("POST", "/v1/instances", {"definition": "t.event", "input": {"n": number, "text": "x" * size}})
    expect("an event", made.status == 201, made.text)


for number in range(3):
    emit(number, 1_500_000)
for number in range(3, 9):
    emit(number, 400_000)
stream = raw("GET", "/v1/events?type=t.big&after=0", new_key()["key"])
text, live = b"", False
while text.count(b'"n":') < 10:
    part = stream.recv(1 << 20)
    if not part:
        break
    text += part
    if not live and text.count(b'"n":') >= 9:
        live = True
        emit(9, 1_500_000)
numbers = [int(found) for found in re.findall(rb'"n":(\d+)', text)]
expect("large events arrive, each once, in order", numbers == list(range(10)), numbers)
stream.close()

# The audit trail: what callers send cannot break it.


def bytes_header(name, value):
    opened = raw_head(f"POST /v1/instances/{instance}/resume", name, value)
    return read_head(opened)


def raw_head(line, name, value):
    opened = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    opened.sendall(f"{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.keys['admin']}\r\n{name}: ".encode() + value + b"\r\nContent-Length: 0\r\n\r\n")
    return opened


head = bytes_header("X-Cairn-Reason", b"\xff")
expect("a header that is not UTF-8 is refused", b" 400 " in head, head)
expect("and nothing was done", server.call("GET", f"/v1/instances/{instance}").json["status"] == "suspended")
before = len(server.call("GET", "/v1/audit?limit=1000").json["items"])
for role in ("viewer", "admin"):
    opened = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    opened.sendall(f"POST /v1/instances/{instance}/cancel HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.keys[role]}\r\nX-Cairn-Reason: ".encode()
                   + b"\xff\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
    head = read_head(opened)
    expect(f"also before the body comes, from {role}", b" 400 " in head, head)
expect("and the audit trail has no row of them", len(server.call("GET", "/v1/audit?limit=1000").json["items"]) == before)
head = bytes_header("X-Cairn-Reason", "Grüße".encode())
expect("UTF-8 is fine", b" 200 " in head, head)
before = len(server.call("GET", "/v1/audit?limit=1000").json["items"])
worker = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
for _ in range(300):
    worker.request("POST", f"/v1/instances/{instance}/cancel", "{}", {"authorization": "Bearer " + server.keys["worker"], "content-type": "application/json"})
    answer = worker.getresponse()
    answer.read()
    expect("a worker may not cancel", answer.status == 403, answer.status)
rows = server.call("GET", "/v1/audit?limit=1000").json["items"]
expect("refused calls are sampled", len(rows) - before <= 20, len(rows) - before)
audit = server.run("audit", "list", "--server", f"http://127.0.0.1:{server.port}", env={**os.environ, "CAIRN_TOKEN": server.keys["admin"]})
expect("the trail can be listed", audit.returncode == 0 and "resumeInstance" in audit.stdout, audit.stderr)

# Leases end at the bytes of a page; the other runs stay pending.
for _ in range(5):
    made = server.call("POST", "/v1/runs", {"type": "demo.large.v1", "payload": "x" * 60_000})
    expect("a large run", made.status == 201, made.text[:200])
leased = []
while len(leased) < 5:
    answer = server.call("POST", "/v1/runs/lease", {"worker": "w", "types": ["demo.large.v1"], "max": 5})
    items = answer.json["items"]
    expect("a lease has the runs that fit", 1 <= len(items) <= 2 and len(answer.text) < 160_000, (len(items), len(answer.text)))
    if not items:
        break
    leased += [item["id"] for item in items]
expect("each is leased once", len(leased) == len(set(leased)) == 5, leased)

# JSON writes integers in several ways.
made = server.call("POST", "/v1/runs", text='{"type":"demo.number.v1","max_attempts":1.0,"priority":2e1}')
expect("integral numbers are integers", made.status == 201 and (made.json["max_attempts"], made.json["priority"]) == (1, 20), made.text)
made = server.call("POST", "/v1/runs", text='{"type":"demo.number.v1","priority":1e30}')
expect("others are refused", made.status == 422, made.text)
fence = server.call("POST", "/v1/runs/lease", {"worker": "w", "types": ["demo.number.v1"]}).json["items"][0]
made = server.call("POST", f"/v1/runs/{fence['id']}/heartbeat", text='{"fence":1e300}')
expect("a fence too", made.status == 422, made.text)

# A signal is found by its name and key together.
refused("a signal's name and key", server.call("POST", "/v1/signals", {"name": "\U0001F600" * 200, "key": "\U0001F600" * 500}), 413, "signal_key_bytes", 2400)

shown = server.run("config", "show", "--limits-streams-max", "7")
expect("limits are settings", re.search(r"limits\.streams_max\s+7", shown.stdout) is not None, shown.stdout)
expect("SIGTERM ends with 0", server.end() == 0, server.said)
expect("a refusal is logged", "limit.refused" in server.said, server.said[-2000:])
expect("but not each", server.said.count("limits.rate_task_worker") <= 10, server.said.count("limits.rate_task_worker"))

# Checkpoints: the end of the server signed what it wrote.
verified = server.run("audit", "verify", "--store", server.store, "--key", f"{folder.name}/public.pem")
expect("the store's trail is signed", verified.returncode == 0 and "checkpoint" in verified.stdout, verified.stdout + verified.stderr)
exported = server.run("audit", "export", "--store", server.store)
expect("an export", exported.returncode == 0 and exported.stdout.count("\n") > 10, exported.stderr)
details = [json.loads(line)["details"] or {} for line in exported.stdout.splitlines()]
total = sum(one.get("repeated", 1) for one in details if one.get("status") == 403)
expect("refused calls are counted", total == 300, total)
path = f"{folder.name}/audit.jsonl"
with open(path, "w") as file:
    file.write(exported.stdout)
verified = server.run("audit", "verify", "--file", path, "--key", f"{folder.name}/public.pem")
expect("the export is signed", verified.returncode == 0, verified.stdout + verified.stderr)
lines = exported.stdout.splitlines()
row = json.loads(lines[2])
row["who"] = "mallory"
with open(path, "w") as file:
    file.write("\n".join(lines[:2] + [json.dumps(row)] + lines[3:]) + "\n")
verified = server.run("audit", "verify", "--file", path, "--key", f"{folder.name}/public.pem")
expect("a changed export is not", verified.returncode == 1 and "row 3" in verified.stdout, verified.stdout)
subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", f"{folder.name}/other.pem"], check=True, capture_output=True)
subprocess.run(["openssl", "pkey", "-in", f"{folder.name}/other.pem", "-pubout", "-out", f"{folder.name}/other-public.pem"], check=True, capture_output=True)
verified = server.run("audit", "verify", "--store", server.store, "--key", f"{folder.name}/other-public.pem")
expect("another key did not sign it", verified.returncode == 1, verified.stdout)
finish()
