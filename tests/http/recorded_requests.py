"""Requests as clients send them: every operation of the OpenAPI document, and the forms of HTTP that need care. The same list every time."""
import json


def filled(path):
    while "{" in path:
        path = path[: path.index("{")] + "x-1" + path[path.index("}") + 1:]
    return path


def sample(schema, depth=0):
    """A value that the schema allows, more or less."""
    if not isinstance(schema, dict) or depth > 4:
        return None
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: sample(inner, depth + 1) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [sample(schema.get("items", {}), depth + 1)]
    return {"integer": 1, "number": 1.5, "boolean": True, "string": "text"}.get(kind)


def chunked(body, size=7, extension=b"", trailer=b""):
    pieces = [body[at:at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x%s\r\n%s\r\n" % (len(piece), extension, piece) for piece in pieces) + b"0\r\n" + trailer + b"\r\n"


def recorded(openapi, key, least=200):
    """Byte strings, each one or several requests of one connection."""
    host = b"Host: localhost\r\n"
    auth = host + b"Authorization: Bearer " + key.encode() + b"\r\n"
    declared = b"Content-Type: application/json\r\n"
    requests = []
    for path, item in sorted(openapi["paths"].items()):
        for method, operation in sorted(item.items()):
            line = f"{method.upper()} {filled(path)}".encode()
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if not content:
                requests.append(line + b" HTTP/1.1\r\n" + auth + b"\r\n")
                requests.append(line + b"?limit=1 HTTP/1.1\r\n" + host + b"Accept-Encoding: gzip\r\n\r\n")
                continue
            body = json.dumps(sample(content["schema"])).encode()
            head = line + b" HTTP/1.1\r\n" + auth + declared
            requests.append(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            requests.append(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(body, 40))
            requests.append(head + b"Idempotency-Key: k\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    body = b'{"name":"n","key":null,"payload":{"a":[1,2,3]}}'
    post = b"POST /v1/signals HTTP/1.1\r\n"
    special = [
        post + host + b"Transfer-Encoding: chunked\r\n\r\n5",
        post + auth + declared + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        post + host + declared + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(body, 1),
        post + auth + declared + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(body, 9, b";name=value"),
        post + auth + declared + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(body, 9, b"", b"X-After: 1\r\nX-More: 2\r\n"),
        post + host + declared + b"Content-Length: %d\r\n\r\n" % len(body) + body,
        post + auth + declared + b"Content-Length: 70000\r\n\r\n" + b"x" * 300,
        post + auth + b"Content-Length: 0\r\n\r\n",
        b"GET /livez HTTP/1.1\r\n" + host + b"\r\n" + b"GET /livez HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n",
        b"GET /livez HTTP/1.0\r\n\r\n",
        b"HEAD /openapi.json HTTP/1.1\r\n" + host + b"\r\n",
        b"OPTIONS /v1/instances HTTP/1.1\r\n" + host + b"Origin: https://a.example\r\nAccess-Control-Request-Method: POST\r\n\r\n",
        b"GET /v1/events HTTP/1.1\r\n" + auth + b"Last-Event-ID: 0\r\n\r\n",
        b"GET /v1/instances/x-1?after=1&wait=1s HTTP/1.1\r\n" + auth + b"\r\n",
        b'POST /v1/runs/lease HTTP/1.1\r\n' + auth + declared + b'Content-Length: 46\r\n\r\n{"worker":"w","prefixes":["demo."],"wait":"1s"}',
    ]
    requests += special
    number = 0
    while len(requests) < least:  # until there are enough: other headers
        number += 1
        requests.append(b"GET /v1/info HTTP/1.1\r\n" + auth + b"".join(b"X-%d: %d\r\n" % (i, i) for i in range(number % 9)) + b"\r\n")
    return requests
