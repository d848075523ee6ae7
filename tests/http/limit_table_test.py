#!/usr/bin/env python3
"""limit_table_test.py CAIRN SOURCE_DIR: every limit reports itself. Each row of the table passes one limit. The answer is a problem (RFC 9457) with the
limit's name and value, 429 and 503 say when to try again, the metric counts the refusal and the log has a line for the limit. The table has every limit of
docs/server.md. src/api/limit_refusals_test.cc passes those that need a blocked store."""
import http.client, itertools, json, os, re, select, socket, sys, threading, time
from served import Answer, Served, expect, finish

BY_UNIT_TEST = {"limits.commits_waiting_max", "limits.runs_waiting_max", "limits.reads_waiting_max", "limits.instance_waiting_max", "limits.writes_waiting_max",
                "limits.requests_waiting_max",
                "limits.lease_waiters_max"}
# Instances and definitions report these: tests/scenarios and serve_test.py.
OF_INSTANCES = {"limits.state_bytes_max", "limits.steps_per_slice_max", "limits.strands_max", "limits.expression_steps_max", "limits.expression_bytes_max",
                "limits.definition_bytes_max", "limits.definition_nodes_max"}
NOT_A_REFUSAL = {"limits.page_bytes_max",  # the page ends early (limits_test.py)
                 "limits.piece_bytes_min"}  # it says what is stored apart
ELSEWHERE = {"http.connections_per_address_max"}  # counts connections from other machines
TIMES = {"http.idle_timeout", "http.write_timeout"}  # the connection is closed, and no request is refused
LIMITS = {
    "http.body_bytes_max": 200_000, "http.unknown_body_bytes_max": 2000, "http.bodies_bytes_max": 300_000, "http.connections_max": 40,
    "http.head_timeout": "700ms", "http.body_timeout": "900ms", "http.answer_timeout": "1500ms", "limits.rate_viewer": 3, "limits.expensive_max": 1,
    "limits.long_polls_max": 2, "limits.streams_max": 1, "limits.png_pixels_max": 100_000, "limits.comment_bytes_max": 100,
    "limits.reference_bytes_max": 200, "limits.signals_per_key_max": 2, "limits.signals_total_max": 1000, "limits.page_bytes_max": 100_000,
}
FLAGS = list(itertools.chain(*(("--" + name.replace(".", "-").replace("_", "-"), str(value)) for name, value in LIMITS.items())))
server = Served(sys.argv[1], *FLAGS)
expect("the server starts", server.port is not None, getattr(server, "said", ""))
TASK = """cairn: 1
name: t.wait
version: 1.0.0
steps: [ { task: { name: Check, roles: [clerk] } } ]
"""
expect("a definition", server.call("POST", "/v1/definitions", text=TASK, **{"content-type": "application/yaml"}).status == 201)
instance = server.call("POST", "/v1/instances", {"definition": "t.wait"}).json["id"]
task = server.call("GET", f"/v1/tasks?instance={instance}").json["items"][0]["id"]


def parsed(opened):
    """The answer on a socket; without one a status of 0."""
    text = b""
    opened.settimeout(60)
    try:
        while part := opened.recv(65536):
            text += part
    except OSError:
        pass
    head, _, body = text.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    if len(lines) < 2:
        return Answer(0, {}, "")
    return Answer(int(lines[0].split()[1]), {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}, body.decode())


def raw(head, body=b"", role="admin"):
    opened = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    credential = f"Authorization: Bearer {server.keys[role]}\r\n" if role else ""
    opened.sendall(f"{head[0]} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{credential}{''.join(line + chr(13) + chr(10) for line in head[1:])}\r\n".encode() + body)
    return opened


def post(path, body, **more):
    return lambda: server.call("POST", path, body, **more)


def get(path, **more):
    return lambda: server.call("GET", path, **more)


current = None  # the limit that is being passed


def is_refusal(answer):
    return (answer.json or {}).get("limit") == current


def until_refused(ask, most=3000):
    """Repeats a request until the limit refuses it."""
    def run():
        for _ in range(most):
            answer = ask()
            if is_refusal(answer):
                break
        return answer
    return run


