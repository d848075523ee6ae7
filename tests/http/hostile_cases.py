"""Cases for hostile_test.py: what a client sends, and the status it must get. `None` stands for a connection that is closed without an answer.
A case with `closes` must also end the connection, so that nothing behind it is read as a request."""
from collections import namedtuple

Case = namedtuple("Case", "name sent status closes")


def cases(key, viewer_key):
    host = "Host: localhost\r\n"
    auth = f"{host}Authorization: Bearer {key}\r\n"
    declared = "Content-Type: application/json\r\n"
    found = []

    def add(name, sent, status, closes=False):
        sent = sent if isinstance(sent, bytes) else sent.encode("latin-1")
        found.append(Case(name, sent, status if isinstance(status, tuple) else (status,), closes))

    def bad(name, sent, status=400):
        add(name, sent, status, True)

    def post(body, headers="", path="/v1/signals", kind=declared, who=auth):
        body = body if isinstance(body, bytes) else body.encode()
        return f"POST {path} HTTP/1.1\r\n{who}{kind}{headers}Content-Length: {len(body)}\r\n\r\n".encode("latin-1") + body

    # --- The request line
    for name, line in {
        "two spaces": "GET  /livez HTTP/1.1", "a leading space": " GET /livez HTTP/1.1", "tabs": "GET\t/livez\tHTTP/1.1",
        "no version": "GET /livez", "no target": "GET HTTP/1.1", "only a method": "GET", "nothing at all but a colon": ":",
        "HTTP/3.0": "GET /livez HTTP/3.0", "HTTP/0.9": "GET /livez HTTP/0.9", "lower-case version": "GET /livez http/1.1", "HTTP/1": "GET /livez HTTP/1",
        "HTTP/1.1.1": "GET /livez HTTP/1.1.1", "HTTP/1.10": "GET /livez HTTP/1.10", "HTTP/ 1.1": "GET /livez HTTP/ 1.1", "a word behind": "GET /livez HTTP/1.1 x",
        "a space behind": "GET /livez HTTP/1.1 ", "HTTPS/1.1": "GET /livez HTTPS/1.1", "HTTP/-1.1": "GET /livez HTTP/-1.1", "HTTP/1.x": "GET /livez HTTP/1.x",
        "a space in the target": "GET /li vez HTTP/1.1", "absolute": "GET http://localhost/livez HTTP/1.1", "absolute of another host": "GET http://a.example/ HTTP/1.1",
        "authority": "CONNECT localhost:80 HTTP/1.1", "asterisk": "OPTIONS * HTTP/1.1", "no slash": "GET livez HTTP/1.1", "only a query": "GET ?x HTTP/1.1",
        "a backslash": "GET \\livez HTTP/1.1", "a file": "GET file:///etc/passwd HTTP/1.1", "a method with a bracket": "GE(T /livez HTTP/1.1",
        "a method with a colon": "GET: /livez HTTP/1.1", "a quote": '"GET" /livez HTTP/1.1', "control bytes": "G\x01T /livez HTTP/1.1", "a NUL": "GET /livez\0 HTTP/1.1",
        "DEL in the target": "GET /li\x7fvez HTTP/1.1", "ESC in the target": "GET /\x1b[31m HTTP/1.1", "TLS": "\x16\x03\x01\x02\x00\x01", "the preface of HTTP/2": "PRI * HTTP/2.0",
        "a redis command": "*1\r\n$4\r\nPING", "a mail": "EHLO localhost", "SSH": "SSH-2.0-x",
    }.items():
        bad(f"request line: {name}", f"{line}\r\n{host}\r\n")
    for name, target in {"%": "/%", "%2": "/%2", "%zz": "/%zz", "%0g": "/%0g", "%00": "/livez%00", "%ff": "/%ff", "overlong": "/%c0%af", "surrogate": "/%ed%a0%80",
                         "past unicode": "/%f4%90%80%80", "half a character": "/%e2%82", "%% in the query": "/livez?%%", "%00 in the query": "/livez?a=%00",
                         "%ff in a name": "/livez?%ff=1"}.items():
        bad(f"target: {name}", f"GET {target} HTTP/1.1\r\n{host}\r\n")
    for name, target in {"two slashes": "//livez", "a slash behind": "/livez/", "a dot": "/./livez", "two dots": "/../livez", "encoded dots": "/%2e%2e/livez", "an encoded slash": "/v1%2Finfo",
                         "a lower-case one": "/v1%2finfo", "an encoded backslash": "/v1%5Cinfo", "a semicolon": "/livez;x=1", "another case": "/LIVEZ", "an encoded CRLF": "/livez%0d%0aX:1",
                         "an override": "/v1/%E2%80%AEinfo", "a long one": "/" + "a" * 4000, "many segments": "/a" * 2000, "a fragment": "/livez%23x"}.items():
        add(f"target: {name} is nothing", f"GET {target} HTTP/1.1\r\n{auth}Connection: close\r\n\r\n", 404)
    bad("target: one of 20 000 bytes", f"GET /{'a' * 20_000} HTTP/1.1\r\n{host}\r\n", 431)
    add("an empty line before a request", f"\r\nGET /livez HTTP/1.1\r\n{host}\r\n", (400, 200))
    for method in ("FOO", "get", "PROPFIND", "TRACE", "PUT", "PATCH", "DELETE", "POST", "X" * 300):
        add(f"method {method[:8]} on /livez", f"{method} /livez HTTP/1.1\r\n{host}Connection: close\r\n\r\n", (405, 400))
    for method in ("PUT", "PATCH", "TRACE", "DELETE"):
        add(f"method {method} on a collection", f"{method} /v1/instances HTTP/1.1\r\n{auth}Connection: close\r\n\r\n", 405)

    # --- Headers
    for byte in ' ()<>@,;\\"/[]?={}\t\x7f\x00\x01\x80\xff':
        bad(f"header name with {byte!r}", f"GET /livez HTTP/1.1\r\n{host}X{byte}Y: 1\r\n\r\n")
    for code in [*range(0x00, 0x09), 0x0b, 0x0c, *range(0x0e, 0x20), 0x7f]:
        bad(f"header value with 0x{code:02x}", f"GET /livez HTTP/1.1\r\n{host}X: a{chr(code)}b\r\n\r\n")
    for name, lines in {"no name": ": x", "no colon": "X", "a space before the colon": "X : 1", "a folded line": "X: a\r\n b", "folded with a tab": "X: a\r\n\tb", "a bare CR": "X: a\rb",
                        "a bare LF": "X: a\nY: b", "a folded first line": " X: a"}.items():
        bad(f"header: {name}", f"GET /livez HTTP/1.1\r\n{host}{lines}\r\n\r\n")
    bad("lines that end with LF", "GET /livez HTTP/1.1\nHost: localhost\n\n")
    bad("no host", "GET /livez HTTP/1.1\r\n\r\n")
    bad("two hosts", "GET /livez HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n")
    bad("a host with a space", "GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n")
    bad("a host with a tab", "GET /livez HTTP/1.1\r\nHost: a\tb\r\n\r\n")
    add("HTTP/1.0 without a host", "GET /livez HTTP/1.0\r\n\r\n", 200, True)
    add("a header without a value", f"GET /livez HTTP/1.1\r\n{host}X:\r\nConnection: close\r\n\r\n", 200)
    add("an upgrade to websocket", f"GET /livez HTTP/1.1\r\n{host}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n", 200)
    add("an upgrade to HTTP/2", f"GET /livez HTTP/1.1\r\n{host}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n", 200)
    add("100 headers", f"GET /livez HTTP/1.1\r\n{host}Connection: close\r\n" + "".join(f"X{i}: 1\r\n" for i in range(98)) + "\r\n", 200)
    bad("101 headers", f"GET /livez HTTP/1.1\r\n{host}Connection: close\r\n" + "".join(f"X{i}: 1\r\n" for i in range(99)) + "\r\n", 431)
    bad("a header over its limit", f"GET /livez HTTP/1.1\r\n{host}X: {'x' * 8200}\r\n\r\n", 431)
    bad("a head over its limit", f"GET /livez HTTP/1.1\r\n{host}" + "".join(f"X{i}: {'x' * 1000}\r\n" for i in range(20)) + "\r\n", 431)

    # --- Lengths and encodings
    for value in ("", " ", "+5", "-5", "0x5", "5 5", "5,5", "5, 5", "5;5", "5.0", "1e1", "five", "5\t5", "\xb5", "99999999999999999999999999", "18446744073709551616", "18446744073709551621"):
        bad(f"Content-Length: {value!r}", f"POST /v1/signals HTTP/1.1\r\n{auth}{declared}Content-Length: {value}\r\n\r\nhello")
    for value in (str((4 << 20) + 1), "10000000000", "9223372036854775807", "18446744073709551615"):
        bad(f"Content-Length: {value}", f"POST /v1/signals HTTP/1.1\r\n{auth}{declared}Content-Length: {value}\r\n\r\n", 413)
    bad("two lengths", f"POST /v1/signals HTTP/1.1\r\n{auth}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")
    bad("two equal lengths", f"POST /v1/signals HTTP/1.1\r\n{auth}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello")
    bad("a length and chunks", f"POST /v1/signals HTTP/1.1\r\n{auth}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    bad("chunks and a length", f"POST /v1/signals HTTP/1.1\r\n{auth}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n")
    for value in ("xchunked", "identity", "gzip", "gzip, chunked", "chunked, gzip", "chunked, chunked", "chunked,", ",chunked", "chunked;q=1", "chunked x", '"chunked"', ""):
        bad(f"Transfer-Encoding: {value!r}", f"POST /v1/signals HTTP/1.1\r\n{auth}{declared}Transfer-Encoding: {value}\r\n\r\n0\r\n\r\n")
    bad("chunked twice", f"POST /v1/signals HTTP/1.1\r\n{auth}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    bad("chunks in HTTP/1.0", f"POST /v1/signals HTTP/1.0\r\n{auth}{declared}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    add("leading zeros of a length", f"POST /v1/signals HTTP/1.1\r\n{auth}{declared}Connection: close\r\nContent-Length: 0002\r\n\r\n{{}}", 422)
    add("Chunked in another case", f"POST /v1/signals HTTP/1.1\r\n{auth}{declared}Connection: close\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n", 422)
    chunks = f"POST /v1/signals HTTP/1.1\r\n{auth}{declared}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    for name, text in {"a negative size": "-2\r\n{}\r\n0\r\n\r\n", "a plus": "+2\r\n{}\r\n0\r\n\r\n", "0x": "0x2\r\n{}\r\n0\r\n\r\n", "a space before": " 2\r\n{}\r\n0\r\n\r\n", "no digit": "g\r\n{}\r\n0\r\n\r\n",
                       "no size": "\r\n{}\r\n0\r\n\r\n", "a size that overflows": "fffffffffffffffff\r\n", "one of 17 digits": "10000000000000002\r\n{}\r\n0\r\n\r\n", "no CRLF behind the data": "2\r\n{}0\r\n\r\n",
                       "more data than said": "2\r\n{}}\r\n0\r\n\r\n", "LF behind the data": "2\r\n{}\n0\r\n\r\n", "a comma": "2,2\r\n{}\r\n0\r\n\r\n", "a NUL": "2\0\r\n{}\r\n0\r\n\r\n",
                       "a trailer that names a length": "2\r\n{}\r\n0\r\nContent-Length: 900\r\n\r\n", "a bad trailer": "2\r\n{}\r\n0\r\nX\r\n\r\n", "a trailer with a space": "2\r\n{}\r\n0\r\nX Y: 1\r\n\r\n"}.items():
        bad(f"chunks: {name}", chunks + text)
    for name, text in {"a size past the limit": "7fffffff\r\n", "the largest size": "ffffffffffffffff\r\n"}.items():
        bad(f"chunks: {name}", chunks + text, 413)
    for name, text in {"an extension": "2;a=b\r\n{}\r\n0\r\n\r\n", "a quoted extension": '2;a="b c"\r\n{}\r\n0\r\n\r\n', "a name only": "2;a\r\n{}\r\n0\r\n\r\n", "zeros": "00000002\r\n{}\r\n000\r\n\r\n",
                       "a trailer": "2\r\n{}\r\n0\r\nX: 1\r\n\r\n", "one byte each": "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"}.items():
        add(f"chunks: {name} is fine", chunks + text, 422)
    add("chunks: nothing", chunks + "0\r\n\r\n", 422)
    add("Expect: something", post("{}", "Expect: something\r\nConnection: close\r\n"), (417, 422))

    # --- Credentials
    for name, line in {"none": "", "an empty one": "Authorization:\r\n", "only a scheme": "Authorization: Bearer\r\n", "a scheme and a space": "Authorization: Bearer \r\n", "another scheme": "Authorization: Basic eDp4\r\n",
                       "no scheme": f"Authorization: {key}\r\n", "two words": f"Authorization: Bearer {key} x\r\n", "one letter more": f"Authorization: Bearer {key}x\r\n", "one letter less": f"Authorization: Bearer {key[:-1]}\r\n",
                       "in capitals": f"Authorization: Bearer {key.upper()}\r\n", "twice": f"Authorization: Bearer {key}\r\nAuthorization: Bearer {key}\r\n", "two different": f"Authorization: Bearer {key}\r\nAuthorization: Bearer x\r\n",
                       "with a comma": f"Authorization: Bearer {key}, Bearer {key}\r\n", "a token without signature": "Authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.\r\n", "three dots": "Authorization: Bearer ...\r\n",
                       "garbage": "Authorization: Bearer \xff\xfe\r\n", "a long one": f"Authorization: Bearer {'x' * 7000}\r\n", "a cookie": f"Cookie: authorization={key}\r\n", "another header": f"X-Api-Key: {key}\r\n",
                       "a user": "X-Cairn-User: admin\r\n", "a proxy's": f"Proxy-Authorization: Bearer {key}\r\n", "a forwarded user": "X-Forwarded-User: admin\r\n"}.items():
        add(f"credential: {name}", f"GET /v1/info HTTP/1.1\r\n{host}{line}Connection: close\r\n\r\n", (401, 400) if name in ("garbage",) else 401)
    add("credential: in the query", f"GET /v1/info?access_token={key} HTTP/1.1\r\n{host}Connection: close\r\n\r\n", 401)
    add("credential: the scheme in small letters is fine", f"GET /v1/info HTTP/1.1\r\n{host}Authorization: bearer {key}\r\nConnection: close\r\n\r\n", 200)
    for path in ("/v1/instances", "/v1/tasks", "/v1/runs", "/v1/keys", "/v1/audit", "/v1/definitions", "/v1/schedules", "/metrics", "/v1/events", "/v1/functions"):
        add(f"without a key: GET {path}", f"GET {path} HTTP/1.1\r\n{host}Connection: close\r\n\r\n", 401)
    for path in ("/v1/instances", "/v1/signals", "/v1/runs", "/v1/runs/lease", "/v1/runs/report", "/v1/bulk", "/v1/keys", "/v1/retention/run"):
        add(f"without a key: POST {path}", post("{}", "Connection: close\r\n", path, who=host), 401)
        add(f"with a viewer's key: POST {path}", post("{}", "Connection: close\r\n", path, who=f"{host}Authorization: Bearer {viewer_key}\r\n"), 403)

    # --- Bodies
    close = "Connection: close\r\n"
    for name, body in {"an open brace": "{", "an open bracket": "[", "half a word": "nul", "NaN": "NaN", "Infinity": "[Infinity]", "two members of one name": '{"a":1,"a":2}', "single quotes": "{'a':1}", "a comma behind": '{"a":1,}',
                       "a comma in a list": "[1,]", "not UTF-8": b'{"a":"\xff"}', "a surrogate": b'{"a":"\xed\xa0\x80"}', "half a surrogate": '{"a":"\\ud800"}', "U+0000": '{"a":"\\u0000"}',
                       "something behind": "{} x", "two values": "{}{}", "a comment": "{/* */}", "a line comment": "{}//", "a line break in text": '{"a":"b\nc"}', "a tab in text": '{"a":"b\tc"}', "leading zeros": '{"a":01}',
                       "a plus": '{"a":+1}', "no digit before the point": '{"a":.5}', "none behind": '{"a":1.}', "hexadecimal": '{"a":0x10}', "too large a number": '{"a":1e400}', "an escape that there is not": '{"a":"\\x41"}',
                       "no quotes": "{a:1}", "a colon alone": "{:}", "YAML": "name: x"}.items():
        add(f"body: {name}", post(body, close), 400)
    for name, body in {"200 lists": "[" * 200, "100 000 lists": "[" * 100_000, "100 000 objects": '{"a":' * 100_000, "closed 200 times": "[" * 200 + "]" * 200}.items():
        add(f"body: {name}", post(body, close), 413)
    for name, body in {"a byte order mark and nothing": b"\xef\xbb\xbf{}", "a list": "[]", "a number": "1", "text": '"x"', "null": "null", "true": "true", "no member": "{}", "an unknown member": '{"name":"x","zzzz":1}', "a number for a name": '{"name":1}', "a list for a key": '{"name":"x","key":[]}',
                       "a ttl that is none": '{"name":"x","ttl":5}', "an id that is a number": '{"name":"x","id":1}'}.items():
        add(f"body: {name} does not fit", post(body, close), 422)
    for name, kind in {"none": "", "text": "Content-Type: text/plain\r\n", "a form": "Content-Type: application/x-www-form-urlencoded\r\n", "a form of parts": "Content-Type: multipart/form-data; boundary=x\r\n",
                       "another charset": "Content-Type: application/json; charset=latin-1\r\n", "UTF-16": "Content-Type: application/json;charset=utf-16\r\n", "XML": "Content-Type: application/xml\r\n", "nearly": "Content-Type: application/jsonx\r\n",
                       "YAML": "Content-Type: application/yaml\r\n"}.items():
        add(f"type of a body: {name}", post("{}", close, kind=kind), 415)
    for encoding in ("gzip", "br", "deflate", "zstd", "gzip, identity"):
        add(f"Content-Encoding: {encoding}", post("{}", f"{close}Content-Encoding: {encoding}\r\n"), 415)
    for path, body in {"/v1/runs/lease": '{"worker":"w","types":["x"],"wait":"soon"}', "/v1/runs/lease ": '{"worker":"w","types":["x"],"max":0}', "/v1/runs/lease  ": '{"worker":"w","types":["x"],"max":1000000}',
                       "/v1/runs/lease   ": '{"worker":"w","types":["x"],"lease":"-5s"}', "/v1/runs/lease    ": '{"worker":"w","types":["x"],"lease":"400d"}', "/v1/runs": '{"type":""}', "/v1/runs ": '{"type":"demo.x","run_at":"tomorrow"}',
                       "/v1/runs  ": '{"type":"demo.x","max_attempts":"many"}', "/v1/runs/report": '{"reports":[{"id":1}]}', "/v1/bulk": '{"action":"explode","all":true}', "/v1/bulk ": '{"action":"cancel"}',
                       "/v1/instances": '{"definition":7}', "/v1/instances ": '{"definition":"x","reference":7}', "/v1/retention/run": '{}', "/v1/retention/run ": '{"completed":"-1d"}'}.items():
        add(f"POST {path.strip()} {body}", post(body, close, path.strip()), 422)

    # --- Names, queries and conditions
    for name in ("..", "%2e%2e", "'", "%27%3Bdrop", "%0d%0a", "%E2%80%AE", "a" * 300, "*", "%7B%7D", "null", "-1", "%F0%9F%98%80", "%2F", "a%2Fhistory", "%25", "%3Cscript%3E", "0", "a%20b", "%22", "~"):
        add(f"an instance called {name[:20]}", f"GET /v1/instances/{name} HTTP/1.1\r\n{auth}{close}\r\n", (404, 400, 422))
        add(f"a run called {name[:20]}", f"GET /v1/runs/{name} HTTP/1.1\r\n{auth}{close}\r\n", (404, 400, 422))
    for query in ("zzzz=1", "limit=1&zzzz=1", "status=odd", "limit=abc", "limit=0", "limit=-1", "limit=5x", "limit=1.5", "STATUS=waiting", "=", "=1", "limit%00=1", "%zz=1"):
        add(f"instances?{query}", f"GET /v1/instances?{query} HTTP/1.1\r\n{auth}{close}\r\n", 400)
    add("instances?after=x&wait=1s", f"GET /v1/instances/x?after=x&wait=1s HTTP/1.1\r\n{auth}{close}\r\n", 400)
    add("instances?wait=soon", f"GET /v1/instances/x?wait=soon HTTP/1.1\r\n{auth}{close}\r\n", (400, 422))
    add("events after a word", f"GET /v1/events?after=x HTTP/1.1\r\n{auth}{close}\r\n", 400)
    add("events after a negative number", f"GET /v1/events HTTP/1.1\r\n{auth}Last-Event-ID: -1\r\n{close}\r\n", 400)
    add("a key of 201 characters", post('{"action":"cancel","all":true,"dry_run":true}', f"{close}Idempotency-Key: {'x' * 201}\r\n", "/v1/bulk"), 400)
    for value in ('"x"', "x", "*", '"1', '"-1"', 'W/"1"', "1.5"):
        add(f"If-Match: {value}", post("{}", f"{close}If-Match: {value}\r\n", "/v1/instances/x/cancel"), (404, 422, 400))
    return found
