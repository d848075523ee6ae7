#!/usr/bin/env python3
"""bulk_restart_test.py CAIRN SOURCE_DIR: a bulk action on 1 000 instances: preview, a kill in the middle, and the rest after the restart. What the preview
counted is what is done, each once. Also: pause, continue, cancel, the list of jobs and of their results."""
import concurrent.futures, signal, sys, time
from served import Served, expect, finish

FLOW = "cairn: 1\nname: t\nversion: 1.0.0\nsteps: [ { task: { name: T } } ]\n"
COUNT = 1000
server = Served(sys.argv[1])
server.call("POST", "/v1/definitions", text=FLOW, **{"content-type": "application/yaml"})
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    made = list(pool.map(lambda n: server.call("POST", "/v1/instances", {"definition": "t", "reference": {"key": f"R-{n}"}}).json["id"], range(COUNT)))

preview = server.call("POST", "/v1/bulk", {"action": "suspend", "filter": "definition:t", "max": 5000, "preview": True})
job = preview.json["id"]
expect("a preview counts and shows the first", preview.status == 201 and preview.json["matched"] == COUNT and len(preview.json["instances"]) == 20 and
       preview.json["instances"][0]["reference"].startswith("R-"), preview.text)
expect("and changes nothing", server.call("GET", "/v1/instances?status=suspended").json["items"] == [] and server.call("GET", f"/v1/bulk/{job}").json["state"] == "preview")
# The selection is frozen: an instance that is started now is not touched.
late = server.call("POST", "/v1/instances", {"definition": "t"}).json["id"]
started = server.call("POST", f"/v1/bulk/{job}/start", {"reason": "the bank is down"})
expect("it begins", started.status == 200 and started.json["state"] == "running" and started.json["reason"] == "the bank is down", started.text)
seen = 0
while seen < 150:
    now = server.call("GET", f"/v1/bulk/{job}?after={seen}").json
    seen = now["done"] + now["failed_count"]
expect("the server is killed in the middle", seen < COUNT, seen)
server.end(signal.SIGKILL)
server.start()
end = time.monotonic() + 120
while True:
    now = server.call("GET", f"/v1/bulk/{job}?after={COUNT - 1}").json
    if now["finished"] or time.monotonic() > end:
        break
expect("another process finishes it", now["state"] == "finished" and now["done"] == COUNT and now["failed_count"] == 0, now)
suspended, cursor = set(), ""
while cursor is not None:
    page = server.call("GET", f"/v1/instances?status=suspended&limit=1000&cursor={cursor}").json
    suspended |= {row["id"] for row in page["items"]}
    cursor = page["next_cursor"]
expect("exactly the previewed instances are suspended", suspended == set(made), (len(suspended), late in suspended))
changes = [sum(1 for entry in server.call("GET", f"/v1/instances/{one}/history").json["items"] if entry["event"] == "suspended") for one in made[::37]]
expect("each once", set(changes) == {1}, changes)
entry = [one for one in server.call("GET", f"/v1/instances/{made[-1]}/history").json["items"] if one["event"] == "suspended"][0]
expect("with the person and the reason", entry["actor"] == "admin-person" and entry["details"]["reason"] == "the bank is down", entry)
items = server.call("GET", f"/v1/bulk/{job}/items?limit=300").json
expect("the results are listed", len(items["items"]) == 300 and {one["outcome"] for one in items["items"]} == {"done"} and items["next_cursor"] == "300", items["next_cursor"])
rest = server.call("GET", f"/v1/bulk/{job}/items?limit=1000&cursor=300").json
expect("to the end", len(rest["items"]) == 700 and rest["next_cursor"] is None, rest["next_cursor"])
jobs = server.call("GET", "/v1/bulk").json["items"]
expect("the job is listed, with who and why", [(one["id"], one["action"], one["person"], one["total"]) for one in jobs] == [(job, "suspend", "admin-person", COUNT)], jobs)
expect("a job that is over stays so", server.call("POST", f"/v1/bulk/{job}/pause").status == 409 and server.call("POST", f"/v1/bulk/{job}/cancel").status == 409)

# A list instead of a filter; failures are kept with their reason.
mixed = server.call("POST", "/v1/bulk", {"action": "resume", "instances": [made[0], late, made[0], "no-such-instance"]}).json
while not (now := server.call("GET", f"/v1/bulk/{mixed['id']}?after=1").json)["finished"]:
    pass
expect("each instance of a list once, unknown ones not at all", mixed["matched"] == 2 and now["total"] == 2 and now["done"] == 1 and
       [one["instance"] for one in now["failed"]] == [late], now)
outcomes = {one["instance"]: one for one in server.call("GET", f"/v1/bulk/{mixed['id']}/items").json["items"]}
expect("the failure has its reason", outcomes[late]["outcome"] == "failed" and outcomes[late]["detail"] and outcomes[made[0]]["outcome"] == "done", outcomes)

# Pause, continue, cancel.
big = server.call("POST", "/v1/bulk", {"action": "resume", "filter": "status:suspended", "max": 5000}).json
paused = server.call("POST", f"/v1/bulk/{big['id']}/pause").json
while (now := server.call("GET", f"/v1/bulk/{big['id']}?after={COUNT}").json)["state"] == "running":
    pass
expect("a paused job stops", now["state"] == "paused" and now["done"] < COUNT and not now["finished"], now)
cancelled = server.call("POST", f"/v1/bulk/{big['id']}/cancel")
expect("a cancelled one is over", cancelled.json["state"] == "cancelled" and cancelled.json["finished"], cancelled.text)
expect("it cannot go on", server.call("POST", f"/v1/bulk/{big['id']}/resume").status == 409)
expect("what it did stays done", len(server.call("GET", "/v1/instances?status=suspended&limit=1000").json["items"]) == COUNT - 1 - now["done"], now["done"])
for path in ("/v1/bulk/nothing-here", "/v1/bulk/nothing-here/items"):
    expect(f"{path} is unknown", server.call("GET", path).status == 404)
expect("both is one too many", server.call("POST", "/v1/bulk", {"action": "resume", "instances": ["a"], "filter": "x"}).status == 422)
expect("a viewer may not look", server.call("GET", "/v1/bulk", role="viewer").status == 403)
expect("it ends with 0", server.end() == 0, server.said[-1000:])
finish()
