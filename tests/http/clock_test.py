#!/usr/bin/env python3
"""clock_test.py CAIRN SOURCE_DIR SET_CLOCK: the clock of the system is set back an hour under a server, and forward again. Timers, leases and schedules that
exist continue as if nothing had happened. A clock that is set forward makes them due. SET_CLOCK is the library that sets the clock for one process."""
import mmap, os, struct, sys, tempfile, time
from served import Served, expect, finish

folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "clock")
with open(path, "wb") as file:
    file.write(struct.pack("q", 0))
with open(path, "r+b") as file:
    clock = mmap.mmap(file.fileno(), 8)


def set_clock(seconds):
    clock[:8] = struct.pack("q", seconds)


WAITING = """
cairn: 1
name: t.waiting
version: 1.0.0
input: { type: object, properties: { time: { type: string } } }
steps:
  - wait: = duration(input.time)
"""
server = Served(sys.argv[1], environment={"LD_PRELOAD": os.path.abspath(sys.argv[3]), "CAIRN_TEST_CLOCK": path})
expect("it starts", server.port is not None, getattr(server, "said", ""))
deployed = server.call("POST", "/v1/definitions", text=WAITING, **{"content-type": "application/yaml"})
expect("the definition is deployed", deployed.status == 201, deployed.text)
PATIENCE = 45


def start(length):
    return server.call("POST", "/v1/instances", {"definition": "t.waiting", "input": {"time": length}}).json["id"]


def lease(worker, wait="0s", length="3s"):
    return server.call("POST", "/v1/runs/lease", {"worker": worker, "types": ["demo.x"], "wait": wait, "lease": length}).json["items"]


def ends(instance):
    answer = server.call("GET", f"/v1/instances/{instance}?wait={PATIENCE}s")
    return answer.json["status"] == "completed"


def fired(name):
    return sum(item["id"].startswith(name + "@") for item in server.call("GET", "/v1/instances?limit=1000").json["items"])


for back in (0, -3600):
    name = f"beat{-back}"
    timer, later, far = start("3s"), start("4s"), start("40m")
    server.call("POST", "/v1/runs", {"type": "demo.x"})
    expect(f"{back} s: the run is leased", len(lease("first")) == 1)
    made = server.call("POST", "/v1/schedules", {"name": name, "every": "2s", "start": {"definition": "t.waiting", "input": {"time": "0s"}}})
    expect(f"{back} s: the schedule is made", made.status == 201, made.text)
    set_clock(back)
    new = start("2s")
    expect(f"{back} s: the timers fire", ends(timer) and ends(later))
    again = lease("second", f"{PATIENCE}s", "1h")
    expect(f"{back} s: the lease ends", len(again) == 1, again)
    expect(f"{back} s: a new timer fires", ends(new))
    end = time.monotonic() + PATIENCE
    while fired(name) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    expect(f"{back} s: the schedule fires", fired(name) >= 2)
    expect(f"{back} s: a timer that is not due waits", server.call("GET", f"/v1/instances/{far}").json["status"] == "waiting")
    server.call("DELETE", f"/v1/schedules/{name}")
    server.call("POST", f"/v1/runs/{again[0]['id']}/complete", {"fence": again[0]["fence"]})
set_clock(3600)
expect("a clock that is set forward makes a timer due", ends(far))
expect("SIGTERM ends with 0", server.end() == 0, server.said[-2000:])
checked = server.run("verify", "--store", server.store)
expect("verify finds nothing", checked.returncode == 0, checked.stdout + checked.stderr)
finish()
