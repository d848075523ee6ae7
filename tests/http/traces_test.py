#!/usr/bin/env python3
"""traces_test.py CAIRN SOURCE_DIR: spans of requests and instances reach a collector, through its failures, and are counted."""
import hashlib, json, os, sys, threading
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from receiver import Receiver
from served import Served, expect, finish

cairn, source = sys.argv[1], sys.argv[2]
WAITING = """
cairn: 1
name: t.wait
version: 1.0.0
steps:
  - id: review
    task: { name: Review, title: Look }
"""


class Collector:
    changed = threading.Condition()
    spans, requests, refuse = [], [], 2

    @staticmethod
    def answer(path, headers, body):
        body = json.loads(body)
        with Collector.changed:
            Collector.requests.append((path, headers["content-type"], headers["x-tenant"], body))
            status = 503 if len(Collector.requests) <= Collector.refuse else 200
            if status == 200:
                for resource in body["resourceSpans"]:
                    for scope in resource["scopeSpans"]:
                        Collector.spans += scope["spans"]
            Collector.changed.notify_all()
        return status, "{}"


def sha(text, digits):
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def named(name, trace=None):
    return [span for span in Collector.spans if span["name"] == name and (trace is None or span["traceId"] == trace)]


def said(span, key):
    return next((list(entry["value"].values())[0] for entry in span["attributes"] if entry["key"] == key), None)


endpoint = Receiver(Collector.answer).url
server = Served(cairn, "--otlp-endpoint", endpoint, "--otlp-headers", "x-tenant=blue")
server.call("POST", "/v1/definitions", text=WAITING, **{"content-type": "application/yaml"})
caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
started = server.call("POST", "/v1/instances", {"definition": "t.wait"}, traceparent=caller)
instance = started.json["id"]
task = server.call("GET", f"/v1/tasks?instance={instance}").json["items"][0]["id"]
silent = server.call("GET", "/v1/info", traceparent=caller[:-1] + "0")
completed = server.call("POST", f"/v1/tasks/{task}/complete", {"payload": {}})
expect("the workflow is done", completed.status == 200, completed.text)
server.call("GET", "/livez", role=None)
with Collector.changed:
    whole = Collector.changed.wait_for(lambda: named("workflow t.wait") and named("completeTask"), 60)
expect("everything arrives, after the collector was away twice", whole and len(Collector.requests) >= 3, len(Collector.requests))
# The collector has them before its answer is back: counted a moment later.
for _ in range(2000):
    metrics = {line.split()[0]: float(line.split()[1]) for line in server.call("GET", "/metrics").text.splitlines() if line.startswith("cairn_otlp")}
    if metrics["cairn_otlp_spans_sent_total"] >= 6:
        break
expect("what was sent is counted", metrics["cairn_otlp_spans_sent_total"] >= 6 and metrics["cairn_otlp_failures_total"] == 2 and
       metrics["cairn_otlp_spans_dropped_total"] == 0, metrics)
expect("SIGTERM ends with 0", server.end() == 0, server.said)

path, kind, tenant, body = Collector.requests[-1]
expect("as OTLP over HTTP wants it", path == "/v1/traces" and kind == "application/json" and tenant == "blue", (path, kind, tenant))
about = {entry["key"]: entry["value"] for entry in body["resourceSpans"][0]["resource"]["attributes"]}
expect("the resource says who it is", about["service.name"] == {"stringValue": "cairn"} and "service.instance.id" in about, about)

request = named("startInstance")[0]
expect("a request goes on with its caller's trace", request["traceId"] == caller[3:35] and request["parentSpanId"] == caller[36:52] and
       request["kind"] == 2 and said(request, "http.response.status_code") == "201", request)
expect("and is the span that its answer names", started.headers["traceparent"][36:52] == request["spanId"], started.headers["traceparent"])
trace, root = caller[3:35], sha(instance, 16)
first, second = named("advance started", trace), named("advance task_completed", trace)
expect("an instance is in the trace of whoever started it", len(first) == len(second) == 1 and first[0]["parentSpanId"] == second[0]["parentSpanId"] == root, Collector.spans)
expect("its start is linked with the request", {"traceId": request["traceId"], "spanId": request["spanId"]} in first[0]["links"], first[0])
expect("what goes on is linked over the wait", {"traceId": trace, "spanId": first[0]["spanId"]} in second[0]["links"], second[0])
ender = named("completeTask")[0]
expect("and with the request that ended the wait", {"traceId": ender["traceId"], "spanId": ender["spanId"]} in second[0]["links"], second[0])
life = named("workflow t.wait", trace)[0]
expect("its life is a span of its own", life["spanId"] == root and life["parentSpanId"] == request["spanId"] and said(life, "cairn.status") == "completed" and
       int(life["startTimeUnixNano"]) <= int(first[0]["endTimeUnixNano"]) <= int(life["endTimeUnixNano"]), life)
expect("spans end after they begin", all(int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) for span in Collector.spans))
expect("ids are hexadecimal", all(len(span["traceId"]) == 32 and len(span["spanId"]) == 16 and int(span["traceId"], 16) and int(span["spanId"], 16)
                                  for span in Collector.spans))
expect("a caller that keeps no trace is heeded", not named("getInfo"), named("getInfo"))
expect("looking whether it is there is no span", not named("livez") and not named("metrics"))
expect("no key is in a span", all(key not in json.dumps(Collector.spans) for key in server.keys.values()))

# A collector that is never there costs spans, not requests.
server = Served(cairn, "--otlp-endpoint", "http://127.0.0.1:1")
expect("it starts without a collector", server.port is not None, getattr(server, "said", ""))
expect("and answers", all(server.call("GET", "/v1/info").status == 200 for _ in range(20)))
expect("and ends", server.end() == 0, server.said)
expect("the log says so once", server.said.count("otlp.not_taken") == 1, server.said)
shown = server.run("config", "show", "--otlp-headers", "authorization=Bearer s3cret")
expect("headers are not shown", "s3cret" not in shown.stdout and "otlp.headers" in shown.stdout, shown.stdout)
finish()
