#!/usr/bin/env python3
"""routes_test.py CAIRN SOURCE_DIR: every route of the server, with good and bad requests.

The list of routes comes from the server (/openapi.json). Each operation needs an entry in GOOD below that makes it succeed; one
without an entry fails this test. Bad requests are made from the schemas: none may be answered with 5xx."""
import concurrent.futures, contextlib, gzip, hashlib, hmac, http.client, json, os, random, re, sqlite3, sys, time, urllib.parse
from served import Served, expect, finish

cairn, source = sys.argv[1], sys.argv[2]
seed = int(os.environ.get("CAIRN_SEED", "1"))
random.seed(seed)
HOOK = {"name": "test", "id": "0123456789abcdef0123456789abcdef", "secret": "0123456789abcdef0123456789abcdef"}
server = Served(cairn, "--deploy", os.path.join(source, "examples/hello.yaml"), "--hooks", json.dumps([HOOK]))
WAITING = """
cairn: 1
name: t.wait
version: 1.0.0
input: { type: object }
reference: { key: '= input.?ref.orValue("none")', parts: { customer: '= input.?customer.orValue("nobody")' } }
steps:
  - id: review
    task: { name: Review, title: Look, result: seen, roles: [clerk] }
  - emit: { type: t.done, subject: = ref.key, data: { ok: true } }
"""
FAILING = """
cairn: 1
name: t.fail
version: 1.0.0
steps:
  - { id: bad, set: { x: '= state.nothing' } }
"""
QUICK = """
cairn: 1
name: t.quick
version: 1.0.0
steps: [ { emit: { type: t.quick, subject: q, data: { n: 1 } } } ]
output: { done: true }
"""
YAML = {"content-type": "application/yaml"}


def ok(answer, *statuses):
    return answer.status in (statuses or (200, 201, 202, 204))


def start(definition, **more):
    return server.call("POST", "/v1/instances", {"definition": definition, "input": more})


def hook():
    body, stamp = json.dumps({"specversion": "1.0", "id": "h1", "source": "/t", "type": "t.in", "data": {}}), str(int(time.time()))
    signed = f"{stamp}\n{HOOK['id']}\ncontent-type:application/json\n\n{body}"
    signature = hmac.new(HOOK["secret"].encode(), signed.encode(), hashlib.sha256).hexdigest()
    return server.call("POST", "/v1/hooks/" + HOOK["id"], role=None, text=body, cairn_timestamp=stamp, cairn_signature="v2=" + signature)


def task_of(instance):
    return server.call("GET", f"/v1/tasks?instance={instance}").json["items"][0]


def leased(kind="demo.work.v1"):
    server.call("POST", "/v1/runs", {"type": kind, "payload": {}})
    return server.call("POST", "/v1/runs/lease", {"worker": "w", "types": [kind]}).json["items"][0]


def run_call(verb, **body):
    run = leased()
    return server.call("POST", f"/v1/runs/{run['id']}/{verb}", {"fence": run["fence"], **body})


def task_call(verb, body=None):
    return server.call("POST", f"/v1/tasks/{task_of(start('t.wait').json['id'])['id']}/{verb}", body)


def instance_call(verb, body=None, definition="t.wait", method="POST"):
    return server.call(method, f"/v1/instances/{start(definition).json['id']}/{verb}", body)


def bulk():
    found = start("t.wait", customer="bulk")
    preview = server.call("POST", "/v1/bulk", {"action": "cancel", "filter": "part.customer:bulk", "dry_run": True})
    expect("a preview changes nothing", ok(preview, 200) and preview.json["matched"] == 1 and
           server.call("GET", "/v1/instances/" + found.json["id"]).json["status"] == "waiting", preview.text)
    expect("everything must be meant", server.call("POST", "/v1/bulk", {"action": "cancel"}).status == 422)
    return server.call("POST", "/v1/bulk", {"action": "cancel", "filter": "part.customer:bulk", "reason": "test"})


def bulk_progress():
    job = server.call("POST", "/v1/bulk", {"action": "cancel", "filter": "definition:nobody"}).json["id"]
    return server.call("GET", "/v1/bulk/" + job)


def bulk_preview():
    start("t.wait", customer="preview")
    answer = server.call("POST", "/v1/bulk", {"action": "cancel", "filter": "part.customer:preview", "preview": True})
    expect("a preview has an id", ok(answer, 201), answer.text)
    return answer.json["id"]


def task_link():
    return server.call("POST", f"/v1/tasks/{task_of(start('t.wait').json['id'])['id']}/link", {"person": "ann"})


def events():
    """From the beginning: the stream gives what has already happened, with ids to go on from."""
    start("t.quick")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", "/v1/events?type=t.", headers={"authorization": "Bearer " + server.keys["viewer"], "last-event-id": "0"})
    answer = connection.getresponse()
    seen = b""
    while b"t.quick" not in seen:
        seen += answer.read1()
    number = int(re.search(rb"id: (\d+)", seen).group(1))
    expect("an event is a CloudEvent", b'"specversion":"1.0"' in seen, seen)
    connection.close()
    start("t.quick")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", "/v1/events?type=t.quick", headers={"authorization": "Bearer " + server.keys["viewer"], "last-event-id": str(number)})
    more = b""
    answer = connection.getresponse()
    while b"id: " not in more:
        more += answer.read1()
    expect("it goes on after the last one", int(re.search(rb"id: (\d+)", more).group(1)) > number, more)
    connection.close()
    return server.call("GET", "/v1/events")


def final():
    instance = start("t.quick").json["id"]
    return server.call("DELETE", f"/v1/instances/{instance}?reason=test")


