#!/usr/bin/env python3
"""kept_signals_test.py CAIRN SOURCE_DIR [postgres]: 16 clients send one instance more signals than it can keep. Those past the limit are refused, the
instance is not suspended, and every acknowledged signal is listed and used. On SQLite, or on the server that CAIRN_TEST_POSTGRES names."""
import http.client, itertools, json, os, sys, threading
from served import Served, expect, finish

CLIENTS, SENT, KEPT = 16, 1100, 1000
store = None
if sys.argv[3:] == ["postgres"]:
    store = "%s&schema=kept_%d" % (os.environ["CAIRN_TEST_POSTGRES"], os.getpid())
server = Served(sys.argv[1], store=store)
expect("it starts", server.port is not None, getattr(server, "said", ""))
made = server.call("POST", "/v1/definitions", text="""
cairn: 1
name: t.late
version: 1.0.0
state: { seen: [] }
steps:
  - task: { name: Check }
  - repeat:
      times: 1000
      steps:
        - signal: { name: other, result: one }
        - set: { seen: "= state.seen + [state.one.n]" }
output: { seen: = state.seen }
""", **{"content-type": "application/yaml"})
expect("the definition is deployed", made.status == 201, made.text)
instance = server.call("POST", "/v1/instances", {"definition": "t.late"}).json["id"]
numbers, answers, lock = itertools.count(), {}, threading.Lock()


def send():
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    headers = {"authorization": "Bearer " + server.keys["admin"], "content-type": "application/json"}
    while True:
        with lock:
            number = next(numbers)
        if number >= SENT:
            return
        connection.request("POST", f"/v1/instances/{instance}/signals", json.dumps({"name": "other", "payload": {"n": number}}), headers)
        answer = connection.getresponse()
        text = answer.read()
        with lock:
            answers[number] = answer.status, text


threads = [threading.Thread(target=send) for _ in range(CLIENTS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
expect("every request is answered", len(answers) == SENT, len(answers))
acknowledged = sorted(number for number, (status, _) in answers.items() if status == 200)
refused = [(status, text) for status, text in answers.values() if status != 200]
expect("as many are acknowledged as can be kept", len(acknowledged) == KEPT, len(acknowledged))
expect("the others are refused with the limit", all(status in (413, 429) and b'"limits.signals_per_instance_max"' in text for status, text in refused), refused[:3])
shown = server.call("GET", f"/v1/instances/{instance}").json
expect("the instance is not suspended", shown["status"] == "waiting" and not shown.get("error"), (shown["status"], shown.get("error")))
listed = sorted(signal["payload"]["n"] for signal in shown.get("signals") or [])
expect("every acknowledged signal is listed", listed == acknowledged, len(listed))
task = server.call("GET", f"/v1/tasks?instance={instance}").json["items"][0]["id"]
ended = server.call("POST", f"/v1/tasks/{task}/complete", {})
expect("the task is completed", ended.status == 200, ended.text)
shown = server.call("GET", f"/v1/instances/{instance}?wait=60s").json
expect("every acknowledged signal is used, each once", shown["status"] == "completed" and sorted(shown["output"]["seen"]) == acknowledged, str(shown)[:300])
expect("SIGTERM ends with 0", server.end() == 0, server.said)
checked = server.run("verify", "--store", server.store)
expect("the store is sound", checked.returncode == 0, checked.stdout + checked.stderr)
finish()
