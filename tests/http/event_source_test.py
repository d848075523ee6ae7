#!/usr/bin/env python3
"""event_source_test.py CAIRN SOURCE_DIR: one event has the same source, id and data at every sink, in a stream and in the list of the outbox."""
import json, os, queue, re, socket, sys, tempfile
from served import Served, expect, finish

cairn, source = sys.argv[1], sys.argv[2]
sys.path.insert(0, os.path.join(source, "tests"))
from receiver import Receiver

arrived = queue.Queue()


def receive(path, headers, body):
    arrived.put((path, {name.lower(): value for name, value in headers.items()}, json.loads(body)))
    return 200, "{}"


partner = Receiver(receive)
with tempfile.TemporaryDirectory() as folder:
    settings = os.path.join(folder, "cairn.toml")
    with open(settings, "w") as file:
        file.write(f'egress = ["{partner.url}"]\n[events]\nsource = "/orders"\nkeep = ["instances"]\n'
                   + "".join(f'[[events.sinks]]\nname = "{mode}"\nhttp = {{ url = "{partner.url}/{mode}", mode = "{mode}" }}\n'
                             for mode in ("structured", "binary", "batched")))
    os.chmod(settings, 0o600)
    server = Served(cairn, "--config", settings)
    expect("it starts", server.port is not None, getattr(server, "said", ""))
    server.call("POST", "/v1/definitions", text="cairn: 1\nname: t.end\nversion: 1.0.0\nsteps: [ { emit: { type: order.sent, subject: A1, data: { no: 7 } } } ]\n",
                **{"content-type": "application/yaml"})
    server.call("POST", "/v1/instances", {"definition": "t.end"})
    WANTED = 3  # started, emitted, completed

    sinks = {"structured": {}, "binary": {}, "batched": {}}
    while any(len(events) < WANTED for events in sinks.values()):
        path, headers, body = arrived.get(timeout=60)
        mode = path.strip("/")
        if mode == "binary":
            body = {name[3:]: value for name, value in headers.items() if name.startswith("ce-")} | {"data": body, "datacontenttype": headers["content-type"]}
        for event in body if mode == "batched" else [body]:
            sinks[mode][event["sequence"]] = event

    stream = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    stream.sendall(f"GET /v1/events?after=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.keys['viewer']}\r\n\r\n".encode())
    text = b""
    while len(streamed := re.findall(rb"id: (\d+)\nevent: cloudevent\ndata: (.*)\n", text)) < WANTED:
        text += stream.recv(65536)
    stream.close()
    streamed = {number.decode(): json.loads(data) for number, data in streamed}
    listed = {}
    for event in server.call("GET", "/v1/outbox").json["items"]:
        event.pop("published_at")
        listed[event["sequence"]] = event

    expect("three events", sorted(event["type"] for event in listed.values()) == ["cairn.instance.completed", "cairn.instance.started", "order.sent"], listed)
    for number, event in listed.items():
        expect("the source is the setting", event["source"] == "/orders", event)
        for place, events in {**sinks, "stream": streamed}.items():
            expect(f"{event['type']} is the same at {place}", events.get(number) == event, f"{events.get(number)}\n  {event}")
    expect("the server ends with 0", server.end() == 0, server.said)
partner.shutdown()
finish()
