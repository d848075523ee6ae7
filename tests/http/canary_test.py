#!/usr/bin/env python3
"""canary_test.py CAIRN SOURCE_DIR: secrets pushed through every path that has one, some sent back by a partner that misbehaves: none of
them stands in the log, the database, the history, an answer, the metrics or a trace."""
import base64, json, os, sys, tempfile, urllib.parse
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from receiver import Receiver
from served import Served, expect, finish

CANARY = {"PARTNER": "canary-partner-9f2c\"quoted\"", "BODY": "canary-body-71aa/with+signs=", "TOKEN": "canary-token-55d0"}
OTLP = "canary-otlp-0c1d"
DEFINITION = """
cairn: 1
name: t.call
version: 1.0.0
steps:
  - id: ask
    call:
      http:
        method: POST
        url: = config.url
        headers: { authorization: '= "Bearer " + secret("partner")', x-token: '= secret("token")' }
        body: { password: '= secret("body")', plain: seen }
      retry: { attempts: 2, backoff: 1ms }
      result: answer
"""
calls, spans = [], []


def answer(path, headers, body):
    """What it was sent, in the ways in which others do."""
    if path == "/v1/traces":
        spans.append(body.decode())
        return 200, "{}"
    calls.append((dict(headers), body.decode()))
    secret = headers["authorization"]
    leak = json.dumps({"error": "bad credential " + secret, "body": body.decode()})
    return 500, leak, {"x-said": urllib.parse.quote(secret)}


url = Receiver(answer).url
folder = tempfile.TemporaryDirectory()
settings = os.path.join(folder.name, "cairn.toml")
with open(settings, "w") as file:
    file.write(f'egress = ["{url}"]\n[config]\nurl = "{url}/charge"\n[log]\nlevel = "debug"\nrequests = true\n')
    file.write(f'[otlp]\nendpoint = "{url}"\nheaders = ["x-key={OTLP}"]\n')
os.chmod(settings, 0o600)  # it holds secrets
server = Served(sys.argv[1], "--config", settings, environment={f"CAIRN_SECRET_{name}": value for name, value in CANARY.items()})
expect("it starts", server.port is not None, getattr(server, "said", ""))
server.call("POST", "/v1/definitions", text=DEFINITION, **{"content-type": "application/yaml"})
answers = [server.call("POST", "/v1/instances?wait=30s", {"definition": "t.call"})]
instance = answers[0].json["id"]
expect("the call fails", answers[0].json["status"] == "suspended", answers[0].text)
expect("the partner got the secrets", len(calls) == 2 and calls[0][0]["authorization"] == "Bearer " + CANARY["PARTNER"] and
       json.loads(calls[0][1])["password"] == CANARY["BODY"], calls[:1])
for path in (f"/v1/instances/{instance}", f"/v1/instances/{instance}/history", f"/v1/instances/{instance}/snapshot", f"/v1/instances/{instance}/why",
             f"/v1/runs?instance={instance}", "/v1/dead-letters", "/v1/outbox", "/v1/audit", "/metrics", "/v1/info", "/openapi.json", "/v1/keys"):
    answers.append(server.call("GET", path))
run = server.call("GET", f"/v1/runs?instance={instance}").json["items"][0]["id"]
answers += [server.call("GET", f"/v1/runs/{run}"), server.call("GET", f"/v1/runs/{run}/events")]
answers.append(server.call("GET", "/v1/info", role=None, authorization="Bearer " + CANARY["TOKEN"]))
shown = server.run("config", "show", "--config", settings)
expect("SIGTERM ends with 0", server.end() == 0, server.said)
places = {"the log": server.said, "the settings shown": shown.stdout + shown.stderr, "the traces": "".join(spans),
          "the answers": "\n".join(answer.text for answer in answers)}
path = server.store[len("sqlite:"):]
for suffix in ("", "-wal"):
    if os.path.exists(path + suffix):
        with open(path + suffix, "rb") as file:
            places["the database" + suffix] = file.read().decode("latin-1")
expect("traces were sent", spans and "t.call" in places["the traces"], len(spans))
expect("there was something to look through", len(places["the log"]) > 1000 and "t.call" in places["the database"])
secrets = {**CANARY, "OTLP": OTLP, **{"KEY " + role: key for role, key in server.keys.items()}}
for name, value in secrets.items():
    forms = {value, json.dumps(value)[1:-1], urllib.parse.quote(value), urllib.parse.quote(value, safe=""), base64.b64encode(value.encode()).decode(),
             *([value[:16]] if name in CANARY else [])}
    for where, text in places.items():
        hits = [form for form in forms if form in text]
        expect(f"{name} is not in {where}", not hits, (hits, [text[max(0, text.find(hit) - 200):][:400] for hit in hits[:1]]))
finish()
