#!/usr/bin/env python3
"""types_test.py CAIRN SOURCE_DIR NODE: the console's types are those of the server's OpenAPI document, its code has no type errors, and the notices
name the packages that are in it."""
import os, subprocess, sys, tempfile
sys.path.insert(0, os.path.join(sys.argv[2], "tests/http"))
from served import Served, expect, finish

console, node = os.path.join(sys.argv[2], "console"), sys.argv[3]
server = Served(sys.argv[1], "--auth", "none", keys=False)
document = server.call("GET", "/openapi.json", role=None).text
licenses = server.call("GET", "/licenses.txt", role=None).text
server.end()
with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    file.write(document)
    file.flush()
    made = subprocess.run([node, "types.mjs", file.name, "--check"], cwd=console, capture_output=True, text=True, timeout=120)
expect("src/api_types.ts is up to date", made.returncode == 0, made.stderr)
checked = subprocess.run([node, "node_modules/typescript/bin/tsc", "--noEmit", "-p", "."], cwd=console, capture_output=True, text=True, timeout=300)
expect("the types are right", checked.returncode == 0, checked.stdout + checked.stderr)
with open(os.path.join(sys.argv[2], "third_party/licenses/console.txt")) as file:
    expect("third_party/licenses/console.txt is /licenses.txt of the server", file.read() == licenses, licenses[:200])
finish()
