"""Templates, padding, regular expressions, hashes."""

import datetime
import hashlib
import uuid
from decimal import Decimal as D

from vector import UTC, Area, quoted


def uuid_from(text):
    digest = bytearray(hashlib.sha256(text.encode()).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(digest)))


def area():
    a = Area("text", "templates, padding, regular expressions, hashes")

    a.at("template")
    for text, wanted in [("Hello {name}", "Hello Ann"), ("{name}{name}", "AnnAnn"), ("{{name}}", "{name}"), ("{{{name}}}", "{Ann}"), ("", ""), ("no holes", "no holes"), ("{a.b}", "7"), ("{list}", "[1,\"x\"]"),
                         ("{yes} {half} {big}", "true 0.5 9223372036854775807"), ("{price}", "12.50"), ("{at}", "2024-02-02T08:00:00Z"), ("{long}", "PT1H30M"), ("{a}", "{\"b\":7}"), ("ü{name}ß", "üAnnß"), ("}}", "}"), ("{{}}", "{}")]:
        a.gives(f"template({quoted(text)}, v)", wanted, v={
            "name": "Ann", "a": {"b": 7}, "list": [1, "x"], "yes": True, "half": 0.5, "big": 2**63 - 1, "price": D("12.50"),
            "at": datetime.datetime(2024, 2, 2, 8, tzinfo=UTC), "long": datetime.timedelta(minutes=90)})
    a.gives("template(\"{x}\", {\"x\": \"{y}\", \"y\": \"no\"})", "{y}")  # what was filled in is not read again
    a.fails("template(\"{missing}\", {})", "no_such_key")
    a.fails("template(\"{a.c}\", {\"a\": {\"b\": 1}})", "no_such_key")
    a.fails("template(\"{a.b.c}\", {\"a\": {\"b\": 1}})", "no_such_key")
    a.fails("template(\"{}\", {})", "no_such_key")
    a.fails("template(\"{a\", {\"a\": 1})", "invalid_argument")
    a.fails("template(\"a}\", {\"a\": 1})", "invalid_argument")
    a.fails("template(\"{a}\", {\"a\": null})", "invalid_argument")
    a.fails("template(\"{a}\", {\"a\": type(1)})", "not_json")

    a.at("pad and cut")
    for text, width, fill in [("7", 3, "0"), ("12345", 3, "0"), ("", 2, "-"), ("grü", 5, "ß"), ("x", 1, " "), ("x", -5, " ")]:
        a.gives(f"{quoted(text)}.padStart({width}, {quoted(fill)})", text.rjust(max(width, 0), fill))
        a.gives(f"{quoted(text)}.padEnd({width}, {quoted(fill)})", text.ljust(max(width, 0), fill))
    a.gives("\"7\".padStart(3)", "  7")
    a.gives("\"7\".padEnd(3)", "7  ")
    a.fails("\"7\".padStart(3, \"ab\")", "invalid_argument")
    a.fails("\"7\".padStart(3, \"\")", "invalid_argument")
    a.fails("\"7\".padStart(1000001)", "invalid_argument")
    for text, size, ending, wanted in [("workflow", 5, "…", "work…"), ("work", 5, "…", "work"), ("workflow", 8, "…", "workflow"), ("grüße", 3, "", "grü"), ("abc", 0, "", ""), ("🙂🙂🙂", 2, "", "🙂🙂"), ("abcdef", 3, "...", "...")]:
        a.gives(f"{quoted(text)}.truncate({size}, {quoted(ending)})", wanted)
    a.fails("\"abc\".truncate(-1)", "invalid_argument")
    a.fails("\"abc\".truncate(2, \"...\")", "invalid_argument")
    a.gives("\"INV-7\".removePrefix(\"INV-\")", "7")
    a.gives("\"INV-7\".removePrefix(\"inv-\")", "INV-7")
    a.gives("\"aa\".removePrefix(\"a\")", "a")
    a.gives("\"a.json\".removeSuffix(\".json\")", "a")
    a.gives("\"x\".removeSuffix(\"\")", "x")
    for text, blank in [("", True), (" \t\r\n", True), ("a", False), (" a ", False), ("\u00a0", False)]:
        a.gives("x.isBlank()", blank, x=text)

    a.at("regex")
    for text, pattern, wanted in [("A-17", "^[A-Z]-[0-9]+$", True), ("A-17x", "^[A-Z]-[0-9]+$", False), ("xabcx", "abc", True), ("", "", True), ("grün", "^gr.n$", True), ("ABC", "(?i)abc", True), ("a\nb", "a.b", False), ("a\nb", "(?s)a.b", True), ("foobar", "^(foo|bar)+$", True)]:
        a.gives(f"x.matches({quoted(pattern)})", wanted, x=text)
    a.gives("x.matches(\"^(a+)+$\")", False, name="no backtracking", x="a" * 5000 + "!")
    a.fails("\"a\".matches(\"(\")", "invalid_argument")
    a.fails("\"aa\".matches(\"(a)\\\\1\")", "invalid_argument")  # RE2 has no back references
    a.fails("\"a\".matches(\"a(?=b)\")", "invalid_argument")  # nor look-ahead
    a.gives("regex.replace(\"hello world\", \"l+\", \"L\")", "heLo worLd")
    a.gives("regex.replace(\"banana\", \"a\", \"x\", 2)", "bxnxna")
    a.gives("regex.replace(\"John Smith\", \"(\\\\w+) (\\\\w+)\", \"\\\\2 \\\\1\")", "Smith John")
    a.gives("regex.extract(\"item-A, item-B\", \"item-(\\\\w+)\").orValue(\"\")", "A")
    a.gives("regex.extract(\"HELLO\", \"hello\").hasValue()", False)
    a.gives("regex.extractAll(\"id:123, id:456\", \"id:\\\\d+\")", ["id:123", "id:456"])
    a.gives("regex.extractAll(\"testuser@a, other@b\", \"(\\\\w+)@\")", ["testuser", "other"])
    a.gives("regex.extractAll(\"none\", \"x+\")", [])
    a.fails("regex.extract(\"ab\", \"(a)(b)\")", "invalid_argument")

    a.at("hash")
    for text in ["", "abc", "grüße", "x" * 1000]:
        a.gives("sha256(x)", hashlib.sha256(text.encode()).hexdigest(), name=f"sha256 of {text[:5]!r}", x=text)
        a.gives("uuidFrom(x)", uuid_from(text), name=f"uuidFrom of {text[:5]!r}", x=text)
    a.gives("sha256(b\"\\x00\\xff\")", hashlib.sha256(b"\x00\xff").hexdigest())
    a.fails("sha256(x)", "no_such_overload", x=1)

    a.at("coalesce")
    a.gives("coalesce(x.?a, x.?b, 0)", 2, x={"b": 2})
    a.gives("coalesce(x.?a, x.?b, 0)", 0, x={})
    a.gives("coalesce(x.a, 5)", 5, x={"a": None})
    a.gives("coalesce(x.a, 5)", False, x={"a": False})
    a.gives("coalesce(x.a, 5)", "", x={"a": ""})
    a.gives("coalesce(null)", None)
    a.gives("coalesce(null, null)", None)
    a.gives("coalesce(x.?a.?b, \"none\")", "none", x={"a": {}})
    a.gives("coalesce(optional.of(optional.of(1)))", 1)
    a.fails("coalesce(x.a, 5)", "no_such_key", x={})  # a missing key is an error unless asked for with .?
    return a
