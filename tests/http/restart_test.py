#!/usr/bin/env python3
"""restart_test.py CAIRN SOURCE_DIR: restarts under load. A client that tries again only when its connection is refused sees no failure.
CAIRN_RESTARTS says how many; CAIRN_RESTART_DELAY is the servers' drain_delay, with which clients that keep their connections take part too."""
import http.client, json, os, random, re, socket, sys, threading, time
from served import Served, expect, finish

restarts = int(os.environ.get("CAIRN_RESTARTS", "5"))
delay = os.environ.get("CAIRN_RESTART_DELAY", "0s")
keeps = delay not in ("0s", "0")
seed = int(os.environ.get("CAIRN_SEED", "1"))
source = os.path.abspath(sys.argv[2])


def free_port():
    # Not among those that the system gives to others meanwhile.
    dice = random.Random(os.getpid())
    while True:
        port = dice.randrange(20_000, 30_000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


flags = ("--listen", f"127.0.0.1:{free_port()}", "--deploy", os.path.join(source, "examples/hello.yaml"), "--log-level", "error")
environment = {"CAIRN_DRAIN_DELAY": delay}
server = Served(sys.argv[1], *flags, environment=environment)
address = ("127.0.0.1", server.port)
token = "Bearer " + server.keys["admin"]
over = threading.Event()
failures, answered, refused = [], [0] * 8, [0] * 8


def client(number):
    dice = random.Random(f"{seed}/{number}")
    kept = keeps and number % 2 == 0
    connection = None
    while not over.is_set():
        start = dice.random() < 0.5
        try:
            if connection is None:
                connection = http.client.HTTPConnection(*address, timeout=60)
                try:
                    connection.connect()
                except ConnectionRefusedError:
                    refused[number] += 1
                    connection = None
                    time.sleep(0.02)
                    continue
            headers = {"authorization": token, "content-type": "application/json"}
            if not kept:
                headers["connection"] = "close"
            if start:
                connection.request("POST", "/v1/instances", json.dumps({"definition": "hello", "input": {"name": "Ada"}}), headers)
            else:
                connection.request("GET", "/v1/info", headers=headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status not in (200, 201):
                failures.append((number, start, answer.status))
            answered[number] += 1
            if not kept or answer.getheader("connection") == "close":
                connection.close()
                connection = None
        except (OSError, http.client.HTTPException) as failed:
            failures.append((number, start, repr(failed)))
            connection = None


threads = [threading.Thread(target=client, args=(number,)) for number in range(len(answered))]
for thread in threads:
    thread.start()
for _ in range(restarts):
    begun = sum(answered)
    until = time.monotonic() + 60
    while sum(answered) < begun + 40 and time.monotonic() < until:  # under load
        time.sleep(0.005)
    code = server.end()
    expect("SIGTERM ends it with 0", code == 0, server.said[-500:])
    server.start(*flags, environment=environment)
    expect("it starts again on the same port", server.port == address[1], getattr(server, "said", ""))
over.set()
for thread in threads:
    thread.join()
print(f"seed {seed}: {restarts} restarts, {sum(answered)} answers, {sum(refused)} refused connections")
expect("nobody saw a failure", not failures, failures[:5])
expect("requests went through", sum(answered) >= 40 * restarts, answered)
server.end()
checked = server.run("verify", "--store", server.store)
expect("the store is whole", checked.returncode == 0, checked.stdout + checked.stderr)

# While the delay lasts, the server says that it goes, and answers.
shown = server.run("config", "show", env={name: value for name, value in os.environ.items() if name != "CAIRN_DRAIN_DELAY"}).stdout
expect("5 s are the default", re.search(r"^drain_delay\s+5s\b", shown, re.M), shown)
server = Served(sys.argv[1], environment={"CAIRN_DRAIN_DELAY": "60s"})
expect("it is ready", server.call("GET", "/readyz", role=None).status == 200)
server.process.terminate()
until = time.monotonic() + 30
while server.call("GET", "/readyz", role=None).status != 503 and time.monotonic() < until:
    pass
answer = server.call("GET", "/readyz", role=None)
expect("/readyz says no", answer.status == 503 and "draining" in answer.text, answer.text)
answer = server.call("GET", "/v1/info")
expect("requests are answered, and the connection is closed", answer.status == 200 and answer.headers.get("connection") == "close", answer.headers)
expect("a second SIGTERM ends the delay", server.end() == 0, server.said[-500:])
finish()