def at_once(ask, count=40):
    """Sends a request from several threads, over and over, until one of them is refused."""
    def run():
        found, ended = [], time.monotonic() + 60
        def loop():
            while not found and time.monotonic() < ended:
                answer = ask()
                if is_refusal(answer):
                    found.append(answer)
        threads = [threading.Thread(target=loop) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found[0] if found else Answer(0, {}, "")
    return run


def held(open_one, count, ask):
    """The answer to `ask` while `count` connections are held open."""
    def run():
        opened = [open_one() for _ in range(count)]
        select.select(opened[-1:], [], [], 0.3)
        try:
            return until_refused(ask, 50)()
        finally:
            for one in opened:
                one.close()
    return run


def deep(levels):
    return "[" * levels + "]" * levels


def many_connections():
    opened = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(60)]
    select.select(opened, [], [], 60)  # until the server closes one of them
    for one in opened:
        one.close()
    return None


def slow_head():
    opened = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    opened.sendall(b"GET /v1/info HTTP/1.1\r\n")
    parsed(opened)


def slow_body():
    parsed(raw(["POST /v1/runs", "Content-Type: application/json", "Content-Length: 100"], b"{"))


def full_of_bodies():
    """Bodies that do not end take all memory for bodies."""
    opened = [raw(["POST /v1/runs", "Content-Type: application/json", "Content-Length: 190000"]) for _ in range(6)]
    answers = [parsed(one) for one in opened]
    return next((answer for answer in answers if answer.status == 503), answers[0])


def many_jobs():
    """Jobs run one after the other, and these take longer than the requests for more."""
    actions = itertools.cycle(("suspend", "resume"))
    return until_refused(lambda: server.call("POST", "/v1/bulk", {"action": next(actions), "filter": "definition:t.wait"}))()


for _ in range(100):
    server.call("POST", "/v1/instances", {"definition": "t.wait"})
JSON = "Content-Type: application/json"
emoji = "\U0001F600"
TABLE = [  # limit, its value, the status (None: the connection is closed), what passes it
    ("http.head_bytes_max", 16384, 431, lambda: parsed(raw(["GET /v1/info"] + [f"X-{n}: " + "x" * 6000 for n in range(3)]))),
    ("http.header_bytes_max", 8192, 431, lambda: parsed(raw(["GET /v1/info", "X-Much: " + "x" * 9000]))),
    ("http.headers_max", 100, 431, lambda: parsed(raw(["GET /v1/info"] + [f"A{n}: 1" for n in range(100)]))),
    ("http.body_bytes_max", 200_000, 413, post("/v1/runs", {"type": "demo.x", "payload": "x" * 300_000})),
    ("http.unknown_body_bytes_max", 2000, 413, lambda: parsed(raw(["POST /v1/hooks/none", JSON, "Content-Length: 5000"], b"x" * 5000, role=None))),
    ("http.bodies_bytes_max", 300_000, 503, full_of_bodies),
    ("http.connections_max", 40, None, many_connections),
    ("http.head_timeout", 700, None, slow_head),
    ("http.body_timeout", 900, None, slow_body),
    ("http.answer_timeout", 1500, 503, get(f"/v1/instances/{instance}?wait=60s")),
    ("limits.rate_viewer", 3, 429, until_refused(get("/v1/info", role="viewer"))),
    ("limits.expensive_max", 1, 429, at_once(post("/v1/bulk", {"action": "cancel", "dry_run": True, "filter": '"x"'}, role="operator"), 8)),
    ("limits.long_polls_max", 2, 429, held(lambda: raw([f"GET /v1/instances/{instance}?wait=60s"]), 2, get(f"/v1/instances/{instance}?wait=1ms"))),
    ("limits.streams_max", 1, 429, held(lambda: raw(["GET /v1/events"]), 1, get("/v1/events"))),
    ("limits.png_pixels_max", 100_000, 413, get("/v1/definitions/t.wait/diagram?format=png&scale=4")),
    ("limits.comment_bytes_max", 100, 413, post(f"/v1/tasks/{task}/comment", {"comment": "x" * 101})),
    ("limits.reference_bytes_max", 200, 413, post("/v1/instances", {"definition": "t.wait", "reference": {"key": "K", "parts": {"a": "x" * 300}}})),
    ("limits.signals_per_key_max", 2, 429, until_refused(post("/v1/signals", {"name": "later", "key": "K"}))),
    ("limits.signals_total_max", 1000, 429, lambda n=itertools.count(): until_refused(lambda: server.call("POST", "/v1/signals", {"name": "all", "key": str(next(n))}))()),
    ("limits.signals_per_instance_max", 1000, 413, until_refused(post(f"/v1/instances/{instance}/signals", {"name": "other"}))),
    ("limits.event_batch_max", 1000, 413, lambda: server.call("POST", "/v1/events", text=json.dumps([{"specversion": "1.0", "id": str(n), "source": "/", "type": "t"} for n in range(1001)]),
                                                   **{"content-type": "application/cloudevents-batch+json"})),
    ("limits.search_length_max", 200, 413, get("/v1/instances?q=" + "x" * 201)),
    ("key_length", 500, 413, post("/v1/signals", {"name": "n", "key": "x" * 501})),
    ("limits.name_length_max", 200, 413, post("/v1/signals", {"name": "x" * 201})),
    ("signal_key_bytes", 2400, 413, post("/v1/signals", {"name": emoji * 200, "key": emoji * 500})),
    ("limits.json_depth_max", 128, 413, lambda: server.call("POST", "/v1/runs", text='{"type":"demo.x","payload":' + deep(200) + "}")),
    ("limits.json_depth_max", 128, 413, lambda: server.call("POST", "/v1/events", text='{"specversion":"1.0","id":"d","source":"/","type":"t","data":' + deep(200) + "}",
                                                 **{"content-type": "application/cloudevents+json"})),
    ("bulk_instances", 10, 413, post("/v1/bulk", {"action": "suspend", "filter": "definition:t.wait", "max": 10})),
    ("limits.bulk_jobs_max", 1000, 503, many_jobs),
]


