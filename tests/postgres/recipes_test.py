#!/usr/bin/env python3
"""recipes_test.py CAIRN SOURCE_DIR: what docs/operations/postgresql.md says to paste works on an empty server, line by line: roles, rights,
the index for programs that lease with SQL, and their statements. Without PostgreSQL nothing is tested."""
import os, re, shutil, subprocess, sys, tempfile

cairn, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path.insert(0, os.path.join(source, "tests/http"))
from served import Served, expect, finish

throwaway = os.path.join(source, "tests/postgres/throwaway.sh")
if not shutil.which("psql"):
    print("psql is not installed: skipped")
    sys.exit(0)
folder = tempfile.mkdtemp(prefix="cairn-recipes-")
if subprocess.run([throwaway, "start", folder, "quick"]).returncode != 0:
    print("PostgreSQL is not installed: skipped")
    sys.exit(0)


def url(role, schema="cairn"):
    return f"postgresql:///cairn?host={folder}&user={role}&schema={schema}"


def psql(role, text):
    done = subprocess.run(["psql", "-h", folder, "-U", role, "-d", "cairn", "-v", "ON_ERROR_STOP=1", "-Atq"], input=text, capture_output=True,
                          text=True, timeout=120)
    return done.stdout.strip() if done.returncode == 0 else done.stderr


def refused(role, text):
    return "permission denied" in psql(role, text)


def blocks(heading):
    """The SQL blocks of a section of the page."""
    with open(os.path.join(source, "docs/operations/postgresql.md")) as file:
        page = file.read()
    section = re.search(r"^## " + heading + r"$(.*?)^## ", page, re.M | re.S).group(1)
    return re.findall(r"^```sql\n(.*?)^```$", section, re.M | re.S)


def test_roles():
    roles, rights = blocks("Schema and roles")
    expect("the roles are made", psql("cairn", roles) == "", psql("cairn", "SELECT 1"))
    made = subprocess.run([cairn, "migrate", "--store", url("cairn_migrate")], capture_output=True, text=True, timeout=120)
    expect("the tables are made", made.returncode == 0, made.stderr)
    expect("the rights are given", psql("cairn", rights) == "")
    expect("a node may not change tables", refused("cairn_run", "CREATE TABLE cairn.x (n integer)"))
    expect("reports may read", psql("cairn_read", "SELECT count(*) FROM cairn.wf_instances") == "0")
    expect("and nothing else", refused("cairn_read", "SELECT 1 FROM cairn.wf_api_keys") and refused("cairn_read", "DELETE FROM cairn.workflow_run"))
    expect("programs have no rights on the queue", refused("cairn_work", "SELECT 1 FROM cairn.wf_run_q"))


def test_work():
    index, lease, _, publish = blocks("Programs that use SQL")
    expect("the index is made", psql("cairn_migrate", index) == "")
    node = Served(cairn, store=url("cairn_run"))
    expect("a node works with its role", node.port)
    submitted = node.call("POST", "/v1/runs", {"type": "billing.charge.v1", "payload": {"amount": 12}}, role="starter")
    expect("a run is submitted", submitted.status == 201, submitted.text)
    psql("cairn_work", "INSERT INTO cairn.workflow_run (type, payload) VALUES ('media.thumbnail.v1', '{}')")
    expect("a program leases it", submitted.json["id"] in psql("cairn_work", lease), psql("cairn_work", lease))
    done = psql("cairn_work", "UPDATE cairn.workflow_run SET status = 'succeeded', result = '1', lease_until = NULL, leased_by = NULL WHERE id = "
                f"'{submitted.json['id']}' RETURNING status || ' ' || attempt")
    expect("and finishes it", done == "succeeded 1", done)
    seen = node.call("GET", "/v1/runs/" + submitted.json["id"])
    expect("which the node shows", seen.json["status"] == "succeeded" and seen.json["attempt"] == 1, seen.text)
    waiting = node.call("POST", "/v1/runs", {"type": "billing.charge.v1", "payload": {}}, role="starter").json["id"]
    psql("cairn_work", lease)
    gone = node.call("DELETE", f"/v1/runs/{waiting}?reason=tidy", role="operator")
    expect("a leased run is deleted over HTTP", gone.status == 200 and gone.json["status"] == "leased", gone.text)
    psql("cairn_work", "INSERT INTO cairn.outbox_event (aggregate_id, event_type, payload) VALUES (gen_random_uuid(), 'invoice.paid.v1', '{}')")
    expect("a program publishes an event", "invoice.paid.v1" in psql("cairn_work", publish.replace("4711", "1")))
    expect("and marks it", psql("cairn_work", "SELECT count(*) FROM cairn.outbox_event WHERE published_at IS NULL") == "0")
    node.end()


def test_poll():
    """However many runs have finished, the statement reads a few pages."""
    _, lease, _, _ = blocks("Programs that use SQL")
    psql("cairn", "SET session_replication_role = replica; INSERT INTO cairn.workflow_run (type, status, turns) SELECT 'billing.charge.v1', "
         "'succeeded', 3 FROM generate_series(1, 100000)")
    psql("cairn", "INSERT INTO cairn.workflow_run (type) SELECT 'billing.charge.v1' FROM generate_series(1, 1000); VACUUM ANALYZE cairn.workflow_run")
    for prefixes in ("type LIKE 'billing.%'", "(type LIKE 'billing.%' OR type LIKE 'media.%' OR type LIKE 'email.%')"):
        select = re.search(r"\((SELECT id.*)\)\nRETURNING", lease, re.S).group(1).replace("type LIKE 'billing.%'", prefixes)
        plan = psql("cairn", "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) " + select)
        read = re.search(r"Buffers: shared (?:hit=(\d+))?(?: ?read=(\d+))?", plan)
        expect("the index is used", "Index Scan using workflow_run_poll" in plan, plan)
        expect("few pages are read", read and sum(int(pages or 0) for pages in read.groups()) < 20, plan)
        expect("no sort is needed", "Sort" not in plan, plan)


def test_foreign_tables():
    psql("cairn", "CREATE SCHEMA shop; CREATE TABLE shop.workflow_run (id uuid); CREATE VIEW shop.orders AS SELECT 1 AS n")
    made = subprocess.run([cairn, "migrate", "--store", url("cairn", "shop")], capture_output=True, text=True, timeout=120)
    expect("a schema with other tables is refused", made.returncode != 0)
    expect("which are named", "orders, workflow_run" in made.stderr and "?schema=" in made.stderr, made.stderr)
    expect("and stay", psql("cairn", "SELECT count(*) FROM pg_tables WHERE schemaname = 'shop'") == "1")


try:
    test_roles()
    test_work()
    test_poll()
    test_foreign_tables()
finally:
    subprocess.run([throwaway, "stop", folder])
finish()
