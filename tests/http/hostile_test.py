#!/usr/bin/env python3
"""hostile_test.py CAIRN SOURCE_DIR: bytes that no honest client sends. Requests that two parsers could read in two ways, things past
their limits by one and by gigabytes, clients that never finish. The server answers as it should and stays alive, and small."""
import os, re, socket, sys, threading
from hostile_cases import cases
from served import Served, expect, finish, slack

server = Served(sys.argv[1], "--http-head-timeout", "2s", "--http-body-timeout", "3s", "--http-connections-per-address-max", "0")
key = server.keys["admin"]
AUTH = f"Host: localhost\r\nAuthorization: Bearer {key}\r\n"


def raw(data, until=None, timeout=30):
    """What the server says until it closes, or until `until` was seen."""
    if isinstance(data, str):
        data = data.encode("latin-1")
    with socket.create_connection(("127.0.0.1", server.port), timeout=timeout) as connection:
        try:
            connection.sendall(data)
        except OSError:
            pass  # it may refuse before it has read everything
        said = b""
        try:
            while chunk := connection.recv(65536):
                said += chunk
                if until and until in said:
                    break
        except OSError:
            pass
        return said.decode("latin-1")


def status(text):
    found = re.match(r"HTTP/1\.[01] (\d+)", text)
    return int(found.group(1)) if found else None


def resident():
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


# The table: each case on a connection of its own, with a request behind it that must not be answered when the connection has to end.
table = cases(key, server.keys["viewer"])
expect("at least 300 cases", len(table) >= 300, len(table))
BEHIND = "GET /livez HTTP/1.1\r\nHost: smuggled\r\nConnection: close\r\n\r\n"


def judge(part):
    for case in part:
        said = raw(case.sent + (BEHIND.encode() if case.closes else b""), until=None if case.closes or b"close" in case.sent else b"\r\n\r\n")
        expect(f"{case.name}: {case.status}", status(said) in case.status, said[:300])
        if case.closes:
            expect(f"{case.name}: nothing behind it is answered", said.count("HTTP/1.") <= 1, said[:400])
        if status(said) and status(said) >= 400:
            expect(f"{case.name}: the answer is a problem", "application/problem+json" in said or status(said) == 503, said[:300])


threads = [threading.Thread(target=judge, args=(table[number::8],)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

# P-43, S-47: limits, by one and by far.
limit = 4 << 20
before = resident()


def sized(count):
    body = b'{"zzzz":"' + b"x" * (count - 11) + b'"}'
    return raw(f"POST /v1/signals HTTP/1.1\r\n{AUTH}Content-Type: application/json\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)


expect("a body at the limit is read", status(sized(limit)) == 422)
expect("one byte more is 413", status(sized(limit + 1)) == 413)
expect("10 GB announced is 413 at once", status(raw(f"POST /v1/signals HTTP/1.1\r\n{AUTH}Content-Length: 10000000000\r\n\r\n")) == 413)
expect("a length past 64 bits", status(raw(f"POST /v1/signals HTTP/1.1\r\n{AUTH}Content-Length: {'9' * 30}\r\n\r\n")) in (400, 413))


def endless(piece, head):
    """Sends for ever; how much the server took before it said no."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(head.encode())
        sent = 0
        try:
            while sent < 100 << 20:
                connection.sendall(piece)
                sent += len(piece)
        except OSError:
            pass
        said = b""
        try:
            while chunk := connection.recv(65536):
                said += chunk
        except OSError:
            pass
        return sent, said.decode("latin-1")


chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
sent, said = endless(chunk, f"POST /v1/signals HTTP/1.1\r\n{AUTH}Transfer-Encoding: chunked\r\n\r\n")
expect("endless chunks end at the limit", sent < 32 << 20 and status(said) in (413, None), (sent, said[:100]))
sent, said = endless(b"x" * 65536, f"GET /livez HTTP/1.1\r\n{AUTH}X: ")
expect("an endless header ends at the limit", sent < 8 << 20 and status(said) in (431, None), (sent, said[:100]))
sent, said = endless(b"1;" + b"e" * 65536, f"POST /v1/signals HTTP/1.1\r\n{AUTH}Transfer-Encoding: chunked\r\n\r\n")
expect("an endless chunk extension too", sent < 24 << 20 and status(said) != 200, (sent, said[:100]))
expect("100 headers are fine", status(raw(f"GET /livez HTTP/1.1\r\n{AUTH}Connection: close\r\n" + "".join(f"X{i}: 1\r\n" for i in range(97)) + "\r\n")) == 200)
expect("101 are not", status(raw(f"GET /livez HTTP/1.1\r\n{AUTH}Connection: close\r\n" + "".join(f"X{i}: 1\r\n" for i in range(98)) + "\r\n")) == 431)
expect("100 000 headers are not", status(raw(f"GET /livez HTTP/1.1\r\n{AUTH}" + "".join(f"X{i}: 1\r\n" for i in range(100_000)) + "\r\n")) in (431, None))
expect("a header of 8 KiB is fine", status(raw(f"GET /livez HTTP/1.1\r\n{AUTH}Connection: close\r\nX: {'x' * 8000}\r\n\r\n")) == 200)
expect("one of more is not", status(raw(f"GET /livez HTTP/1.1\r\n{AUTH}X: {'x' * 8200}\r\n\r\n")) == 431)
expect("a compressed body is not read", status(raw(f"POST /v1/signals HTTP/1.1\r\n{AUTH}Content-Type: application/json\r\nContent-Encoding: gzip\r\n"
                                                    "Connection: close\r\nContent-Length: 2\r\n\r\n{}")) in (415, 422))
grown = resident() - before
expect("none of it is kept", grown < slack(sys.argv[1]) * (64 << 20), grown)

# S-48, P-42: clients that never finish are cut off; others do not notice.
slow = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(200)]
for index, connection in enumerate(slow):
    connection.sendall(b"GET /livez HT" if index % 2 else f"POST /v1/signals HTTP/1.1\r\n{AUTH}Content-Length: 100\r\n\r\n{{".encode())
good = []


def ask():
    for _ in range(20):
        good.append(server.call("GET", "/livez", role=None).status)


threads = [threading.Thread(target=ask) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
expect("good clients are answered beside 200 slow ones", good == [200] * 80, good)
for connection in slow:
    said = b""
    try:
        while chunk := connection.recv(4096):
            said += chunk
    except OSError:
        said = b"timed out"
    expect("a slow client is cut off", b"200 OK" not in said and said != b"timed out", said[:100])
    connection.close()
said = raw(f"POST /v1/signals HTTP/1.1\r\n{AUTH}Expect: 100-continue\r\nContent-Length: 5\r\n\r\n")
expect("a promised body that never comes is cut off", said.startswith("HTTP/1.1 100") and said.count("HTTP/1.1") == 1, said)
expect("it still runs", server.call("GET", "/livez", role=None).status == 200)
expect("and ends with 0", server.end() == 0, server.said[-1000:])
expect("nothing failed inside", '"level":"error"' not in server.said, server.said[-1000:])
finish()
