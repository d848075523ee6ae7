#!/usr/bin/env python3
"""serve_test.py CAIRN SOURCE_DIR: how a server starts, refuses to start, drains, and where its settings come from."""
import ctypes, json, os, socket, ssl, subprocess, sys, tempfile, threading
from served import Served, expect, finish, slack

cairn, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
folder = tempfile.TemporaryDirectory()


def cairn_says(*arguments, **environment):
    return subprocess.run([cairn, *arguments], capture_output=True, text=True, timeout=60, env={**os.environ, **environment})


# Refusals, each with what to do.
store = "sqlite:" + folder.name + "/a.db"
said = cairn_says("serve", "--store", store, "--listen", "127.0.0.1:0")
expect("without any key it does not start", said.returncode == 4 and "cairn keys create" in said.stderr, said.stderr)
said = cairn_says("serve", "--store", store, "--listen", "0.0.0.0:0", "--auth", "none")
expect("without authentication only on this machine", said.returncode == 4 and "this machine only" in said.stderr, said.stderr)
said = cairn_says("serve")
expect("without a store", said.returncode == 2 and "--store" in said.stderr, said.stderr)
said = cairn_says("serve", "--store", store, "--tls-key", "k.pem", "--auth", "none")
expect("half of TLS", said.returncode == 8 and "tls.certificate" in said.stderr, said.stderr)
said = cairn_says("serve", "--store", store, CAIRN_WORKERS="many")
expect("a wrong variable is named", said.returncode == 8 and "CAIRN_WORKERS" in said.stderr, said.stderr)

# Where settings come from.
toml = os.path.join(folder.name, "cairn.toml")
with open(toml, "w") as file:
    file.write('listen = "127.0.0.1:9"\nnode = "n1"\n\n[log]\nrequests = true\n[config]\nrate = 3\n')
with open(os.path.join(folder.name, "url"), "w") as file:
    file.write("postgres://cairn:hunter2@db/x\n")
said = cairn_says("config", "show", "--config", toml, "--listen", "127.0.0.1:7", CAIRN_NODE="n2", CAIRN_STORE_FILE=folder.name + "/url")
expect("config show", said.returncode == 0, said.stderr)
lines = {line.split()[0]: line for line in said.stdout.splitlines()}
expect("a flag wins", "127.0.0.1:7" in lines["listen"] and "--listen" in lines["listen"], lines["listen"])
expect("a variable wins over the file", "n2" in lines["node"] and "CAIRN_NODE" in lines["node"], lines["node"])
expect("the file wins over the default", "cairn.toml:5" in lines["log.requests"], lines["log.requests"])
expect("a password is not shown", "hunter2" not in said.stdout and "***@db" in lines["store"], lines["store"])
shown = json.loads(cairn_says("config", "show", "--json").stdout)
expect("as JSON too", shown["drain"] == {"value": "30s", "origin": "default"}, shown["drain"])
expect("limits and warn mode are settings", shown["definitions"]["value"] == "strict" and shown["limits.state_bytes_max"]["value"] == "1048576" and
       shown["limits.steps_per_slice_max"]["value"] == "100000" and shown["limits.signals_per_instance_max"]["value"] == "1000", shown.keys())
said = cairn_says("config", "show", "--definitions", "maybe")
expect("another mode is an error", said.returncode != 0 and "strict" in said.stderr, said.stderr)

# A definition that cannot be used: strict refuses to start, warn starts without it.
bad = os.path.join(folder.name, "bad.yaml")
with open(bad, "w") as file:
    file.write("cairn: 1\nname: bad\nversion: 1.0.0\nsteps: [ { wiat: 1h } ]\n")
hello = os.path.join(source, "examples/hello.yaml")
strict = Served(cairn, "--deploy", f"{hello},{bad}")
expect("strict does not start", strict.port is None and "did you mean `wait`" in strict.said, getattr(strict, "said", ""))
warned = Served(cairn, "--deploy", f"{hello},{bad}", "--definitions", "warn", "--limits-steps-per-slice-max", "20", "--limits-definition-bytes-max", "3000",
                "--limits-definition-nodes-max", "100", "--limits-json-depth-max", "12", "--limits-expression-steps-max", "1000")
expect("warn starts", warned.port is not None, getattr(warned, "said", ""))
expect("without the bad one", [row["name"] for row in warned.call("GET", "/v1/definitions").json["items"]] == ["hello"])
LOOP = "cairn: 1\nname: loop\nversion: 1.0.0\nsteps: [ { repeat: { times: 30, steps: [ { set: { a: 1 } } ] } } ]\n"
warned.call("POST", "/v1/definitions", text=LOOP, **{"content-type": "application/yaml"})
over = warned.call("GET", "/v1/instances/" + warned.call("POST", "/v1/instances", {"definition": "loop"}).json["id"]).json
expect("a limit of instances is a setting", over["status"] == "suspended" and over["error"]["code"] == "limit_steps", over)
SUM = "cairn: 1\nname: sum\nversion: 1.0.0\nsteps: [ { set: { a: '= lists.range(100).map(x, lists.range(100).map(y, x * y))' } } ]\n"
warned.call("POST", "/v1/definitions", text=SUM, **{"content-type": "application/yaml"})
over = warned.call("GET", "/v1/instances/" + warned.call("POST", "/v1/instances", {"definition": "sum"}).json["id"]).json
expect("an error names the limit of expressions and its value", over["error"]["code"] == "cost_exceeded" and "1000 steps (limit: steps of an expression)" in
       over["error"]["message"], over)
