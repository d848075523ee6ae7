"""A worker without a client library, for tests: raw_worker.py PORT stop TYPE | work PREFIX

stop: leases one run, stops itself, and when it is continued tries every write with its old fence; prints the statuses.
work: works on everything it can lease until nothing comes; a run whose type ends with .die kills the process."""

import http.client
import json
import os
import signal
import sys

port, mode, wanted = int(sys.argv[1]), sys.argv[2], sys.argv[3]


def call(path, body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response.status, json.loads(text)


if mode == "stop":
    _, leased = call("/v1/runs/lease", {"worker": "stopped", "types": [wanted], "wait": "20s", "lease": "150ms"})
    run = leased["items"][0]
    os.kill(os.getpid(), signal.SIGSTOP)
    fence = {"fence": run["fence"]}
    path = "/v1/runs/%s/" % run["id"]
    print(json.dumps({
        "heartbeat": call(path + "heartbeat", fence)[0],
        "fail": call(path + "fail", dict(fence, error={"code": "late"}))[0],
        "release": call(path + "release", fence)[0],
        "complete": call(path + "complete", dict(fence, result="late"))[0],
    }), flush=True)
else:
    while True:
        _, leased = call("/v1/runs/lease", {"worker": "w", "prefixes": [wanted], "wait": "1s", "lease": "300ms", "max": 1})
        if not leased["items"]:
            break
        for run in leased["items"]:
            if run["type"].endswith(".die"):
                os.kill(os.getpid(), signal.SIGKILL)
            call("/v1/runs/%s/complete" % run["id"], {"fence": run["fence"], "result": run["payload"]})
