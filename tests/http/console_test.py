#!/usr/bin/env python3
"""console_test.py CAIRN SOURCE_DIR: the files of the console, their headers and caching, and the base path."""
import gzip, os, re, subprocess, sys
from served import Served, expect, finish

POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; "
          "require-trusted-types-for 'script'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
HTML = {"accept": "text/html,application/xhtml+xml"}


def headers_of(server, path, **headers):
    """The header lines as they are, because a second policy would not show in a table."""
    import http.client
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, [(name.lower(), value) for name, value in answer.getheaders()]


server = Served(sys.argv[1])
page = server.call("GET", "/", role=None)
expect("the page needs no credential", page.status == 200 and page.headers["content-type"] == "text/html; charset=utf-8", page.text[:200])
files = re.findall(r'(?:src|href)="(/assets/[^"]+)"', page.text)
expect("the page names a script, a style and an icon", {path.rsplit(".", 1)[1] for path in files} >= {"js", "css", "svg"}, files)
expect("the page has no script or style of its own", not re.search(r"<style|style=|<script(?![^>]*src=)| on[a-z]+=", page.text), page.text[:400])

for path in ["/", "/index.html", *files]:
    status, headers = headers_of(server, path)
    expect(f"{path} is there", status == 200, status)
    for name, value in [("content-security-policy", POLICY), ("x-content-type-options", "nosniff"), ("cross-origin-opener-policy", "same-origin"),
                        ("cross-origin-resource-policy", "same-origin"), ("referrer-policy", "no-referrer")]:
        expect(f"{path} has one {name}", [one for header, one in headers if header == name] == [value], headers)
    caching = [one for header, one in headers if header == "cache-control"]
    hashed = path.startswith("/assets/")
    expect(f"{path}: caching", caching == ["public, max-age=31536000, immutable" if hashed else "no-cache"], caching)
    etag = dict(headers)["etag"]
    again = server.call("GET", path, role=None, **{"if-none-match": etag})
    expect(f"{path} is not sent again", again.status == 304 and again.text == "" and again.headers["etag"] == etag, (again.status, again.headers))
    other = server.call("GET", path, role=None, **{"if-none-match": '"other"'})
    expect(f"{path} is sent if it has changed", other.status == 200, other.status)
    packed = server.call("GET", path, role=None, **{"accept-encoding": "gzip, br"})
    plain = server.call("GET", path, role=None, **{"accept-encoding": "gzip;q=0"})
    expect(f"{path} is compressed once", packed.headers.get("content-encoding") == "gzip" and "content-encoding" not in plain.headers and
           gzip.decompress(packed.text).decode() == plain.text, packed.headers)
    expect(f"{path} varies", packed.headers.get("vary") == plain.headers.get("vary") == "accept-encoding", plain.headers)
    head = server.call("HEAD", path, role=None)
    expect(f"HEAD {path}", head.status == 200 and head.text == "" and head.headers["content-length"] == plain.headers["content-length"], head.headers)
    expect(f"{path} is only read", server.call("POST", path, {}, role=None).status in (404, 405))

# Every address of a page gives the page; the API never does.
for path in ["/instances", "/instances/x-1", "/inbox", "/definitions/hello/1.0.0", "/nothing/here", "/v10"]:
    answer = server.call("GET", path, role=None, **HTML)
    expect(f"a browser gets the page at {path}", answer.status == 200 and answer.text == page.text, (answer.status, answer.text[:100]))
