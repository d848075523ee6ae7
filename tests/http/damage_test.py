#!/usr/bin/env python3
"""damage_test.py CAIRN SOURCE_DIR: the file of a SQLite store is damaged, taken away or changed by others while a server runs on it, and between
two starts. Nothing that was acknowledged is answered with 404, and nothing is acknowledged that would be lost."""
import os, sqlite3, sys, time
from served import Served, expect, finish


def serve():
    made = Served(sys.argv[1])
    with open(os.path.join(sys.argv[2], "examples/hello.yaml")) as file:
        deployed = made.call("POST", "/v1/definitions", text=file.read(), **{"content-type": "application/yaml"})
    expect("the definition is deployed", deployed.status == 201, deployed.text)
    return made


server = serve()
path = server.store[len("sqlite:"):]


def start():
    return server.call("POST", "/v1/instances", {"definition": "hello"})


def until(what, holds, seconds=60):
    """Polls: the server puts its log into the file when it has been idle for a while."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            expect(what, False, "not within a minute")
            return
        time.sleep(0.05)
    expect(what, True)


def content():
    with open(path, "rb") as file:
        return file.read()


def damage(at):
    with open(path, "r+b") as file:
        for place in range(at, at + 40, 7):
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 0xFF]))


ids = [start().json["id"] for _ in range(60)]
victim = ids[30]
snapshot = f'"{victim}"'.encode()
until("the log goes into the file", lambda: snapshot in content())
before = content()
damage(before.index(snapshot))
# A connection may have the page in its cache until the store has released its caches.
until("an instance on a damaged page is no 404", lambda: server.call("GET", f"/v1/instances/{victim}").status == 500)
answer = server.call("GET", f"/v1/instances/{victim}")
expect("it is named, with the reason", victim in answer.text and "corrupt" in answer.text and "checksum" in answer.text, answer.text)
expect("others are answered", server.call("GET", f"/v1/instances/{ids[0]}").status == 200)
expect("others begin", start().status == 201)
expect("SIGTERM ends with 0", server.end() == 0, server.said)
found = server.run("verify", "--store", server.store)
expect("verify goes on and names it", found.returncode == 1 and "I-35" in found.stdout and victim in found.stdout, found.stdout)
# More pages, which are not even pages of a table any more, and entries of the index of ids.
others = [ids[5], ids[55]]
for other in others:
    page = before.index(f'"{other}"'.encode()) // 4096
    with open(path, "r+b") as file:
        file.seek(page * 4096)
        file.write(bytes(8))
found = server.run("verify", "--store", server.store)
expect("verify names the instances of every damaged page", found.returncode == 1 and all(one in found.stdout for one in [victim, *others]), found.stdout + found.stderr)
server.start()
expect("a damaged file is not served", server.port is None and "damaged" in server.said and "wf_runtime_states" in server.said, server.said)

# Entries of the index of ids are wrong: no instance is taken for absent.
bytes_ = bytearray(before)
entries = 0
at = before.find(victim.encode())
while at >= 0:
    if before[at - 1:at] != b'"' and before[at // 4096 * 4096] == 10:  # a leaf of an index
        bytes_[at + 10] ^= 1
        bytes_[at + 11] ^= 3
        entries += 1
    at = before.find(victim.encode(), at + 1)
expect("the id is in an index", entries > 0)
with open(path, "wb") as file:
    file.write(bytes_)
server.start()
status = server.call("GET", f"/v1/instances/{victim}").status if server.port else None
expect("a damaged index is not served", server.port is None and "index" in server.said, status)
if server.port:
    server.end()
found = server.run("verify", "--store", server.store)
expect("verify names the index", found.returncode == 1 and "an index of wf_instances" in found.stdout, found.stdout + found.stderr)

# One wrong bit is put right.
with open(path, "wb") as file:
    file.write(before)
at = before.index(snapshot)
with open(path, "r+b") as file:
    file.seek(at)
    file.write(bytes([before[at] ^ 4]))
for end in ("-wal", "-shm", ".lock"):  # as a backup is restored
    if os.path.exists(path + end):
        os.remove(path + end)
server.start()
expect("one wrong bit is no reason to stop", server.port is not None, getattr(server, "said", ""))
expect("and the answer is right", server.call("GET", f"/v1/instances/{victim}").json["status"] == "waiting")

# An operator moves the file away.
expect("it is ready", server.call("GET", "/readyz", role=None).status == 200)
os.rename(path, path + ".moved")
until("nothing is acknowledged in a file that is gone", lambda: start().status == 503)
until("and it is not ready", lambda: server.call("GET", "/readyz", role=None).status == 503)
os.rename(path + ".moved", path)
until("until it is back", lambda: server.call("GET", "/readyz", role=None).status == 200)
until("then it goes on", lambda: start().status == 201)

# Another program writes with SQL so much that SQLite puts the log into the file.
with sqlite3.connect(path, timeout=60) as database:
    database.execute("UPDATE wf_tasks SET payload = json_object('text', hex(zeroblob(60000)))")
database.close()
tasks = [server.call("GET", f"/v1/tasks?instance={instance}") for instance in ids]
expect("what another program wrote is read", all(answer.status == 200 and len(answer.text) > 100_000 for answer in tasks), tasks[0].text[:300])
expect("and writing goes on", start().status == 201 and server.call("GET", "/readyz", role=None).status == 200)

# A newer cairn changes the schema.
with sqlite3.connect(path) as database:
    schema = database.execute("PRAGMA user_version").fetchone()[0]
    database.execute(f"PRAGMA user_version = {schema + 100}")
database.close()
expect("a newer schema ends the writing", start().status == 501, start().text)
until("and the readiness", lambda: server.call("GET", "/readyz", role=None).status == 503)
expect("reading goes on", server.call("GET", f"/v1/instances/{victim}").status == 200)
with sqlite3.connect(path) as database:
    database.execute(f"PRAGMA user_version = {schema}")
database.close()
expect("SIGTERM ends with 0 again", server.end() == 0, server.said)

# A store that is gone is not made anew.
os.rename(path, path + ".moved")
server.start()
expect("a store that is gone is missed", server.port is None and "gone" in server.said, server.said)
expect("and not made anew", not os.path.exists(path))
os.rename(path + ".moved", path)
server.start()
expect("it is served again", server.port is not None and server.call("GET", f"/v1/instances/{victim}").status == 200)
server.end()

# Files of a running server that are cut or deleted.
for what, harm in (("file is deleted", lambda at: [os.remove(at + end) for end in ("", "-wal", "-shm")]), ("file is emptied", lambda at: os.truncate(at, 0)),
                   ("log is cut", lambda at: os.truncate(at + "-wal", 100))):
    server = serve()
    for _ in range(20):
        expect("it begins", start().status == 201)
    harm(server.store[len("sqlite:"):])
    acknowledged, last = 0, 201
    end = time.monotonic() + 30
    while last == 201 and time.monotonic() < end:
        last = start().status
        acknowledged += last == 201
    # The files are looked at every 50 ms of commits.
    expect(f"the {what}: nothing more is acknowledged", last in (500, 503) and acknowledged <= 400, (last, acknowledged))
    expect(f"the {what}: and it is not ready", server.call("GET", "/readyz", role=None).status == 503)
    server.end()
finish()