def metric(name):
    while True:
        try:
            text = server.call("GET", "/metrics").text
            break
        except (OSError, http.client.HTTPException):
            time.sleep(0.05)  # all connections are in use
    found = re.search(r'^cairn_limit_refusals_total\{limit="' + re.escape(name) + r'"\} (\d+)$', text, re.M)
    return int(found.group(1)) if found else 0


said = ""
for number, (limit, value, status, pass_it) in enumerate(TABLE):
    if number == len(TABLE) // 2:  # the log writes at most 20 lines of one event in 10 s
        expect("SIGTERM ends with 0", server.end() == 0, server.said[-2000:])
        said += server.said
        server.start(*FLAGS)
    current = limit
    before = metric(limit)
    answer = pass_it()
    if status is not None:
        problem = answer.json or {}
        expect(f"{limit}: {status}", answer.status == status and answer.headers.get("content-type") == "application/problem+json", (answer.status, answer.text))
        expect(f"{limit}: names itself", (problem.get("limit"), problem.get("limit_value")) == (limit, value), answer.text)
        expect(f"{limit}: says when to try again", status not in (429, 503) or int(answer.headers.get("retry-after", "0")) >= 1, answer.headers)
    deadline = time.monotonic() + 30
    while metric(limit) <= before and time.monotonic() < deadline:
        time.sleep(0.05)
    expect(f"{limit}: is counted", metric(limit) > before, before)

expect("SIGTERM ends with 0", server.end() == 0, server.said[-2000:])
said += server.said
in_table = {row[0] for row in TABLE}
for limit in sorted(in_table):
    lines = [line for line in said.splitlines() if "limit.refused" in line and re.search(r"\b" + re.escape(limit) + r"\b", line)]
    expect(f"{limit}: is logged, at most once in 10 s", 1 <= len(lines) <= 20, lines[:3])
with open(os.path.join(sys.argv[2], "docs/server.md")) as file:
    part = file.read().split("## Connections and limits")[1].split("\n## ")[0]
documented = set()
for row in re.findall(r"^\| (.*?) \|", part, re.M):
    documented |= set(re.findall(r"`([a-z_.]+)`", row))
unchecked = {name for name in documented if "_" in name} - in_table - BY_UNIT_TEST - NOT_A_REFUSAL - ELSEWHERE - TIMES - OF_INSTANCES
expect("the table has every limit of the documentation", not unchecked, unchecked)
expect("the documentation has every limit of the table", not {name for name in in_table if not name.startswith("limits.rate_")} - documented,
       {name for name in in_table if not name.startswith("limits.rate_")} - documented)
finish()
