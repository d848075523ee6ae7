#!/usr/bin/env python3
"""tamper_test.py CAIRN SOURCE_DIR: somebody with every right on the database changes the audit trail: `cairn audit verify` finds it each
time and names the first row that does not fit. CAIRN_TAMPERINGS makes it longer; CAIRN_SEED repeats a run."""
import os, random, shutil, sqlite3, sys
from served import Served, expect, finish

count = int(os.environ.get("CAIRN_TAMPERINGS", "60"))
seed = int(os.environ.get("CAIRN_SEED", "1"))
dice = random.Random(seed)
server = Served(sys.argv[1], "--deploy", os.path.join(sys.argv[2], "examples/hello.yaml"))
for number in range(20):
    id = server.call("POST", "/v1/instances", {"definition": "hello"}).json["id"]
    server.call("POST", f"/v1/instances/{id}/cancel", {"reason": f"reason {number}"})
expect("SIGTERM ends with 0", server.end() == 0, server.said)
path = server.store[len("sqlite:"):]
whole = server.run("audit", "verify", "--store", server.store)
expect("the trail is whole", whole.returncode == 0, whole.stdout)
last_hash = whole.stdout.split()[-1]
copy = path + ".copy"
COLUMNS = ["at", "who", "what", "resource", "why", "origin", "details", "previous_hash", "hash"]


def tamper(database, rows):
    """Does something to the trail; the first row that must be named."""
    at = dice.randrange(1, rows + 1)
    kind = dice.choice(["update", "delete", "swap", "insert", "truncate"])
    if kind == "update":
        column = dice.choice(COLUMNS)
        if column == "at":
            database.execute("UPDATE wf_audit SET at = at + 1 WHERE sequence = ?", (at,))
        elif column in ("hash", "previous_hash"):
            database.execute(f"UPDATE wf_audit SET {column} = ? WHERE sequence = ?", ("%064x" % dice.getrandbits(256), at))
        elif column == "details":
            database.execute("UPDATE wf_audit SET details = '{\"x\":1}' WHERE sequence = ?", (at,))
        else:
            database.execute(f"UPDATE wf_audit SET {column} = {column} || 'x' WHERE sequence = ?", (at,))
        # A changed hash shows at the row itself.
        return kind + " " + column, at
    if kind == "delete" and at < rows:
        database.execute("DELETE FROM wf_audit WHERE sequence = ?", (at,))
        return kind, at + 1  # the next one is what is there, and does not follow
    if kind == "swap" and at < rows:
        for column in ("who", "what", "resource", "why", "details"):
            (one,), (two,) = (database.execute(f"SELECT {column} FROM wf_audit WHERE sequence = ?", (n,)).fetchone() for n in (at, at + 1))
            database.execute(f"UPDATE wf_audit SET {column} = ? WHERE sequence = ?", (two, at))
            database.execute(f"UPDATE wf_audit SET {column} = ? WHERE sequence = ?", (one, at + 1))
        return kind, at
    if kind == "insert":
        database.execute("UPDATE wf_audit SET sequence = -sequence - 1 WHERE sequence >= ?", (at,))
        database.execute("UPDATE wf_audit SET sequence = -sequence WHERE sequence < 0")
        database.execute(f"INSERT INTO wf_audit (sequence, {', '.join(COLUMNS)}) SELECT ?, {', '.join(COLUMNS)} FROM wf_audit ORDER BY random() LIMIT 1", (at,))
        return kind, at
    database.execute("DELETE FROM wf_audit WHERE sequence >= ?", (at,))
    return "truncate", at


found = {}
for number in range(count):
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            shutil.copy(path + suffix, copy + suffix)
    database = sqlite3.connect(copy)
    database.executescript("DROP TRIGGER wf_audit_is_not_changed; DROP TRIGGER wf_audit_is_not_removed;")
    rows = database.execute("SELECT max(sequence) FROM wf_audit").fetchone()[0]
    what, first = tamper(database, rows)
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    said = server.run("audit", "verify", "--store", "sqlite:" + copy, "--hash", last_hash)
    named = int(said.stdout.split()[1].rstrip(":")) if said.stdout.startswith("row ") else None
    expect(f"found: {what} at {first} (seed {seed}, {number})", said.returncode == 1 and named is not None and named <= first + 1, said.stdout + said.stderr)
    found[what.split()[0]] = found.get(what.split()[0], 0) + 1
print(f"seed {seed}: {sum(found.values())} tamperings: {found}")
finish()