def suspended():
    return start("t.fail").json["id"]


def keeping():
    instance = start("t.wait").json["id"]
    server.call("POST", f"/v1/instances/{instance}/signals", {"name": "nobody-waits-for-this", "id": "kept.1"})
    kept = server.call("GET", f"/v1/instances/{instance}/snapshot").json["signals"][0]["id"]  # with a mark of its sender
    return f"{instance}/signals/{urllib.parse.quote(kept, safe='')}"


def new_key():
    return server.call("POST", "/v1/keys", {"subject": "s", "roles": ["viewer"], "scope": {"task_roles": ["clerk"]}, "expires_in": "1d"})


def put_type():
    return server.call("PUT", "/v1/run-types/demo.typed.v1", {"concurrency": 2})


def deploy(text, **query):
    return server.call("POST", "/v1/definitions" + "".join("?" + k for k in query), text=text, **YAML)


def schedule(verb=None, method="POST", body=None):
    """A new schedule, and a call about it."""
    global schedules
    schedules += 1
    name = f"s{schedules}"
    made = server.call("POST", "/v1/schedules", {"name": name, "every": "1h", "start": {"definition": "t.quick"}})
    return made if verb is None else server.call(method, f"/v1/schedules/{name}{verb}", body)


def dead_letter(verb="", method="GET"):
    """A worker takes a run with one attempt and is never heard of again."""
    run = server.call("POST", "/v1/runs", {"type": "demo.lost.v1", "max_attempts": 1}).json["id"]
    server.call("POST", "/v1/runs/lease", {"worker": "w", "types": ["demo.lost.v1"], "lease": "100ms"})
    until = time.monotonic() + 20
    while time.monotonic() < until:
        for letter in server.call("GET", "/v1/dead-letters?limit=1000").json["items"]:
            if run in json.dumps(letter):
                return server.call(method, f"/v1/dead-letters/{letter['id']}{verb}")
    raise SystemExit("a run whose lease has ended for the last time is no dead letter")


def outbox(verb="", method="GET"):
    start("t.quick")
    number = server.call("GET", "/v1/outbox?limit=1").json["items"][0]["sequence"]
    return server.call(method, f"/v1/outbox/{number}{verb}")


