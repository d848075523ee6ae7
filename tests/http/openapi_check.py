#!/usr/bin/env python3
"""openapi_check.py CAIRN SOURCE_DIR: the OpenAPI document of the server, judged by a validator that is not ours (npm, pinned in openapi/)."""
import json, os, subprocess, sys, tempfile
from served import Served, expect, finish

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "openapi")
if not os.path.isdir(os.path.join(here, "node_modules")):
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=here, check=True)
server = Served(sys.argv[1], "--auth", "none", keys=False)
with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    json.dump(server.call("GET", "/openapi.json").json, file)
    file.flush()
    judged = subprocess.run(["node", "validate.mjs", file.name], cwd=here, capture_output=True, text=True)
    print(judged.stdout.strip())
    expect("the document is valid OpenAPI 3.1", judged.returncode == 0, judged.stderr)
expect("the server ends with 0", server.end() == 0, server.said)
finish()