for what, rest in (("bytes", "title: " + "x" * 3000 + "\nsteps: [ { wait: 1h } ]"), ("nodes", "steps: [" + "{ wait: 1h }," * 60 + "]"),
                   ("depth", "steps: [ { set: { a: " + "[" * 12 + "]" * 12 + " } } ]")):
    refused = warned.call("POST", "/v1/definitions", text=f"cairn: 1\nname: large\nversion: 1.0.0\n{rest}\n", **{"content-type": "application/yaml"})
    expect(f"the limit of definitions holds over HTTP: {what}", refused.status == 422, (refused.status, refused.text))
expect("it stops", warned.end() == 0)

# A long poll and a stream end when the server drains; requests in progress are answered.
server = Served(cairn, "--config", toml, "--deploy", os.path.join(source, "examples/hello.yaml"))
expect("it starts", server.port is not None, getattr(server, "said", ""))
answers = []
poll = threading.Thread(target=lambda: answers.append(
    server.call("POST", "/v1/runs/lease", {"worker": "w", "prefixes": ["demo."], "wait": "60s"}, role="worker")))
poll.start()
stream = socket.create_connection(("127.0.0.1", server.port), timeout=60)
stream.sendall(f"GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.keys['viewer']}\r\n\r\n".encode())
expect("a stream begins", b"text/event-stream" in stream.recv(4096))
waiting = threading.Thread(target=lambda: answers.append(
    server.call("POST", "/v1/instances?wait=2s", {"definition": "hello", "input": {"name": "Ada"}}, role="starter")))
waiting.start()
waiting.join()
expect("a wait answers when its time is over", answers[0].status == 201 and answers[0].json["status"] == "waiting", answers[0].text)
said = cairn_says("list", "--server", f"http://127.0.0.1:{server.port}", CAIRN_TOKEN="")
expect("who has no key is told how to get one", said.returncode == 4 and "CAIRN_TOKEN" in said.stderr and "cairn keys create" in said.stderr, said.stderr)
metrics = server.call("GET", "/metrics").text
expect("metrics count requests", 'cairn_http_requests_total{operation="startInstance",status="201"} 1' in metrics, metrics[:1500])
expect("and have no ids", answers[0].json["id"] not in metrics)
looks = []
look = threading.Thread(target=lambda: looks.append(server.call("GET", f"/v1/instances/{answers[0].json['id']}?after=999&wait=60s")))
look.start()
while 'cairn_http_connections 4' not in server.call("GET", "/metrics").text:  # the poll, the stream, the look, and this one
    pass
expect("SIGTERM ends with 0", server.end() == 0, server.said[-2000:])
poll.join(30)
expect("the long poll was answered with nothing", len(answers) == 2 and answers[1].status == 200 and answers[1].json["items"] == [],
       answers[-1].text)
look.join(30)
expect("who waits for an instance is told how it is", looks and looks[0].status == 200 and looks[0].json["status"] == "waiting", looks)
rest = b""
while chunk := stream.recv(4096):
    rest += chunk
expect("the stream ended properly", rest.endswith(b"0\r\n\r\n"), rest)
logs = [json.loads(line) for line in server.said.splitlines() if line.startswith("{")]
requests = [line for line in logs if line["event"] == "http.request"]
expect("requests are logged as JSON with their trace", requests and all(len(line["trace"]) == 32 for line in requests), server.said[:500])
expect("no key is in the log", all(key not in server.said for key in server.keys.values()))

# TLS 1.2 or later.
subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                "-keyout", folder.name + "/k.pem", "-out", folder.name + "/c.pem"], check=True, capture_output=True)
server = Served(cairn, "--tls-certificate", folder.name + "/c.pem", "--tls-key", folder.name + "/k.pem")
expect("it starts with TLS", server.port is not None, getattr(server, "said", ""))


def over_tls(minimum=None, maximum=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(folder.name + "/c.pem")
    if maximum:
        context.minimum_version = minimum
        context.maximum_version = maximum
        context.set_ciphers("ALL:@SECLEVEL=0")
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as secure:
            secure.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            text = b""
            while chunk := secure.recv(4096):
                text += chunk
            return secure.version(), text.decode()


version, text = over_tls()
expect("TLS 1.3, two requests on one connection", version == "TLSv1.3" and text.count("HTTP/1.1 200") == 2, (version, text))
expect("answers over TLS say so", "strict-transport-security" in text, text)
version, text = over_tls(ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2)
expect("TLS 1.2", version == "TLSv1.2" and "HTTP/1.1 200" in text, version)
try:
    over_tls(ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1)
    expect("TLS 1.1 is refused", False)
except (ssl.SSLError, OSError):
    expect("TLS 1.1 is refused", True)
with socket.create_connection(("127.0.0.1", server.port), timeout=30) as plain:
    plain.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
    try:
        said = plain.recv(4096)
    except OSError:
        said = b""
    expect("plain HTTP on the TLS port is refused", b"200" not in said, said)
# Where the kernel has Landlock, the server confines itself and gains no privileges by programs that it could start. A sanitizer could not
# work in such a process.
if sys.platform == "linux" and slack(cairn) == 1 and ctypes.CDLL(None).syscall(444, None, 0, 1) > 0:  # landlock_create_ruleset: its version
    with open(f"/proc/{server.process.pid}/status") as file:
        expect("the server is confined", "NoNewPrivs:\t1\n" in file.read())
expect("it ends with 0", server.end() == 0, server.said)
finish()
