#!/usr/bin/env python3
"""truncated_test.py CAIRN SOURCE_DIR: clients that go away in the middle. 200 recorded requests are cut at their bytes, by a close, a reset
or a half-close, plain and over TLS; afterwards the server answers, every thread sleeps, and SIGTERM ends it.
CAIRN_TRUNCATED_STEP=1 cuts at every byte."""
import os, socket, ssl, struct, subprocess, sys, tempfile, time
from recorded_requests import recorded
from served import Served, expect, finish

step = int(os.environ.get("CAIRN_TRUNCATED_STEP", "11"))
RESET = struct.pack("ii", 1, 0)


def connect(port):
    connection = socket.socket()
    connection.settimeout(20)
    connection.connect(("127.0.0.1", port))
    return connection


def leave(connection, how):
    """Three ways to go. True when the server had to answer or close in time, and did."""
    try:
        if how == 1:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        elif how == 2:
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
        return True
    except TimeoutError:
        return False
    except OSError:
        return True  # reset by the server, which has the right to
    finally:
        connection.close()


def nothing_runs(pid):
    states = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/stat") as file:
                states.append(file.read().rsplit(") ", 1)[1][0])
        except OSError:
            pass  # it has ended
    return all(state in "SD" for state in states)


def becomes_idle(pid):
    """Whether a moment comes in which nothing runs, several times."""
    seen, until = 0, time.monotonic() + 60
    while seen < 5 and time.monotonic() < until:
        seen = seen + 1 if nothing_runs(pid) else seen
        time.sleep(0.02)
    return seen == 5


def judge(server, what, healthy):
    expect(f"{what}: it answers afterwards", healthy() == 200)
    expect(f"{what}: every thread sleeps", becomes_idle(server.process.pid))
    expect(f"{what}: SIGTERM ends it with 0", server.end() == 0, server.said[-1000:])
    expect(f"{what}: nothing failed inside", '"level":"error"' not in server.said, server.said[-1000:])


flags = ("--deploy", os.path.join(sys.argv[2], "examples/hello.yaml"), "--log-level", "error", "--http-threads", "2")
server = Served(sys.argv[1], *flags)
requests = recorded(server.call("GET", "/openapi.json", role=None).json, server.keys["admin"])
expect("at least 200 requests", len(requests) >= 200, len(requests))
cuts = slow = 0
for number, request in enumerate(requests):
    if slow > 2:
        break  # it hangs
    short = len(request) < 120 or b"chunked" in request
    for cut in range(number % step if step > 1 else 0, len(request) + 1, max(1, step // 3) if short else step):
        if slow > 2:
            break
        connection = connect(server.port)
        connection.sendall(request[:cut])
        slow += not leave(connection, (number + cut) % 3)
        cuts += 1
expect("everybody who waited was answered or cut off", slow == 0, slow)
print(f"{len(requests)} requests, {cuts} cuts")
judge(server, "plain", lambda: server.call("GET", "/healthz", role=None).status)

# Over TLS: inside requests, and inside the handshake.
folder = tempfile.TemporaryDirectory()
subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                "-keyout", folder.name + "/k.pem", "-out", folder.name + "/c.pem"], check=True, capture_output=True)
server = Served(sys.argv[1], *flags, "--tls-certificate", folder.name + "/c.pem", "--tls-key", folder.name + "/k.pem")
trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
trust.check_hostname = False
trust.load_verify_locations(folder.name + "/c.pem")


def secure():
    return trust.wrap_socket(connect(server.port), server_hostname="localhost")


def hello():
    """The first bytes that a client of TLS sends."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        trust.wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


for cut in range(0, len(hello()), step):
    connection = connect(server.port)
    connection.sendall(hello()[:cut])
    leave(connection, (0, 1)[cut % 2])
cuts = 0
for number, request in enumerate(requests):
    if number % step and b"\r\n\r\n5" not in request[-7:]:
        continue
    for cut in range(number % step if step > 1 else 0, len(request) + 1, step):
        connection = secure()
        connection.sendall(request[:cut])
        if cut % 4 == 0:
            try:
                connection.unwrap()  # a proper end, in a message of TLS
            except OSError:
                pass
        leave(connection, cut % 2)
        cuts += 1
print(f"{cuts} cuts over TLS")


def over_tls():
    with secure() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return int(connection.recv(4096).split()[1])


judge(server, "TLS", over_tls)
finish()
