#!/usr/bin/env python3
"""bodies_test.py CAIRN SOURCE_DIR: who may send a body, how large it may be, and what all of them may take together."""
import http.client, json, os, select, signal, socket, ssl, subprocess, sys, tempfile, threading, time
from served import Served, expect, finish, slack

cairn = os.path.abspath(sys.argv[1])
folder = tempfile.TemporaryDirectory()


def connect(server, text=b""):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    connection.sendall(text)
    return connection


def read_all(connection):
    said = b""
    try:
        while chunk := connection.recv(65536):
            said += chunk
    except OSError:
        pass
    connection.close()
    return said.decode("latin-1")


def until(what, holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            expect(what, False, "it never came")
            return
        time.sleep(0.02)


def resident(server):
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def head(server, length, key=None, path="/v1/signals", more=""):
    auth = f"Authorization: Bearer {key}\r\n" if key else ""
    return f"POST {path} HTTP/1.1\r\nHost: x\r\n{auth}Content-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n".encode()


# An unknown caller gets 401 before the body is read.
server = Served(cairn, "--http-body-timeout", "30s")
key = server.keys["admin"]
said = read_all(connect(server, head(server, 4 << 20)))
expect("401 before a body without a key", said.startswith("HTTP/1.1 401") and "connection: close" in said, said[:300])
said = read_all(connect(server, head(server, 1000)))
expect("also before a small one", said.startswith("HTTP/1.1 401"), said[:300])
said = read_all(connect(server, head(server, 4 << 20, more="Expect: 100-continue\r\n")))
expect("and instead of 100", said.startswith("HTTP/1.1 401"), said[:300])
said = read_all(connect(server, head(server, 4 << 20, key="cairn_nobody_nothing")))
expect("a key that there is not", said.startswith("HTTP/1.1 401"), said[:300])
said = read_all(connect(server, head(server, 4 << 20, key=server.keys["viewer"])))
expect("403 before a body", said.startswith("HTTP/1.1 403"), said[:300])
said = read_all(connect(server, head(server, 4 << 20, key=key, path="/v1/nothing")))
expect("404 before a body", said.startswith("HTTP/1.1 404"), said[:300])
metrics = server.call("GET", "/metrics").text
expect("they are counted once", 'cairn_http_requests_total{operation="sendSignal",status="403"} 1' in metrics
       or 'cairn_http_requests_total{operation="broadcastSignal",status="403"} 1' in metrics, [line for line in metrics.splitlines() if "403" in line])

# What many of them send is not kept: all but the last byte of 600 MiB, as far as the server reads it.
before = resident(server)
held = {connect(server, head(server, 4 << 20)): (4 << 20) - 1 for _ in range(150)}
while sending := [connection for connection, left in held.items() if left]:
    ready = select.select([], sending, [], 1)[1]
    if not ready:
        break  # nothing more is read
    for connection in ready:
        connection.setblocking(False)
        try:
            held[connection] -= connection.send(b"x" * min(held[connection], 1 << 20))
        except OSError:
            held[connection] = 0  # the server has refused it and closed
grown = resident(server) - before
expect("150 connections without a key hold next to nothing", grown < slack(sys.argv[1]) * (48 << 20), grown)
for connection in held:
    connection.close()

# A credential in a trailer is none.
chunked = "POST /v1/signals HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
said = read_all(connect(server, (chunked + "2\r\n{}\r\n0\r\nAuthorization: Bearer " + key + "\r\n\r\n").encode()))
expect("a trailer is no header", said.startswith("HTTP/1.1 401"), said[:300])
# The same with a valid key, and a trailer that would break the rules if it were a header.
with_key = chunked.replace("Host: x\r\n", f"Host: x\r\nAuthorization: Bearer {key}\r\n")
said = read_all(connect(server, (with_key + '8\r\n{"x": 1}\r\n0\r\nAuthorization: Bearer x\r\nContent-Encoding: gzip\r\n\r\n').encode()))
expect("and changes nothing", said.startswith("HTTP/1.1 422"), said[:300])

# A body that is too large: the refusal arrives, whatever the client does first.
for size in ((4 << 20) + 1, 5 << 20, 16 << 20):
    for _ in range(3):
        answer = server.call("POST", "/v1/signals", text="x" * size)
        expect(f"413 for {size} bytes", answer.status == 413 and answer.json["limit"] == "http.body_bytes_max", answer.text[:200])
body = b"x" * 65536
sent = 0
connection = connect(server, with_key.replace("Connection: close\r\n", "").encode())
try:
    while sent < 5 << 20:
        connection.sendall(b"10000\r\n" + body + b"\r\n")
        sent += len(body)
    said = read_all(connection)
except OSError as failed:
    said = str(failed)
expect("413 for chunks", said.startswith("HTTP/1.1 413"), said[:200])

# A slash that is encoded belongs to a name.
answer = server.call("GET", "/v1%2Finfo")
expect("%2F separates nothing", answer.status == 404, answer.text)
answer = server.call("GET", "/v1/instances/a%2Fhistory")
expect("it is part of an id", answer.status == 404 and "no instance a/history" in answer.text, answer.text)
answer = server.call("GET", "/v1/instances/a%252Fb")
expect("an encoded percent sign too", answer.status == 404 and "no instance a%2Fb" in answer.text, answer.text)
expect("it ends with 0", server.end() == 0, server.said[-1000:])

# The memory of all bodies together.
server = Served(cairn, "--http-bodies-bytes-max", str(8 << 20))
key = server.keys["admin"]


def figure(name):
    for line in server.call("GET", "/metrics").text.splitlines():
        if line.startswith(name + " ") or line.startswith(name + "{"):
            return float(line.split()[-1])
    return 0.0


first = [connect(server, head(server, 4 << 20, key=key) + b"{") for _ in range(2)]
until("both are waited for", lambda: figure("cairn_http_body_bytes") == 8 << 20)
said = read_all(connect(server, head(server, 1000, key=key)))
expect("503 when the memory for bodies is taken", said.startswith("HTTP/1.1 503") and "retry-after: 1" in said and
       '"limit":"http.bodies_bytes_max"' in said, said[:400])
expect("it is counted", figure('cairn_http_refusals_total{reason="bodies_bytes"}') == 1 or
       'reason="bodies_bytes"' in server.call("GET", "/metrics").text, server.call("GET", "/metrics").text[:2000])
expect("who sends nothing is answered all the same", server.call("GET", "/v1/info").status == 200)
for connection in first:
    connection.close()
until("the memory is given back", lambda: figure("cairn_http_body_bytes") == 0)
expect("and there is room again", server.call("POST", "/v1/signals", text="x" * 5000).status == 400)

# The values of a body may take more memory than all bodies may: alone it is taken.
answer = server.call("POST", "/v1/runs", text='{"type":"demo.x","payload":[' + ",".join(["0"] * ((2 << 20) - 100)) + "]}")
expect("the largest values are taken alone", answer.status == 201, answer.text[:300])
# A client that waits for the end of an instance occupies no memory for bodies.
waiting = b'{"definition":"t.wait","id":"long","input":{"text":"' + b"x" * 200_000 + b'"}}'
made = server.call("POST", "/v1/definitions", text="cairn: 1\nname: t.wait\nversion: 1.0.0\nsteps: [ { task: { name: Check } } ]\n", **{"content-type": "application/yaml"})
expect("a definition", made.status == 201, made.text)
connection = connect(server, head(server, len(waiting), path="/v1/instances?wait=60s", key=key, more="Connection: close\r\n") + waiting)
until("the instance begins", lambda: server.call("GET", "/v1/instances/long").status == 200)
until("its body does not count while the client waits for the end", lambda: figure("cairn_http_body_bytes") == 0)
expect("the instance is cancelled", server.call("POST", "/v1/instances/long/cancel", {}).status == 200)
said = read_all(connection)
expect("the client gets the end", said.startswith("HTTP/1.1 201") and '"cancelled"' in said, said[:300])

# SIGHUP without a certificate changes nothing and says so.
server.process.send_signal(signal.SIGHUP)
expect("it ends with 0", server.end() == 0, server.said[-1000:])
expect("nothing was reloaded", "tls.reloaded" not in server.said, server.said)


# Over TLS the refusal arrives too.
subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                "-keyout", folder.name + "/k.pem", "-out", folder.name + "/c.pem"], check=True, capture_output=True)
server = Served(cairn, "--tls-certificate", folder.name + "/c.pem", "--tls-key", folder.name + "/k.pem")
context = ssl.create_default_context(cafile=folder.name + "/c.pem")
context.check_hostname = False
for size in ((4 << 20) + 1, 8 << 20):
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=60, context=context)
    try:
        connection.request("POST", "/v1/signals", b"x" * size, {"authorization": "Bearer " + server.keys["admin"]})
        status = connection.getresponse().status
    except OSError as failed:
        status = failed
    expect(f"413 for {size} bytes over TLS", status == 413, status)
    connection.close()