for path in ["/v1", "/v1/", "/v1/nothing", "/v1/instances/x/nothing", "/assets/nothing.js", "/assets", "/v1/%2e%2e/instances"]:
    answer = server.call("GET", path, role=None, **HTML)
    expect(f"no page at {path}", answer.status == 404 and answer.headers["content-type"] == "application/problem+json", (answer.status, answer.text[:100]))
    expect(f"{path} has the policy of the API", answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'", answer.headers)
answer = server.call("GET", "/v1/instances", role=None, **HTML)
expect("the API asks a browser for a credential", answer.status == 401, answer.text[:100])
answer = server.call("GET", "/nothing", role=None)
expect("a program gets a problem, not a page", answer.status == 404 and answer.json["type"] == "/problems/not_found", answer.text[:100])
answer = server.call("GET", "/v1/definitions", **{"accept-encoding": "gzip"})
expect("the API has its own headers", answer.headers["cache-control"] == "no-store", answer.headers)

# The documentation, as pages and as Markdown.
front = server.call("GET", "/help/", role=None)
expect("the documentation needs no credential", front.status == 200 and "text/html" in front.headers["content-type"] and "cairn" in front.text, front.text[:200])
status, headers = headers_of(server, "/help/")
expect("its pages have the policy of the console", [one for header, one in headers if header == "content-security-policy"] == [POLICY], headers)
expect("its pages have no script or style of their own", not re.search(r"<style|style=|<script(?![^>]*src=)| on[a-z]+=", front.text), front.text[:400])
moved = server.call("GET", "/help", role=None)
expect("without the slash it is elsewhere", moved.status == 308 and moved.headers["location"] == "/help/", moved.headers)
for path, kind in [("/help/index.html", "text/html"), ("/help/how-to/back-up.html", "text/html"), ("/help/how-to/back-up.md", "text/markdown"),
                   ("/help/site.css", "text/css"), ("/help/site.js", "text/javascript"), ("/help/search.js", "text/javascript"), ("/help/llms.txt", "text/plain"),
                   ("/help/pictures/run.svg", "image/svg+xml")]:
    answer = server.call("GET", path, role=None)
    expect(f"{path} is {kind}", answer.status == 200 and answer.headers["content-type"].startswith(kind), (answer.status, answer.headers))
seen, wanted = set(), ["/help/index.html"]
while wanted:  # every link leads somewhere
    path = wanted.pop()
    if path in seen:
        continue
    seen.add(path)
    answer = server.call("GET", path, role=None)
    expect(f"{path} is there", answer.status == 200, answer.status)
    if path.endswith(".html"):
        for target in re.findall(r'(?:href|src)="([^"#]+)', answer.text):
            if "://" not in target:
                wanted.append(os.path.normpath(os.path.join(os.path.dirname(path), target)))
expect("the documentation is whole", len(seen) > 120, len(seen))
server.end()

# Behind a proxy that shows the server below a path.
server = Served(sys.argv[1], "--base-path", "/work/flow")
for path in ["/work/flow", "/work/flow/", "/work/flow/instances", "/"]:
    answer = server.call("GET", path, role=None, **HTML)
    found = re.findall(r'(?:src|href)="([^"]*/assets/[^"]+)"', answer.text)
    expect(f"{path} names files below the base path", answer.status == 200 and found and all(one.startswith("/work/flow/assets/") for one in found), found)
expect("the page has another tag below a base path", answer.headers["etag"] != page.headers["etag"], answer.headers)
moved = server.call("GET", "/work/flow/help", role=None)
expect("the documentation is below the base path", moved.headers["location"] == "/work/flow/help/" and server.call("GET", "/work/flow/help/", role=None).status == 200)
expect("its files are there", all(server.call("GET", path, role=None).status == 200 for path in found))
expect("so is the API", server.call("GET", "/work/flow/v1/info").status == 200)
expect("a proxy may remove the path itself", server.call("GET", "/v1/info").status == 200)
expect("another path is no base path", server.call("GET", "/work/flowers/v1/info").status == 404)
# A body that comes after its head is judged by the head.
big = {"definition": "x", "input": {"text": "x" * 300_000}}
expect("large bodies too", server.call("POST", "/work/flow/v1/instances", big).status == 404)
expect("large bodies of strangers are refused", server.call("POST", "/work/flow/v1/instances", big, role=None).status == 401)
server.end()
for wrong in ["cairn", "/cairn/", "/a//b", "/a b", "/..", "/v1", '/"x', "/v1/x", "/readyz", "/assets/x", "/help", "/.", "/a/./b"]:
    made = subprocess.run([sys.argv[1], "serve", "--store", "memory:", "--auth", "none", "--base-path", wrong], capture_output=True, text=True, timeout=60)
    expect(f"{wrong} is no base path", made.returncode != 0 and "base_path" in made.stderr, made.stderr)
finish()
