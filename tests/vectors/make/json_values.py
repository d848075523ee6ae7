"""Values as JSON (V4), parseJson, toJson and JSON pointers."""

import datetime
import json
import math
from decimal import Decimal as D

from vector import UTC, Area, Uint, quoted


def area():
    a = Area("json", "values as JSON and back, JSON pointers")

    a.at("to JSON")
    for value in [None, True, False, 0, -5, 2**63 - 1, -(2**63), 1.5, 0.1, "", "a\"b\\c", "grüße", [], {}, [1, [2, {"a": None}]]]:
        a.gives("toJson(x)", json.dumps(value, ensure_ascii=False, separators=(",", ":")), x=value)
    a.gives("toJson({\"b\": 1, \"a\": {\"d\": 2, \"c\": 3}})", '{"a":{"c":3,"d":2},"b":1}')
    a.gives("toJson(\"\\n\\t\\u0001\")", '"\\n\\t\\u0001"')
    a.gives("toJson(x)", "5", x=Uint(5))
    a.gives("toJson(x)", '"AAE="', x=b"\x00\x01")
    a.gives("toJson(x)", '"30.30"', x=D("30.30"))
    for at, wanted in [((2024, 2, 2, 8), "2024-02-02T08:00:00Z"), ((2024, 2, 2, 8, 0, 0, 250000), "2024-02-02T08:00:00.25Z"), ((1, 1, 1), "0001-01-01T00:00:00Z")]:
        a.gives("toJson(x)", f'"{wanted}"', x=datetime.datetime(*at, tzinfo=UTC))
    a.gives("toJson(timestamp(\"2024-02-02T09:00:00+01:00\"))", '"2024-02-02T08:00:00Z"')
    a.gives("toJson(timestamp(\"2024-02-02T08:00:00.123456789Z\"))", '"2024-02-02T08:00:00.123456789Z"')
    for text, wanted in [("1h30m", "PT1H30M"), ("0s", "PT0S"), ("36h", "P1DT12H"), ("250ms", "PT0.25S"), ("1w", "P7D"), ("90s", "PT1M30S")]:
        a.gives(f"toJson(duration({quoted(text)}))", f'"{wanted}"')
    a.gives("toJson(optional.of(1))", "1")
    a.gives("toJson([decimal(\"1.0\"), duration(\"1s\")])", '["1.0","PT1S"]')
    for expr in ["toJson({1: 2})", "toJson({true: 1})", "toJson(int)", "toJson(optional.none())", "toJson([optional.none()])", "toJson({\"a\": {2: 3}})", "toJson(\"a\\u0000\")"]:
        a.fails(expr, "not_json")
    for value in [math.nan, math.inf, -math.inf]:
        a.fails("toJson(x)", "not_json", x=value)
    a.fails("toJson(18446744073709551615u)", "not_json")

    a.at("back")
    a.gives("timestamp(\"2024-02-02T08:00:00Z\") == timestamp(parseJson(toJson(timestamp(\"2024-02-02T08:00:00Z\"))))", True)
    a.gives("duration(parseJson(toJson(duration(\"36h\")))) == duration(\"36h\")", True)
    a.gives("string(decimal(parseJson(toJson(decimal(\"30.30\")))))", "30.30")

    a.at("parse JSON")
    for text in ["null", "true", "0", "-7", "1.5", "1e3", "\"a\"", "[]", "{}", "[1,[2]]", "{\"a\":{\"b\":[1]}}", " 1 ", "9223372036854775807", "9223372036854775808", "1.0", "\"\\u00fc\""]:
        value = json.loads(text)
        if isinstance(value, int) and not isinstance(value, bool) and value > 2**63 - 1:
            value = float(value)
        a.gives("parseJson(x)", value, x=text)
    for text in ["", "{", "[1,]", "nul", "{\"a\":1,\"a\":2}", "'a'", "01", "NaN", "1 2", "\"\\ud800\"", "[" * 200 + "]" * 200, "\"\\u0000\"", "1e999"]:
        a.fails("parseJson(x)", "invalid_argument", x=text)

    a.at("pointer")
    document = {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "m~n": 8, " ": 7, "deep": {"0": {"x": None}}}
    for pointer, value in [("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1), ("/c%d", 2), ("/m~0n", 8), ("/ ", 7), ("/deep/0/x", None), ("", document)]:
        a.gives(f"jsonPointer(x, {quoted(pointer)}).value()", value, x=document)
    for pointer in ["/nothing", "/foo/2", "/foo/-1", "/foo/00", "/foo/-", "/foo/bar", "/deep/0/x/y", "/foo/99999999999999999999"]:
        a.gives(f"jsonPointer(x, {quoted(pointer)}).hasValue()", False, x=document)
    a.gives("jsonPointer(x, \"/no\").orValue(5)", 5, x=document)
    for pointer in ["foo", "/m~n", "/m~2n", "/~"]:
        a.fails(f"jsonPointer(x, {quoted(pointer)})", "invalid_argument", x=document)
    return a
