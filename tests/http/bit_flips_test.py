#!/usr/bin/env python3
"""bit_flips_test.py CAIRN SOURCE_DIR: single bits of a SQLite store's file are wrong when a server starts on it. Every answer is the right one, or an error;
never another answer, and never 404. CAIRN_SEED repeats a run, CAIRN_FLIPS (40) makes it longer."""
import os, random, sys
from served import Served, expect, finish

seed = int(os.environ.get("CAIRN_SEED", str(random.randrange(1 << 30))))
flips = int(os.environ.get("CAIRN_FLIPS", "40"))
print("seed", seed)
dice = random.Random(seed)
server = Served(sys.argv[1])
made = server.call("POST", "/v1/definitions", text="cairn: 1\nname: t.wait\nversion: 1.0.0\nsteps: [ { task: { name: Check } } ]\n", **{"content-type": "application/yaml"})
expect("the definition is deployed", made.status == 201, made.text)
ids = [server.call("POST", "/v1/instances", {"definition": "t.wait", "reference": {"key": f"K{n}", "parts": {"a": f"v{n}"}}}).json["id"] for n in range(40)]
expect("it ends with 0", server.end() == 0, server.said)
path = server.store[len("sqlite:"):]
with open(path, "rb") as file:
    whole = file.read()


def ask():
    answers = []
    for place in ["/v1/instances?limit=1000", "/v1/tasks?limit=1000", *(f"/v1/instances/{one}{end}" for one in ids for end in ("", "/history"))]:
        try:
            answer = server.call("GET", place)
            answers.append(answer.text if answer.status == 200 else answer.status)
        except OSError:
            answers.append(None)
    return answers


server.start()
right = ask()
expect("all is answered", all(isinstance(one, str) for one in right))
server.end()
refused = 0
for number in range(flips):
    bit = dice.randrange(len(whole) * 8)
    changed = bytearray(whole)
    changed[bit // 8] ^= 1 << bit % 8
    for end in ("-wal", "-shm", ".lock"):  # as a backup is restored
        if os.path.exists(path + end):
            os.remove(path + end)
    with open(path, "wb") as file:
        file.write(changed)
    server.start()
    if server.port is None:
        refused += 1
        continue
    seen = ask()
    wrong = [(at, one, other) for at, (one, other) in enumerate(zip(right, seen)) if one != other and (isinstance(other, str) or other == 404)]
    expect(f"bit {bit} changes no answer (seed {seed})", not wrong, wrong[:1])
    server.process.kill()
    server.process.communicate()
expect("most are repaired", refused <= flips // 4, refused)
finish()