# A worker that waits for runs and says goodbye, in a message of TLS, gets none.
def secure():
    return context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), timeout=60), server_hostname="localhost")


def ask(method, path, body):
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=60, context=context)
    connection.request(method, path, json.dumps(body), {"authorization": "Bearer " + server.keys["admin"], "content-type": "application/json"})
    return json.loads(connection.getresponse().read())


for number in range(5):
    poll = json.dumps({"worker": "gone", "types": ["demo.x"], "wait": "60s", "lease": "1h"}).encode()
    connection = secure()
    connection.sendall(f"POST /v1/runs/lease HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.keys['admin']}\r\nContent-Type: application/json\r\n"
                       f"Content-Length: {len(poll)}\r\n\r\n".encode() + poll)
    connection.settimeout(0.2)
    try:
        connection.recv(1)
    except OSError:
        pass  # it waits
    connection.settimeout(2)  # much less than the poll waits
    try:
        connection.unwrap()
    except OSError:
        pass
    connection.close()
    run = ask("POST", "/v1/runs", {"type": "demo.x", "payload": number})
    leased = ask("POST", "/v1/runs/lease", {"worker": "there", "types": ["demo.x"], "wait": "30s", "lease": "1h"})["items"]
    expect("who has said goodbye over TLS gets no runs", [item["id"] for item in leased] == [run["id"]], leased)
expect("it ends with 0", server.end() == 0, server.said[-1000:])


# Settings that do not add up are refused at the start.
def refused(*flags):
    said = subprocess.run([cairn, "serve", "--store", server.store, "--listen", "127.0.0.1:0", *flags], capture_output=True, text=True, timeout=60)
    return said.returncode, said.stderr


code, said = refused("--http-body-bytes-max", "5000000")
expect("a larger limit for bodies than works", code == 8 and "http.body_bytes_max is at most 4194304" in said, (code, said))
code, said = refused("--http-bodies-bytes-max", "1000")
expect("less memory than one body takes", code == 8 and "http.bodies_bytes_max" in said, (code, said))
code, said = refused("--listen", "0.0.0.0:0")
expect("credentials in the open", code == 4 and "allow_plain_http" in said, (code, said))
plain = Served(cairn, "--listen", "0.0.0.0:0", "--allow-plain-http", "yes")
expect("who says so may", plain.port is not None and plain.call("GET", "/v1/info").status == 200)
expect("it ends with 0", plain.end() == 0, plain.said[-1000:])
finish()
