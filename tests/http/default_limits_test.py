#!/usr/bin/env python3
"""default_limits_test.py CAIRN SOURCE_DIR: the limits of a server without any setting. One credential that asks for too much is refused, what the server
holds for it is bounded, and a search takes time in proportion to the text. limit_table_test.py has every limit, with small values."""
import http.client, json, os, re, resource, select, socket, sys, threading, time
from served import Served, expect, finish, slack

_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 20_000), most))
server = Served(sys.argv[1])
expect("it starts", server.port is not None, getattr(server, "said", ""))
MEBIBYTE = 1 << 20


def deploy(text):
    made = server.call("POST", "/v1/definitions", text=text, **{"content-type": "application/yaml"})
    expect("a definition is deployed", made.status == 201, made.text)


def resident():
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def cpu():
    with open(f"/proc/{server.process.pid}/stat") as file:
        fields = file.read().rsplit(") ", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def opened(head, role, body=b""):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    connection.sendall(f"{head[0]} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.keys[role]}\r\n{''.join(line + chr(13) + chr(10) for line in head[1:])}\r\n".encode() + body)
    return connection


def status_of(connection):
    text = b""
    while b"\r\n\r\n" not in text:
        part = connection.recv(4096)
        if not part:
            return None, text
        text += part
    return int(text.split()[1]), text


def names(limit, answer):
    return (answer.json or {}).get("limit") == limit


deploy("cairn: 1\nname: t.wait\nversion: 1.0.0\nsteps: [ { task: { name: Check } } ]\n")
instance = server.call("POST", "/v1/instances", {"definition": "t.wait"}).json["id"]
task = server.call("GET", f"/v1/tasks?instance={instance}").json["items"][0]["id"]

# Sizes.
long_comment = server.call("POST", f"/v1/tasks/{task}/comment", {"comment": "x" * 20_000})
expect("a comment of 20 000 bytes", long_comment.status == 413 and names("limits.comment_bytes_max", long_comment), long_comment.text[:200])
large = server.call("POST", "/v1/instances", {"definition": "t.wait", "reference": {"key": "K", "parts": {"a": "x" * 70_000}}})
expect("a reference of 70 000 bytes", large.status == 413 and names("limits.reference_bytes_max", large), large.text[:200])

# A page of a list, and the runs of a lease.
for _ in range(60):
    server.call("POST", "/v1/runs", {"type": "demo.big", "payload": "x" * 200_000})
page = server.call("GET", "/v1/runs?limit=1000")
expect("a page has at most 8 MiB and a cursor", len(page.text) <= 8 * MEBIBYTE + 300_000 and page.json["next_cursor"], len(page.text))
leased = server.call("POST", "/v1/runs/lease", {"worker": "w", "types": ["demo.big"], "max": 60})
expect("so have the runs of a lease", len(leased.text) <= 8 * MEBIBYTE + 300_000 and len(leased.json["items"]) < 60, len(leased.text))

# Signals that no instance waits for.
connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
statuses = []
for _ in range(1003):
    connection.request("POST", "/v1/signals", json.dumps({"name": "later", "key": "K"}), {"authorization": "Bearer " + server.keys["admin"], "content-type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    statuses.append(answer.status)
expect("1 000 signals of a name and key are kept", statuses == [202] * 1000 + [429] * 3, statuses[995:])

# A search: text that almost matches everywhere costs no more than text that matches nowhere, give or take.
for number in range(40):
    server.call("POST", "/v1/instances", {"definition": "t.wait", "reference": {"key": f"K-{number}", "parts": {"text": "a" * 50_000}}})


def search_cost(text, times=5):
    before = cpu()
    for _ in range(times):
        answer = server.call("GET", "/v1/instances?q=" + text)
        expect("a search", answer.status == 200, answer.text[:200])
    return cpu() - before


search_cost("z" * 200, 1)
harmless, hostile = search_cost("z" * 200), search_cost("a" * 99 + "b" + "a" * 100)
print(f"ticks of 5 searches: {harmless}, and {hostile} with text that almost matches")
expect("its time does not grow with the length of the text", hostile <= 8 * max(harmless, 5), (harmless, hostile))

# Diagrams: at most 8 at a time, of at most 16 million pixels.
steps = "".join(f"  - {{ id: s{n}, title: Step number {n} of a long process, set: {{ n: {n} }} }}\n" for n in range(100))
deploy("cairn: 1\nname: t.big\nversion: 1.0.0\nsteps:\n" + steps)
instances = [server.call("POST", "/v1/instances", {"definition": "t.big"}).json["id"] for _ in range(32)]
picture = server.call("GET", f"/v1/instances/{instances[0]}/diagram?format=png&scale=4")
expect("a picture of 26 million pixels", picture.status == 413 and names("limits.png_pixels_max", picture), picture.status)
before, peak, over, got = resident(), [0], threading.Event(), []


def watch():
    while not over.wait(0.01):
        peak[0] = max(peak[0], resident())


def draw(number):
    got.append(server.call("GET", f"/v1/instances/{number}/diagram?format=png&scale=2", role="viewer"))


watcher = threading.Thread(target=watch)
watcher.start()
for _ in range(5):  # several rounds, because a picture takes little time
    threads = [threading.Thread(target=draw, args=(one,)) for one in instances]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if any(answer.status == 429 for answer in got):
        break
over.set()
watcher.join()
refused = [answer for answer in got if answer.status == 429]
expect("expensive requests are bounded", refused and all(names("limits.expensive_max", answer) and answer.headers.get("retry-after") for answer in refused),
       {answer.status for answer in got})
expect("they hold little memory", peak[0] - before < slack(sys.argv[1]) * 400 * MEBIBYTE, peak[0] - before)

# Streams and long polls of one credential.
streams = [opened(["GET /v1/events"], "viewer") for _ in range(103)]
statuses = [status_of(one)[0] for one in streams]
expect("100 streams", statuses.count(200) == 100 and statuses.count(429) == 3, {one: statuses.count(one) for one in statuses})
for one in streams:
    one.close()
polls = [opened([f"GET /v1/instances/{instance}?wait=60s"], "operator") for _ in range(4010)]
waiting = select.poll()
for one in polls:
    waiting.register(one, select.POLLIN)
answered, end = set(), time.monotonic() + 30
while len(answered) < 10 and time.monotonic() < end:
    answered |= {number for number, _ in waiting.poll(1000)}
statuses = [status_of(one)[0] for one in polls if one.fileno() in answered]
expect("4 000 long polls", statuses == [429] * 10, statuses[:20])
for one in polls:
    one.close()

# Requests: those of two seconds may come at once.
COUNT = 12_000
flood = opened(["GET /v1/info"], "viewer")
request = f"GET /v1/info HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.keys['viewer']}\r\n\r\n".encode()
sender = threading.Thread(target=lambda: [flood.sendall(request * 50) for _ in range(COUNT // 50)])
began = time.monotonic()
sender.start()
statuses, buffer = {}, b""
while sum(statuses.values()) <= COUNT:
    part = flood.recv(1 << 20)
    if not part:
        break
    buffer += part
    lines = buffer.split(b"HTTP/1.1 ")
    buffer = b"HTTP/1.1 " + lines[-1] if len(lines) > 1 else buffer
    for line in lines[:-1]:
        if line:
            statuses[line[:3]] = statuses.get(line[:3], 0) + 1
    if sum(statuses.values()) >= COUNT:
        break
sender.join()
took = time.monotonic() - began
flood.close()
expect("2 000 requests a second", statuses.get(b"429", 0) > 0 or took > COUNT / 2000 - 2, (statuses, took))
expect("another credential is answered", server.call("GET", "/v1/info").status == 200)

# Bodies that are not sent to the end: 256 MiB for all.
before = resident()
held = {opened(["POST /v1/signals", "Content-Type: application/json", f"Content-Length: {4 * MEBIBYTE}"], "admin"): 4 * MEBIBYTE - 1 for _ in range(80)}
while sending := [one for one, left in held.items() if left]:
    ready = select.select([], sending, [], 2)[1]
    if not ready:
        break
    for one in ready:
        one.setblocking(False)
        try:
            held[one] -= one.send(b"x" * min(held[one], MEBIBYTE))
        except OSError:
            held[one] = 0  # refused and closed
grown = resident() - before
answers = []
for one in select.select(list(held), [], [], 1)[0]:
    one.setblocking(True)
    try:
        answers.append(status_of(one))
    except OSError:
        pass
expect("64 bodies of 4 MiB are taken, the others get 503 with Retry-After", answers and all(status == 503 and b"retry-after" in text and b"http.bodies_bytes_max" in text
                                                                                         for status, text in answers if status), answers[:2])
expect("at most 256 MiB are held", grown < slack(sys.argv[1]) * 330 * MEBIBYTE, grown // MEBIBYTE)
for one in held:
    one.close()
expect("SIGTERM ends with 0", server.end() == 0, server.said[-2000:])
finish()