schedules = 0
GOOD = {
    "openapi": lambda: server.call("GET", "/openapi.json"),
    "readyz": lambda: server.call("GET", "/readyz"),
    "healthz": lambda: server.call("GET", "/healthz"),
    "livez": lambda: server.call("GET", "/livez"),
    "metrics": lambda: server.call("GET", "/metrics"),
    "getSession": lambda: server.call("GET", "/v1/session"),
    "createSession": lambda: server.call("POST", "/v1/session"),
    "endSession": lambda: server.call("DELETE", "/v1/session"),
    "getInfo": lambda: server.call("GET", "/v1/info"),
    "listFunctions": lambda: server.call("GET", "/v1/functions"),
    "deployDefinition": lambda: deploy(QUICK.replace("1.0.0", "1.0.1")),
    "listDefinitions": lambda: server.call("GET", "/v1/definitions?limit=2"),
    "getDefinition": lambda: server.call("GET", "/v1/definitions/hello"),
    "getCanonical": lambda: server.call("GET", "/v1/definitions/hello/1.0.0"),
    "getDefinitionSource": lambda: server.call("GET", "/v1/definitions/hello/1.0.0/source?to=cpp"),
    "getDefinitionDiagram": lambda: server.call("GET", "/v1/definitions/hello/1.0.0/diagram?format=svg"),
    "getNewestDiagram": lambda: server.call("GET", "/v1/definitions/hello/diagram"),
    "retireDefinition": lambda: (deploy(QUICK.replace("1.0.0", "1.0.2")), server.call("DELETE", "/v1/definitions/t.quick/1.0.2"))[1],
    "startInstance": lambda: server.call("POST", "/v1/instances?wait=5s", {"definition": "t.quick"}),
    "listInstances": lambda: server.call("GET", "/v1/instances?status=waiting&definition=t.wait&version=1.0.0&part=customer:nobody&q=t.wait"
                                                "&from=2020-01-01T00:00:00Z&to=2099-01-01T00:00:00Z&limit=5&filter=ref:none"),
    "getInstance": lambda: server.call("GET", "/v1/instances/" + start("t.wait").json["id"]),
    "getHistory": lambda: server.call("GET", f"/v1/instances/{start('t.wait').json['id']}/history"),
    "getSnapshot": lambda: server.call("GET", f"/v1/instances/{start('t.wait').json['id']}/snapshot"),
    "getInstanceDiagram": lambda: server.call("GET", f"/v1/instances/{start('t.wait').json['id']}/diagram"),
    "explainInstance": lambda: server.call("GET", f"/v1/instances/{start('t.wait').json['id']}/why"),
    "deleteInstance": final,
    "signalInstance": lambda: instance_call("signals", {"name": "x", "payload": 1}),
    "cancelInstance": lambda: instance_call("cancel", {"reason": "test"}),
    "suspendInstance": lambda: instance_call("suspend", {"reason": "test"}),
    "resumeInstance": lambda: (lambda id: (server.call("POST", f"/v1/instances/{id}/suspend"), server.call("POST", f"/v1/instances/{id}/resume"))[1])(
        start("t.wait").json["id"]),
    "retryInstance": lambda: server.call("POST", f"/v1/instances/{suspended()}/retry"),
    "discardSignal": lambda: server.call("DELETE", f"/v1/instances/{keeping()}"),
    "skipStep": lambda: server.call("POST", f"/v1/instances/{suspended()}/skip", {"result": 1}),
    "editState": lambda: server.call("PATCH", f"/v1/instances/{suspended()}/state", {"nothing": 1}),
    "sendSignal": lambda: server.call("POST", "/v1/signals", {"name": "x", "key": "k", "payload": 1, "ttl": "1h"}),
    "listSignals": lambda: server.call("GET", "/v1/signals?name=x"),
    "discardKeptSignal": lambda: (lambda: (server.call("POST", "/v1/signals", {"name": "t.drop", "payload": 1}),
                                           server.call("DELETE", f"/v1/signals/{server.call('GET', '/v1/signals?name=t.drop').json['items'][0]['number']}?reason=test"))[1])(),
    "listTasks": lambda: server.call("GET", "/v1/tasks?role=clerk&q=look&filter=name:Review"),
    "getTask": lambda: server.call("GET", "/v1/tasks/" + task_of(start("t.wait").json["id"])["id"]),
    "getTaskEvents": lambda: server.call("GET", f"/v1/tasks/{task_of(start('t.wait').json['id'])['id']}/events"),
    "assignTask": lambda: server.call("POST", f"/v1/tasks/{task_of(start('t.wait').json['id'])['id']}/assign", {}, role="task_worker"),
    "releaseTask": lambda: (lambda id: (server.call("POST", f"/v1/tasks/{id}/assign", {}, role="task_worker"),
                                        server.call("POST", f"/v1/tasks/{id}/release", role="task_worker"))[1])(task_of(start("t.wait").json["id"])["id"]),
    "reassignTask": lambda: server.call("POST", f"/v1/tasks/{task_of(start('t.wait').json['id'])['id']}/reassign", {"assignee": "task_worker-person"}, role="task_worker"),
    "commentTask": lambda: server.call("POST", f"/v1/tasks/{task_of(start('t.wait').json['id'])['id']}/comment", {"comment": "hm"}, role="task_worker"),
    "completeTask": lambda: server.call("POST", f"/v1/tasks/{task_of(start('t.wait').json['id'])['id']}/complete", {"payload": {}}, role="task_worker"),
    "submitRun": lambda: server.call("POST", "/v1/runs", {"type": "demo.x.v1", "payload": 1}),
    "submitRuns": lambda: server.call("POST", "/v1/runs/batch", {"runs": [{"type": "demo.x.v1"}]}),
    "leaseRuns": lambda: server.call("POST", "/v1/runs/lease", {"worker": "w", "prefixes": ["demo.y."], "wait": "1ms"}),
    "reportRuns": lambda: (lambda run: server.call("POST", "/v1/runs/report", {"reports": [{"id": run["id"], "fence": run["fence"], "result": 1}]}))(leased()),
    "heartbeatRun": lambda: run_call("heartbeat"),
    "heartbeatRuns": lambda: (lambda run: server.call("POST", "/v1/runs/heartbeat", {"runs": [{"id": run["id"], "fence": run["fence"]}]}))(leased()),
    "releaseRuns": lambda: (lambda run: server.call("POST", "/v1/runs/release", {"runs": [{"id": run["id"], "fence": run["fence"]}]}))(leased()),
    "completeRun": lambda: run_call("complete", result=1),
    "failRun": lambda: run_call("fail", error={"message": "no"}),
    "releaseRun": lambda: run_call("release"),
    "cancelRun": lambda: server.call("POST", f"/v1/runs/{leased()['id']}/cancel"),
    "listRuns": lambda: server.call("GET", "/v1/runs?limit=2"),
    "getRun": lambda: server.call("GET", "/v1/runs/" + leased()["id"]),
    "getRunEvents": lambda: server.call("GET", f"/v1/runs/{leased()['id']}/events"),
    "deleteRun": lambda: (lambda run: (server.call("POST", f"/v1/runs/{run['id']}/complete", {"fence": run["fence"]}),
                                       server.call("DELETE", f"/v1/runs/{run['id']}?reason=test"))[1])(leased()),
    "listRunTypes": lambda: server.call("GET", "/v1/run-types"),
    "getRunType": lambda: (put_type(), server.call("GET", "/v1/run-types/demo.typed.v1"))[1],
    "putRunType": put_type,
    "deleteRunType": lambda: (put_type(), server.call("DELETE", "/v1/run-types/demo.typed.v1"))[1],
    "streamEvents": events,
    "startBulk": bulk,
    "getBulk": bulk_progress,
    "listBulk": lambda: (bulk_preview(), server.call("GET", "/v1/bulk"))[1],
    "listBulkItems": lambda: server.call("GET", f"/v1/bulk/{bulk_preview()}/items?limit=2"),
    "beginBulk": lambda: server.call("POST", f"/v1/bulk/{bulk_preview()}/start", {"reason": "test"}),
    "pauseBulk": lambda: server.call("POST", f"/v1/bulk/{bulk_preview()}/pause"),
    "resumeBulk": lambda: server.call("POST", f"/v1/bulk/{bulk_preview()}/resume"),
    "cancelBulk": lambda: server.call("POST", f"/v1/bulk/{bulk_preview()}/cancel"),
    "listErrors": lambda: (suspended(), server.call("GET", "/v1/errors?window=1h"))[1],
    "getDraft": lambda: server.call("GET", f"/v1/tasks/{task_of(start('t.wait').json['id'])['id']}/draft"),
    "putDraft": lambda: server.call("PUT", f"/v1/tasks/{task_of(start('t.wait').json['id'])['id']}/draft", {"payload": {"half": 1}}),
    "deleteDraft": lambda: server.call("DELETE", f"/v1/tasks/{task_of(start('t.wait').json['id'])['id']}/draft"),
    "putView": lambda: server.call("PUT", "/v1/views/mine", {"name": "Mine", "filter": "status:waiting"}),
    "listViews": lambda: server.call("GET", "/v1/views"),
    "deleteView": lambda: (server.call("PUT", "/v1/views/gone", {"name": "Gone", "filter": ""}), server.call("DELETE", "/v1/views/gone"))[1],
    "putAlert": lambda: server.call("PUT", "/v1/alerts/many", {"name": "Many", "filter": "status:failed", "more_than": 3, "for": "5m"}),
    "listAlerts": lambda: server.call("GET", "/v1/alerts"),
    "deleteAlert": lambda: (server.call("PUT", "/v1/alerts/gone", {"name": "Gone", "filter": "status:failed", "more_than": 0}), server.call("DELETE", "/v1/alerts/gone"))[1],
    "createTaskLink": task_link,
    "showAnswerPage": lambda: server.call("GET", "/v1/answer", role=None, x_cairn_link=task_link().json["token"]),
    "giveAnswer": lambda: server.call("POST", "/v1/answer", {"payload": {}}, role=None, x_cairn_link=task_link().json["token"]),
    "createEmbedToken": lambda: server.call("POST", "/v1/embed", {"inbox": True}, role="task_worker"),
    "runRetention": lambda: server.call("POST", "/v1/retention/run", {"completed": "30d", "keys": "90d"}),
    "createKey": new_key,
    "listKeys": lambda: server.call("GET", "/v1/keys"),
    "revokeKey": lambda: server.call("DELETE", "/v1/keys/" + new_key().json["id"]),
    "createSchedule": schedule,
    "listSchedules": lambda: server.call("GET", "/v1/schedules?limit=2"),
    "getSchedule": lambda: schedule("", "GET"),
    "changeSchedule": lambda: schedule("", "PATCH", {"every": "2h"}),
    "deleteSchedule": lambda: schedule("", "DELETE"),
    "triggerSchedule": lambda: schedule("/trigger"),
    "pauseSchedule": lambda: schedule("/pause"),
    "resumeSchedule": lambda: schedule("/resume"),
    "previewSchedule": lambda: schedule("/preview?count=3", "GET"),
    "listDeadLetters": lambda: server.call("GET", "/v1/dead-letters?limit=2"),
    "getDeadLetter": dead_letter,
    "replayDeadLetter": lambda: dead_letter("/replay", "POST"),
    "discardDeadLetter": lambda: dead_letter("", "DELETE"),
    "receiveEvents": lambda: server.call("POST", "/v1/events", {"specversion": "1.0", "id": "e1", "source": "/t", "type": "t.in", "data": {}},
                                         **{"content-type": "application/cloudevents+json"}),
    "receiveHook": hook,
    "listOutbox": lambda: server.call("GET", "/v1/outbox?limit=2"),
    "listDeliveries": lambda: outbox("/deliveries"),
    "resendEvent": lambda: outbox("/resend", "POST"),
    "getProblem": lambda: server.call("GET", "/problems/not_found"),
    "verifyStore": lambda: server.call("GET", "/v1/verify"),
    "doctor": lambda: server.call("GET", "/v1/doctor"),
    "listAudit": lambda: server.call("GET", "/v1/audit?limit=3"),
    "verifyAudit": lambda: server.call("GET", "/v1/audit/verify"),
}

