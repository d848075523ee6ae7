"""Error codes, the budget and the limits of the text."""

from vector import Area


def area():
    a = Area("faults", "error codes, the budget, limits of the text")

    a.at("codes")
    a.fails("x.b", "no_such_key", x={"a": 1})
    a.fails("x[\"b\"]", "no_such_key", x={"a": 1})
    a.fails("x.a.b", "no_such_key", x={"a": {}})
    a.fails("{\"a\": 1}[\"b\"]", "no_such_key")
    a.fails("[1][1]", "index_out_of_range")
    a.fails("x[5]", "index_out_of_range", x=[1])
    a.fails("1 +", "syntax")
    a.fails("(1", "syntax")
    a.fails("\"open", "syntax")
    a.fails("", "syntax")
    a.fails("a b", "syntax", a=1, b=1)
    a.fails("nothing", "unknown_name")
    a.fails("[1].map(x, y)", "unknown_name")
    a.fails("nothing(1)", "unknown_function")
    a.fails("\"a\".nothing()", "unknown_function")
    a.fails("size(1)", "no_such_overload")
    a.fails("x.size()", "no_such_overload", x=1)
    a.fails("timestamp(\"yesterday\")", "invalid_argument")
    a.fails("duration(\"1y\")", "invalid_argument")
    a.fails("int(\"x\")", "invalid_argument")
    a.gives("false && x.b", False, x={})
    a.gives("x.b && false", False, x={})
    a.gives("true || x.b", True, x={})
    a.gives("x.b || true", True, x={})
    a.fails("x.b && true", "no_such_key", x={})
    a.fails("x.b || false", "no_such_key", x={})
    a.gives("[1, 0].exists(n, 1 / n == 1)", True)
    a.gives("[0, 1].exists(n, 1 / n == 1)", True)
    a.fails("[0, 2].exists(n, 1 / n == 1)", "divide_by_zero")
    a.gives("has(x.b)", False, x={})
    a.gives("has(x.b)", True, x={"b": None})

    a.at("no clock, no chance")
    for name in ["now()", "random()", "rand()", "uuid()", "env(\"HOME\")", "today()", "time()"]:
        a.fails(name, "unknown_function")

    a.at("budget")
    big = "x" * 1000
    a.fails("lists.range(2000000)", "cost_exceeded")
    a.fails("lists.range(9223372036854775807)", "cost_exceeded")
    a.fails("lists.range(2000).map(a, lists.range(2000).map(b, a * b))", "cost_exceeded")
    a.fails("lists.range(200).all(a, lists.range(200).all(b, lists.range(200).all(c, true)))", "cost_exceeded")
    a.fails("[" + ", ".join(["x"] * 20) + "].map(a, lists.range(1000).map(b, x + x + x))", "cost_exceeded", name="text in a loop", x=big)
    doubling = "x + x"
    for _ in range(20):
        doubling = f"cel.bind(x, {doubling}, x + x)"
    a.fails(doubling, "cost_exceeded", name="doubling text", x=big)
    shared = "cel.bind(x, [x, x], " * 40 + "toJson(x)" + ")" * 40
    a.fails(shared, "cost_exceeded", name="a value that holds itself 2^40 times as JSON", x=1)
    for body in ["[x, x] == [x, x].map(y, y)", "[x] in [[x].map(y, y)]", "x.flatten(50)", "\"%s\".format([x])", "template(\"{x}\", {\"x\": x})"]:
        a.fails("cel.bind(x, [x, x], " * 40 + body + ")" * 40, "cost_exceeded", name="2^40 times: " + body, x=1)
    a.fails("lists.range(100000).map(n, \"x\".padStart(1000 + n % 2))", "cost_exceeded")
    a.fails("lists.range(3000).sortBy(n, lists.range(1000)[n % 1000])", "cost_exceeded")
    a.fails("lists.range(2000).distinctBy(n, [n])", "cost_exceeded")
    a.fails("date(1, 1, 1).businessDaysBetween(date(9999, 12, 31))", "cost_exceeded")
    # The budget is never absorbed as other errors are.
    a.fails("lists.range(2000000) == [] || true", "cost_exceeded")
    a.fails("false && lists.range(2000000) == [] || lists.range(2000000) == [] || true", "cost_exceeded")
    a.gives("lists.range(10000).map(n, n * 2).sum()", 99990000)
    a.gives("size(lists.range(100000))", 100000)

    a.at("limits of the text")
    a.fails("(" * 100000 + "1" + ")" * 100000, "limit", name="a hundred thousand parentheses")
    a.fails("[" * 1000 + "]" * 1000, "limit", name="a thousand brackets")
    a.fails("-" * 1000 + "1", "limit", name="a thousand signs")
    a.fails("!" * 1001 + "true", "limit", name="a thousand negations")
    a.gives(" + ".join(["1"] * 400), 400, name="a long sum")
    a.fails("1 + " * 50000 + "1", "limit", name="a sum that is too long")
    a.fails("[" + "1," * 40000 + "1]", "limit", name="a list with too many nodes")
    return a
