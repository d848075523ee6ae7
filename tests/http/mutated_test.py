#!/usr/bin/env python3
"""mutated_test.py CAIRN SOURCE_DIR: mutated requests over many connections, a tenth of them cut off in the middle and a fifth sent in pieces: only
2xx, 4xx and 503, no client waits for ever, and the server lives.
CAIRN_MUTATED_REQUESTS and CAIRN_MUTATED_CONNECTIONS make it longer; CAIRN_SEED repeats a run."""
import json, os, random, re, socket, sys, threading
from served import Served, expect, finish

total = int(os.environ.get("CAIRN_MUTATED_REQUESTS", "3000"))
connections = int(os.environ.get("CAIRN_MUTATED_CONNECTIONS", "64"))
seed = int(os.environ.get("CAIRN_SEED", "1"))
server = Served(sys.argv[1], "--deploy", os.path.join(sys.argv[2], "examples/hello.yaml"), "--log-level", "error")
key = server.keys["admin"]
table = server.call("GET", "/openapi.json", role=None).json
routes = [(method.upper(), path, operation) for path, item in table["paths"].items() for method, operation in item.items()
          if operation["operationId"] not in ("streamEvents", "createKey", "leaseRuns")]
instance = server.call("POST", "/v1/instances", {"definition": "hello"}).json["id"]
ODD = ["", "x", "-1", "%00", "%ff", "..", "'", '"', "\u202e", "=", "9" * 25, instance, "hello", "1.0.0", "null", "*", "{}", "a b"]


def value(dice, schema, depth=0):
    if dice.random() < 0.1 or depth > 4:
        return dice.choice([None, True, -1, 1e300, "", "x", [], {}, "5s", instance])
    if "enum" in schema:
        return dice.choice(schema["enum"])
    kind = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(kind, list):
        kind = dice.choice(kind)
    if kind == "object":
        return {name: value(dice, inner if isinstance(inner, dict) else {}, depth + 1) for name, inner in schema.get("properties", {}).items()
                if name in schema.get("required", []) or dice.random() < 0.5}
    if kind == "array":
        return [value(dice, schema.get("items", {}), depth + 1) for _ in range(dice.randrange(3))]
    if kind in ("integer", "number"):
        return dice.choice([0, 1, 5, -1, 2**62])
    if kind == "boolean":
        return dice.random() < 0.5
    return dice.choice(ODD)


def request(dice):
    method, path, operation = dice.choice(routes)
    path = re.sub(r"\{[^}]*\}", lambda _: "".join(c if c.isalnum() or c in "-._~%" else "%%%02X" % b for c in dice.choice(ODD) for b in c.encode()[:1]), path)
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "query" and dice.random() < 0.3 and parameter["name"] != "wait":
            path += ("&" if "?" in path else "?") + parameter["name"] + "=" + dice.choice(["1", "x", "true", "%27", "2026-01-01T00:00:00Z", "waiting"])
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    body = json.dumps(value(dice, content["schema"])).encode() if content else b""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
    if not body and method != "GET" and dice.random() < 0.2:
        head += "Transfer-Encoding: chunked\r\n"
        body = dice.choice([b"0\r\n\r\n", b"0;a=b\r\n\r\n", b"0\r\nX-After: 1\r\n\r\n"])
    elif body and dice.random() < 0.3:
        head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        cut = dice.randrange(len(body))
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:cut], body[cut:]) if part) + b"0\r\n\r\n"
    elif body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    if dice.random() < 0.2:
        head += "If-Match: " + dice.choice(['"1"', "x", "*", '"99"']) + "\r\n"
    if dice.random() < 0.2:
        head += "Idempotency-Key: " + dice.choice(["a", "b", "x" * 300]) + "\r\n"
    text = bytearray(head.encode() + b"\r\n" + body)
    if dice.random() < 0.1:
        return bytes(text[: dice.randrange(len(text))]), True
    broken = dice.random() < 0.4
    if broken:
        for _ in range(dice.randrange(1, 6)):
            at = dice.randrange(len(text))
            action = dice.randrange(4)
            if action == 0:
                text[at] = dice.randrange(256)
            elif action == 1:
                del text[at]
            elif action == 2:
                text.insert(at, dice.randrange(256))
            else:
                text[at:at] = bytes(text[dice.randrange(len(text)):][: dice.randrange(20)])
    return bytes(text), broken


counts = {}
lock = threading.Lock()
wrong = []
hung = threading.Event()


def converse(number):
    dice = random.Random(f"{seed}/{number}")
    connection = None
    for _ in range(-(-total // connections)):
        if hung.is_set():
            return
        text, broken = request(dice)
        try:
            if connection is None:
                connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            cuts = sorted(dice.randrange(len(text) - min(len(text), 12), len(text) + 1) for _ in range(dice.choice((0, 0, 0, 0, 4))))
            for begin, end in zip([0, *cuts], [*cuts, len(text)]):
                connection.sendall(text[begin:end])
            if broken:
                connection.shutdown(socket.SHUT_WR)
            said = b""
            while True:
                chunk = connection.recv(65536)
                if not chunk:
                    break
                said += chunk
                if broken:
                    continue
                head = said.find(b"\r\n\r\n")
                length = re.search(rb"content-length: (\d+)", said[:head].lower()) if head >= 0 else None
                if head >= 0 and (not length or len(said) >= head + 4 + int(length.group(1))):
                    break
        except TimeoutError:
            said = b"HTTP/1.1 599 no answer in time"
            hung.set()
        except OSError:
            said = b""
        found = re.match(rb"HTTP/1\.1 (\d+)", said)
        status = int(found.group(1)) if found else 0
        with lock:
            counts[status] = counts.get(status, 0) + 1
            if (status >= 500 and status != 503) or (status == 0 and not broken):
                wrong.append((number, text[:300], said[:300]))
        if broken or not found or b"connection: close" in said.lower():
            if connection:
                connection.close()
            connection = None


threads = [threading.Thread(target=converse, args=(number,)) for number in range(connections)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(f"seed {seed}: {sum(counts.values())} requests over {connections} connections: {dict(sorted(counts.items()))}")
expect("only 2xx, 4xx and 503", not wrong, wrong[:3])
expect("some went through", counts.get(200, 0) > 0, counts)
expect("the server lives", not hung.is_set() and server.process.poll() is None and server.call("GET", "/livez", role=None).status == 200)
expect("and ends with 0", server.end() == 0, server.said[-3000:])
checked = server.run("verify", "--store", server.store)
expect("the store is whole", checked.returncode == 0, checked.stdout + checked.stderr)
checked = server.run("audit", "verify", "--store", server.store)
expect("and so is the audit trail", checked.returncode == 0, checked.stdout + checked.stderr)
finish()