for text in (WAITING, FAILING, QUICK):
    answer = deploy(text)
    expect("a definition is deployed", ok(answer, 201), answer.text)
table = server.call("GET", "/openapi.json", role=None).json
operations = {operation["operationId"]: (method.upper(), path, operation)
              for path, item in table["paths"].items() for method, operation in item.items()}

def fits(value, schema, place=""):
    """The parts of JSON Schema that the document uses for answers; the first thing that is wrong, or None."""
    if schema is True or schema == {}:
        return None
    if "$ref" in schema:
        return fits(value, table["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], place)
    if "enum" in schema and value not in schema["enum"]:
        return f"{place}: {value!r} is none of {schema['enum']}"
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": None.__class__}
    wanted = schema.get("type", list(kinds))
    if not any(isinstance(value, kinds[kind]) for kind in (wanted if isinstance(wanted, list) else [wanted])):
        return f"{place}: {value!r} is no {wanted}"
    for name in schema.get("required", []) if isinstance(value, dict) else []:
        if name not in value:
            return f"{place}: {name} is missing"
    if isinstance(value, dict):
        known = schema.get("properties")
        unknown = [name for name in value if known and name not in known and not schema.get("additionalProperties")]
        if unknown:
            return f"{place}: the document does not name {unknown}"
        parts = [(f"{place}/{name}", item, schema.get("properties", {}).get(name, True)) for name, item in value.items()]
    else:
        parts = [(place, item, schema.get("items", True)) for item in value] if isinstance(value, list) else []
    return next(filter(None, (fits(item, inner, where) for where, item, inner in parts)), None)


def resolved(part):
    """A part of the document, or what it refers to."""
    if "$ref" not in part:
        return part
    found = table
    for name in part["$ref"].split("/")[1:]:
        found = found[name]
    return found


def operation_of(method, path):
    """The operation that a request reaches."""
    segments = path.split("?")[0].split("/")
    for name, (known, pattern, _) in operations.items():
        parts = pattern.split("/")
        if known == method and len(parts) == len(segments) and all(part[:1] == "{" or part == segment for part, segment in zip(parts, segments)):
            return name
    return None


answered = {}  # the statuses of each operation
plain_call = server.call


def checked_call(method, path, *rest, **more):
    """Every answer of this test is one that the document describes: its status, media type and body."""
    answer = plain_call(method, path, *rest, **more)
    name = operation_of(method, path)
    if name is None or answer.status in (404, 405) and not answer.text:
        return answer
    status = str(answer.status)
    answered.setdefault(name, set()).add(status)
    response = operations[name][2]["responses"].get(status)
    if response is None:
        expect(f"{name} documents its answer {status}", False, (path, answer.text))
        return answer
    named = [header.lower() for header in resolved(response).get("headers", {})]
    for header in ("etag", "location", "retry-after", "idempotency-replayed", "set-cookie", "www-authenticate"):
        expect(f"{name} documents the header {header} of its answer {status}", header not in answer.headers or header in named, path)
    content = resolved(response).get("content")
    kind = answer.headers.get("content-type", "").split(";")[0]
    if content is None:
        expect(f"{name} answers {status} without a body", not answer.text, answer.text)
    elif kind not in content:
        expect(f"{name} answers {status} with a documented media type", False, (kind, list(content)))
    elif answer.json is not None:
        wrong = fits(answer.json, content[kind]["schema"])
        expect(f"{name} answers {status} as the document says", wrong is None, (wrong, answer.text))
    return answer


server.call = checked_call

# Good requests: every operation succeeds once, and answers as the document says.
for name in operations:
    if name not in GOOD:
        expect(f"{name} has a test: add it to GOOD in {os.path.basename(__file__)}", False)
        continue
    answer = GOOD[name]()
    expect(f"{name} succeeds", ok(answer), (answer.status, answer.text))
    expect(f"{name} carries the headers of every answer", answer.headers.get("x-content-type-options") == "nosniff" and
           "content-security-policy" in answer.headers and len(answer.headers.get("traceparent", "")) == 55 or name == "streamEvents", answer.headers)
for name, (method, path, operation) in operations.items():
    expect(f"{name} has tags, a description and every response described", operation.get("tags") and operation.get("description") and
           all(resolved(response).get("description") for response in operation["responses"].values()), operation)
    bodies = [response for status, response in operation["responses"].items() if status not in ("204", "304")]
    expect(f"{name} has a schema for every answer with a body", all("schema" in media for response in bodies for media in resolved(response)["content"].values()), operation)
    for kind, media in operation.get("requestBody", {}).get("content", {}).items():
        if kind == "application/json":
            expect(f"{name} has an example of its body", "example" in media and fits(media["example"], media["schema"]) is None, media)
    expect(f"{name} was called with success and answered so", any(status.startswith("2") for status in answered.get(name, ())), answered.get(name))

# If-Match is read wherever the document names it.
for name, (method, path, operation) in operations.items():
    if "If-Match" not in [parameter["name"] for parameter in operation.get("parameters", [])]:
        continue
    plain, server.call = server.call, lambda method, path, *rest, **more: checked_call(method, path, *rest, **({**more, "if-match": '"999"'} if operation_of(method, path) == name else more))
    answer = GOOD[name]()
    server.call = plain
    expect(f"{name} refuses a state version that is not current", answer.status == 412, (answer.status, answer.text))

expect("YAML can be deployed", "application/yaml" in table["paths"]["/v1/definitions"]["post"]["requestBody"]["content"])

# No change without its row in the audit trail.
recorded, cursor = {}, ""
while cursor is not None:
    page = server.call("GET", "/v1/audit?limit=1000" + (f"&cursor={cursor}" if cursor else "")).json
    for row in page["items"]:
        recorded.setdefault(row["what"], []).append(row)
    cursor = page["next_cursor"]
for name, (method, path, operation) in operations.items():
    if method == "GET" or operation["x-permission"] in ("work_runs", "report_runs"):
        continue
    if name in ("putDraft", "deleteDraft"):
        expect(f"{name} is not in the audit trail", name not in recorded)  # each pause of typing would be a row
        continue
    rows = recorded.get(name, [])
    expect(f"{name} is in the audit trail", rows and all(row["who"] and row["from"] == "127.0.0.1" and row["resource"] for row in rows), rows[:2])
expect("a reason is kept", any(row["why"] == "test" for row in recorded.get("cancelInstance", [])), recorded.get("cancelInstance"))
expect("rows of changes say nothing of an answer, which came later", all("status" not in row["details"] for row in recorded["startInstance"]))

# Bad requests, from the schemas: wrong types, missing and unknown members, hostile values.
ODD = [None, True, 0, -1, 2**63, 1e308, "", "x" * 300, "\u202e", "'; DROP TABLE wf_instances; --", "../../etc/passwd", "%00", "= 1/0", [], {}, [[]],
       {"a": {"b": None}}, "PT1S", "-1s", "9" * 40]


def bad_bodies(schema):
    yield "not JSON"
    for value in (None, 1, "x", []):
        yield value
    properties = schema.get("properties", {})
    yield {"no_such_member": 1}
    for name in properties:
        for value in random.sample(ODD, 8):
            body = {other: random.choice(ODD) for other in schema.get("required", [])}
            body[name] = value
            yield body


requests = 0
for name, (method, path, operation) in operations.items():
    if name == "createKey":
        continue  # every good one of these would be a key
    for place in ("nothing-here", "%F0%9F%92%A5", "a%2Fb", "'%20OR%201=1"):
        answer = server.call(method, re.sub(r"\{[^}]*\}", place, path))
        expect(f"{name} on {place} is not 5xx", answer.status < 500, (answer.status, answer.text))
        requests += 1
    answer = server.call(method, re.sub(r"\{[^}]*\}", "x", path) + "?no_such_parameter=1")
    # The sender is checked first, and an unknown hook or link has none.
    signed = operation["x-permission"] == "signed_request"
    expect(f"{name} refuses an unknown parameter", answer.status == (404 if signed else 400), (answer.status, answer.text))
    for parameter in operation.get("parameters", []):
        if parameter["in"] != "query" or name == "streamEvents":
            continue
        for value in ("", "x", "-1", "%27", "%E2%80%AE", "9" * 30, "status:x", "a:b:c"):
            answer = server.call(method, re.sub(r"\{[^}]*\}", "x", path) + f"?{parameter['name']}={value}")
            expect(f"{name}?{parameter['name']}={value} is not 5xx", answer.status < 500, (answer.status, answer.text))
            requests += 1
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if signed or not content or not content["schema"]:
        continue  # what the body must be, the operation says by itself
    for body in bad_bodies(content["schema"]):
        answer = server.call(method, re.sub(r"\{[^}]*\}", "x", path), text=body if body == "not JSON" else json.dumps(body))
        expect(f"{name} with {str(body)[:80]} is not 5xx", answer.status < 500, (answer.status, answer.text))
        if body == {"no_such_member": 1} and content["schema"].get("additionalProperties") is False:
            expect(f"{name} refuses an unknown member with its place", answer.status == 422 and
                   any(error["pointer"] == "/no_such_member" for error in answer.json["errors"]), answer.text)
        requests += 1
    answer = server.call(method, re.sub(r"\{[^}]*\}", "x", path), text="{}", **{"content-type": "text/plain"})
    expect(f"{name} refuses text/plain", answer.status == 415, (answer.status, answer.text))
# How a body is declared: CSRF by forms, other alphabets, compressed bodies.
for type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/yaml; charset=utf-7"):
    answer = server.call("POST", "/v1/definitions", text=QUICK, **{"content-type": type})
    expect(f"a definition as {type!r} is refused", answer.status == 415, (answer.status, answer.text))
for type in ("application/yaml", "text/yaml; charset=UTF-8", "application/x-yaml"):
    expect(f"a definition as {type!r}", ok(server.call("POST", "/v1/definitions?dry_run", text=QUICK, **{"content-type": type})))
for headers in ({"content-type": "application/json; charset=utf-16"}, {"content-encoding": "gzip"}, {"content-type": "text/plain"}):
    for path in ("/v1/instances", "/v1/events", "/v1/instances/x/resume"):
        answer = server.call("POST", path, text="{}", **headers)
        expect(f"{path} with {headers} is refused", answer.status == 415, (answer.status, answer.text))
answer = server.call("POST", "/v1/events", text="hello", **{"content-type": "text/plain", "ce-specversion": "1.0", "ce-id": "b1", "ce-source": "/s", "ce-type": "t.b"})
expect("a CloudEvent in binary form declares its data", answer.status == 202, (answer.status, answer.text))
# Source and id of an event together may be longer than the id of a signal.
event = {"specversion": "1.0", "id": "i" * 200, "source": "/" + "s" * 199, "type": "t.long"}
for number, repeated in ((1, False), (1, True), (2, False)):
    answer = server.call("POST", "/v1/events", {**event, "id": event["id"][:-1] + str(number)}, **{"content-type": "application/cloudevents+json"})
    expect("an event with a long source and id is taken once", answer.status == 202 and answer.json["items"][0]["repeated"] == repeated, (answer.status, answer.text))
print(f"seed {seed}: {len(operations)} routes, {requests} odd requests")

# A client that waits for the next change is answered by it.
instance = start("t.wait").json
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    place = "/v1/instances/" + instance["id"]
    seen = instance["state_version"]
    next_change = pool.submit(server.call, "GET", f"{place}?after={seen}&wait=60s")
    server.call("POST", place + "/suspend")
    changed = next_change.result(30).json
    expect("it says what changed", changed["state_version"] > seen and changed["status"] == "suspended", changed)
    expect("what has changed already is told at once", server.call("GET", f"{place}?after={seen}&wait=60s").json["state_version"] == changed["state_version"])
    expect("nothing changes", server.call("GET", f"{place}?after={changed['state_version']}&wait=1ms").json["state_version"] == changed["state_version"])
    ended = pool.submit(server.call, "GET", f"{place}?after={changed['state_version']}&wait=60s")
    server.call("POST", place + "/cancel")
    expect("an end is a change", ended.result(30).json["status"] == "cancelled")
    expect("what has ended changes no more", server.call("GET", f"{place}?after=999&wait=60s").json["status"] == "cancelled")
expect("a version is a number", server.call("GET", f"{place}?after=new&wait=1s").status == 400)

# Kept signals: listed, shown on the instance, discarded, and without expiry unless something sets one.
kept = server.call("POST", "/v1/signals", {"name": "t.kept", "key": "K", "payload": {"n": 1}})
expect("a signal that no instance waits for is kept", kept.status == 202 and kept.json["kept"] is True, kept.text)
server.call("POST", "/v1/signals", {"name": "t.kept", "key": "L", "ttl": "2d"})
items = server.call("GET", "/v1/signals?name=t.kept").json["items"]
expect("both are listed", [(item["key"], item["until"] is None) for item in items] == [("K", True), ("L", False)], items)
expect("by key", len(server.call("GET", "/v1/signals?name=t.kept&key=L").json["items"]) == 1)
one = start("t.wait").json["id"]
server.call("POST", f"/v1/instances/{one}/signals", {"name": "early", "payload": 7, "ttl": "1d"})
shown = server.call("GET", "/v1/instances/" + one).json["signals"]
expect("the instance shows what it keeps", len(shown) == 1 and shown[0]["payload"] == 7 and shown[0]["until"] is not None, shown)
expect("by key too", server.call("GET", f"/v1/signals?instance={one}&key=L").json["items"] == [])
expect("the list of the instance too", server.call("GET", "/v1/signals?instance=" + one).json["items"][0]["name"] == "early")

# Reasons: in the history and the audit trail, with old and new values. The body of a PATCH is data.
broken = suspended()
edited = server.call("PATCH", f"/v1/instances/{broken}/state?reason=a+typing+error", {"amount": 5, "reason": "data"})
expect("an edit with a reason", edited.status == 200, edited.text)
state = server.call("GET", "/v1/instances/" + broken).json["state"]
expect("a member `reason` of the patch is data", state["reason"] == "data" and state["amount"] == 5, state)
entry = server.call("GET", f"/v1/instances/{broken}/history?limit=1000").json["items"][-1]
expect("the history says why and what", entry["details"]["reason"] == "a typing error" and
       {"path": "/amount", "new": 5} in entry["details"]["changed"], entry)
server.call("POST", f"/v1/instances/{broken}/retry", {"reason": "once more"})
entries = [one for one in server.call("GET", f"/v1/instances/{broken}/history?limit=1000").json["items"] if one["event"] == "resumed"]
expect("a retry too", entries[-1]["details"]["reason"] == "once more", entries[-1:])
trail, cursor = [], ""
while True:
    page = server.call("GET", f"/v1/audit?limit=1000&cursor={cursor}").json
    trail += page["items"]
    cursor = page["next_cursor"]
    if not cursor:
        break
rows = [row for row in trail if row["resource"].startswith(f"/v1/instances/{broken}")]
edits = [row for row in rows if row["what"] == "editState"]
expect("the audit trail has the reason, not the data", edits[-1]["why"] == "a typing error", edits[-1:])
expect("and old and new values", {"path": "/amount", "new": 5} in edits[-1]["details"]["changed"] and
       edits[-1]["details"]["old"]["status"] == "suspended", edits[-1:])
retries = [row for row in rows if row["what"] == "retryInstance"]
expect("also of a retry", retries[-1]["why"] == "once more" and retries[-1]["details"]["new"]["status"] == "suspended", retries[-1:])

# Preconditions, repeats, compression, traces, pages from elsewhere.
moved = start("t.wait").json["id"]
answer = server.call("POST", f"/v1/instances/{moved}/signals", {"name": "x"}, **{"if-match": '"99"'})
current = server.call("GET", "/v1/instances/" + moved).headers["etag"]
expect("a signal for a version that moved is 412", answer.status == 412 and answer.headers.get("etag") == current, (answer.status, answer.headers))
expect("and was not kept", server.call("GET", "/v1/instances/" + moved).json["signals"] == [])
expect("the right one is taken", server.call("POST", f"/v1/instances/{moved}/signals", {"name": "x"}, **{"if-match": current}).status == 200)
for path, body in (("/v1/signals", {"name": "x"}), ("/v1/bulk", {"action": "retry", "filter": "status:suspended"})):
    expect(f"If-Match on {path} is not ignored", server.call("POST", path, body, **{"if-match": '"1"'}).status == 400)
instance = start("t.wait").json["id"]
answer = server.call("POST", f"/v1/instances/{instance}/suspend", **{"if-match": '"99"'})
current = server.call("GET", "/v1/instances/" + instance).headers["etag"]
expect("a version that moved is 412 with the current one", answer.status == 412 and answer.headers.get("etag") == current, (answer.status, answer.headers))
expect("the right one goes through", server.call("POST", f"/v1/instances/{instance}/suspend", **{"if-match": current}).status == 200)
first = server.call("POST", f"/v1/instances/{instance}/resume", **{"idempotency-key": "r1"})
again = server.call("POST", f"/v1/instances/{instance}/resume", **{"idempotency-key": "r1"})
server.end()
server.start()
later = server.call("POST", f"/v1/instances/{instance}/resume", **{"idempotency-key": "r1"})
expect("also after a restart", later.status == 200 and later.text == first.text and later.headers.get("idempotency-replayed") == "true", later.text)
expect("a repeat gets the first answer", first.status == again.status == 200 and first.text == again.text and
       again.headers.get("idempotency-replayed") == "true", (first.text, again.text))
# A server that dies between a change and keeping its answer: the row of the answer is missing, the change is there.
TWICE = """
cairn: 1
name: t.twice
version: 1.0.0
steps:
  - { id: one, set: { x: '= state.nothing' } }
  - { id: two, set: { x: '= state.nothing' } }
  - { id: three, signal: { name: go, result: got } }
  - { id: four, signal: { name: go, result: again } }
"""
deploy(TWICE)
server.call("POST", "/v1/schedules", {"name": "t.rare", "cron": "0 0 1 1 *", "start": {"definition": "t.wait"}})
broken = start("t.twice").json["id"]
signalled = start("t.twice", ref="s").json["id"]
for _ in range(2):
    server.call("POST", f"/v1/instances/{signalled}/skip", {})


def keyed():
    """Each of these twice would do something twice."""
    server.call("POST", f"/v1/instances/{broken}/skip", {}, **{"idempotency-key": "s1"})
    server.call("POST", "/v1/schedules/t.rare/trigger", **{"idempotency-key": "t1"})
    server.call("POST", "/v1/runs/batch", {"runs": [{"type": "keyed.v1"}, {"type": "keyed.v1"}]}, **{"idempotency-key": "b1"})
    job = server.call("POST", "/v1/bulk", {"action": "signal", "filter": "definition:t.twice status:waiting", "signal": {"name": "go"}},
                      **{"idempotency-key": "g1"}).json
    while job and not server.call("GET", f"/v1/bulk/{job['id']}?after=0").json["finished"]:
        pass
    return (server.call("GET", f"/v1/instances/{broken}").json["error"]["step"],
            len(server.call("GET", "/v1/runs?type=keyed.v1").json["items"]),
            sum(i["id"].startswith("t.rare@") for i in server.call("GET", "/v1/instances?limit=1000").json["items"]),
            server.call("GET", f"/v1/instances/{signalled}").json["status"])


done = keyed()
expect("each is done", done == ("two", 2, 1, "waiting"), done)
server.end()
with contextlib.closing(sqlite3.connect(server.store.removeprefix("sqlite:"))) as file:
    lost = file.execute("DELETE FROM wf_idempotency_keys WHERE scope = 'http'").rowcount
    file.commit()
expect("the answers are lost", lost >= 4, lost)
server.start()
again = keyed()
expect("a repeat after a crash does nothing twice", again == done, (done, again))
other = server.call("POST", f"/v1/instances/{instance}/cancel", {"reason": "a"}, **{"idempotency-key": "c1"})
other = server.call("POST", f"/v1/instances/{instance}/cancel", {"reason": "b"}, **{"idempotency-key": "c1"})
expect("the same key for something else is refused", other.status == 422 and other.json["type"].endswith("idempotency_key_reused"), other.text)
answer = server.call("GET", "/v1/functions", **{"accept-encoding": "gzip"})
expect("a large answer is compressed", answer.headers.get("content-encoding") == "gzip", answer.headers)
trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
answer = server.call("GET", "/v1/info", traceparent=trace)
expect("a trace goes on", answer.headers["traceparent"].startswith("00-0af7651916cd43dd8448eb211c80319c-") and
       answer.headers["traceparent"] != trace, answer.headers)
answer = server.call("POST", "/v1/signals", {"name": "x"}, origin="https://evil.example")
expect("a page from elsewhere may not act", answer.status == 403 and answer.json["type"].endswith("foreign_origin"), answer.text)
answer = server.call("GET", "/v1/info", origin="https://evil.example")
expect("nor read", "access-control-allow-origin" not in answer.headers, answer.headers)
expect("no method override", server.call("GET", "/v1/info", **{"x-http-method-override": "DELETE"}).status == 200)
expect("TRACE is refused", server.call("TRACE", "/v1/info").status == 405)
# More signals than an instance keeps: the ones that were taken stay visible, the next is refused, and the instance continues.
crowded = start("t.wait").json["id"]
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    taken = list(pool.map(lambda number: server.call("POST", f"/v1/instances/{crowded}/signals", {"id": f"c{number}", "name": "unused"}).status, range(1010)))
seen = server.call("GET", f"/v1/instances/{crowded}/snapshot").json
expect("1000 signals are taken and 10 refused", sorted(taken) == [200] * 1000 + [413] * 10, sorted(taken)[-12:])
expect("each signal that was taken is kept", len(seen["signals"]) == taken.count(200), len(seen["signals"]))
expect("the instance still waits", server.call("GET", "/v1/instances/" + crowded).json["status"] == "waiting")
# More than a page of instances: it must be meant, is shown first, and each has its row in the audit trail.
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    many = list(pool.map(lambda _: start("t.wait", customer="many").status, range(1001)))
expect("1001 instances", many == [201] * 1001)
body = {"action": "cancel", "filter": "part.customer:many", "reason": "too many"}
preview = server.call("POST", "/v1/bulk", {**body, "dry_run": True}).json
expect("a preview counts them all", preview["matched"] == 1001 and len(preview["instances"]) == 1000 and not preview["more"], preview["matched"])
answer = server.call("POST", "/v1/bulk", body)
expect("more than 1000 must be meant", answer.status == 413 and answer.json["matched_at_least"] == 1001, answer.text)
job = server.call("POST", "/v1/bulk", {**body, "max": 1001}).json
looks, progress = 0, {"done": 0, "finished": False}
while not progress["finished"]:
    progress = server.call("GET", f"/v1/bulk/{job['id']}?after={progress['done']}").json
    looks += 1
expect("all are done, told in some steps", progress["done"] == 1001 and progress["failed"] == [] and looks <= 110, (looks, progress))
rows, cursor = 0, ""
while cursor is not None:
    page = server.call("GET", "/v1/audit?limit=1000" + (f"&cursor={cursor}" if cursor else "")).json
    rows += sum(row["what"] == "bulk.cancel" and row["why"] == "too many" for row in page["items"])
    cursor = page["next_cursor"]
expect("each has its row", rows == 1001, rows)
with open(os.path.join(source, "docs/errors.md")) as file:
    errors = file.read()
sources = [os.path.join(folder, name) for module in ("src/http", "src/api") for folder, _, names in os.walk(os.path.join(source, module))
           for name in names if name.endswith(".cc")]
kinds = set(kind for path in sources for kind in re.findall(r'(?<!limit_)problem\(\s*\d+,\s*"([a-z_]+)"', open(path).read()))
expect("the sources name their problems", len(kinds) >= 10, kinds)
for kind in sorted(kinds):
    expect(f"docs/errors.md explains the problem {kind}", f"`{kind}`" in errors)
expect("SIGTERM ends with 0", server.end() == 0, server.said[-2000:])
expect("nothing failed inside", '"level":"error"' not in server.said, [line for line in server.said.splitlines() if '"error"' in line][:3])
finish()
