"""Lists, sets, maps and their order, grouping, sums."""

import datetime
from decimal import Decimal as D
from statistics import fmean

from vector import Area

ORDERS = [{"id": "a", "customer": "x", "total": 30}, {"id": "b", "customer": "y", "total": 10}, {"id": "c", "customer": "x", "total": 20}]


def lists(a):
    a.at("lists")
    for begin, end in [(0, 0), (0, 2), (1, 4), (4, 4), (0, 4)]:
        a.gives(f"[1, 2, 3, 4].slice({begin}, {end})", [1, 2, 3, 4][begin:end])
    for begin, end in [(-1, 2), (3, 2), (0, 5)]:
        a.fails(f"[1, 2, 3, 4].slice({begin}, {end})", "index_out_of_range")
    a.gives("[1, [2, [3, [4]]]].flatten()", [1, 2, [3, [4]]])
    a.gives("[1, [2, [3, [4]]]].flatten(2)", [1, 2, 3, [4]])
    a.gives("[[], [[]], 1].flatten()", [[], 1])
    a.fails("[1].flatten(-1)", "invalid_argument")
    a.gives("[1, 2, 1.0, \"1\", 2].distinct()", [1, 2, "1"])
    a.gives("[{\"a\": 1}, {\"a\": 1.0}, {\"a\": 2}].distinct()", [{"a": 1}, {"a": 2}])
    a.gives("[].distinct()", [])
    a.gives("[3, 1, 2].reverse()", [2, 1, 3])
    a.gives("[3, 1, 2].sort()", [1, 2, 3])
    a.gives("[\"b\", \"B\", \"a\", \"ä\"].sort()", ["B", "a", "b", "ä"])
    a.gives("[decimal(\"2.5\"), 1, decimal(\"1.5\")].sort()", [1, D("1.5"), D("2.5")])
    a.fails("x.sort()", "no_such_overload", x=[1, "a"])
    a.gives("x.sortBy(o, o.total).map(o, o.id)", ["b", "c", "a"], x=ORDERS)
    a.gives("x.sortBy(o, -o.total).map(o, o.id)", ["a", "c", "b"], x=ORDERS)
    a.gives("x.sortBy(o, o.customer).map(o, o.id)", ["a", "c", "b"], x=ORDERS)  # stable
    a.gives("[[2, \"b\"], [1, \"z\"], [2, \"a\"]].sortBy(p, p[0]).map(p, p[1])", ["z", "b", "a"])
    a.gives("lists.range(5)", [0, 1, 2, 3, 4])
    a.gives("lists.range(0)", [])
    a.gives("[1, 2].first().orValue(0)", 1)
    a.gives("[].last().hasValue()", False)
    a.gives("[1, 2] + [\"a\"]", [1, 2, "a"])
    a.fails("[1, 2][2]", "index_out_of_range")
    a.fails("[1, 2][-1]", "index_out_of_range")
    a.gives("[1, 2][?5].orValue(9)", 9)


def sets(a):
    a.at("sets")
    for left, right, contains, equivalent, intersects in [
            ("[1, 2, 3]", "[2, 1]", True, False, True), ("[1, 2]", "[2, 1, 1]", True, True, True), ("[]", "[]", True, True, False),
            ("[1]", "[]", True, False, False), ("[]", "[1]", False, False, False), ("[1, 2]", "[3]", False, False, False), ("[1.0, 2]", "[1u, 2]", True, True, True)]:
        a.gives(f"sets.contains({left}, {right})", contains)
        a.gives(f"sets.equivalent({left}, {right})", equivalent)
        a.gives(f"sets.intersects({left}, {right})", intersects)


def order(a):
    a.at("order of maps")
    a.gives("{\"b\": 1, \"a\": 2, \"C\": 3}.map(k, k)", ["C", "a", "b"])
    a.gives("{\"b\": 1, \"a\": 2}.transformList(k, v, k + string(v))", ["a2", "b1"])
    a.gives("{10: 1, 9: 2, -1: 3}.map(k, k)", [-1, 9, 10])
    a.gives("{\"10\": 1, \"9\": 2}.map(k, k)", ["10", "9"])
    a.gives("{\"z\": 1, 5: 2, true: 3, false: 4}.map(k, string(k))", ["false", "true", "5", "z"])
    a.gives("{\"ä\": 1, \"z\": 2, \"é\": 3}.map(k, k)", ["z", "ä", "é"])
    a.gives("x.map(k, k)", ["a", "b", "c"], x={"c": 1, "a": 2, "b": 3})
    a.gives("{\"b\": 1, \"a\": 2}.filter(k, true)", ["a", "b"])
    a.gives("{\"b\": 1, \"a\": 2} == {\"a\": 2, \"b\": 1}", True)
    a.fails("{\"a\": 1, \"a\": 2}", "invalid_argument")
    a.fails("{1: 1, 1u: 2}", "invalid_argument")


def maps(a):
    a.at("maps")
    a.gives("{\"b\": 1, \"a\": 2}.keys()", ["a", "b"])
    a.gives("{\"b\": 1, \"a\": 2}.values()", [2, 1])
    a.gives("{}.keys()", [])
    a.gives("{\"a\": 1}.entries()", [{"key": "a", "value": 1}])
    a.gives("{\"b\": 1, \"a\": [2]}.entries().fromEntries()", {"a": [2], "b": 1})
    a.gives("[[\"a\", 1], [\"b\", 2]].fromEntries()", {"a": 1, "b": 2})
    a.gives("[].fromEntries()", {})
    a.fails("[[\"a\", 1], [\"a\", 2]].fromEntries()", "invalid_argument")
    a.fails("[[\"a\"]].fromEntries()", "invalid_argument")
    a.fails("[{\"key\": 1}].fromEntries()", "invalid_argument")
    a.fails("[[1.5, 1]].fromEntries()", "no_such_overload")
    a.gives("{\"a\": 1, \"b\": 2}.merge({\"b\": 3, \"c\": 4})", {"a": 1, "b": 3, "c": 4})
    a.gives("{\"a\": 1}.merge({\"a\": null})", {"a": None})
    a.gives("{\"a\": {\"x\": 1}}.merge({\"a\": {\"y\": 2}})", {"a": {"y": 2}})
    a.gives("{\"a\": {\"x\": 1, \"z\": {\"p\": 1}}}.mergeDeep({\"a\": {\"y\": 2, \"z\": {\"q\": 2}}})", {"a": {"x": 1, "y": 2, "z": {"p": 1, "q": 2}}})
    a.gives("{\"a\": {\"x\": 1}}.mergeDeep({\"a\": 1})", {"a": 1})
    a.gives("{\"a\": [1]}.mergeDeep({\"a\": [2]})", {"a": [2]})
    a.gives("x.merge(y)", {"a": 2, "b": 1}, x={"a": 1, "b": 1}, y={"a": 2})
    a.gives("{\"a\": 1, \"b\": 2, \"c\": 3}.pick([\"c\", \"a\", \"x\"])", {"a": 1, "c": 3})
    a.gives("{\"a\": 1, \"b\": 2, \"c\": 3}.omit([\"c\", \"x\"])", {"a": 1, "b": 2})
    a.gives("{\"a\": 1}.pick([])", {})
    a.gives("{1: \"a\", 2: \"b\"}.omit([1])", {2: "b"})


def grouping(a):
    a.at("grouping")
    a.gives("[1, 2, 3, 4, 5].groupBy(n, n % 2)", {0: [2, 4], 1: [1, 3, 5]})
    a.gives("x.groupBy(o, o.customer)", {"x": [ORDERS[0], ORDERS[2]], "y": [ORDERS[1]]}, x=ORDERS)
    a.gives("x.groupBy(o, o.customer).transformMap(k, v, v.map(o, o.total).sum())", {"x": 50, "y": 10}, x=ORDERS)
    a.gives("[].groupBy(n, n)", {})
    a.gives("[true, false, true].groupBy(b, b)", {False: [False], True: [True, True]})
    a.fails("[1.5].groupBy(n, n)", "no_such_overload")
    a.fails("[1].groupBy(n, [n])", "no_such_overload")
    a.fails("x.groupBy(o, o.nothing)", "no_such_key", x=ORDERS)
    a.gives("x.countBy(o, o.customer)", {"x": 2, "y": 1}, x=ORDERS)
    a.gives("[\"a\", \"bb\", \"cc\"].countBy(s, size(s))", {1: 1, 2: 2})
    a.gives("x.indexBy(o, o.id).c.total", 20, x=ORDERS)
    a.fails("x.indexBy(o, o.customer)", "invalid_argument", x=ORDERS)
    a.gives("x.distinctBy(o, o.customer).map(o, o.id)", ["a", "b"], x=ORDERS)
    a.gives("[1, 2, 3, 4].distinctBy(n, [n % 2])", [1, 2])
    a.gives("[1, 1.0, 2].distinctBy(n, n)", [1, 2])
    a.gives("[1, 2].zip([\"a\", \"b\"])", [[1, "a"], [2, "b"]])
    a.gives("[].zip([])", [])
    a.fails("[1, 2].zip([1])", "invalid_argument")
    a.gives("[1, 2, 3, 4, 5].chunk(2)", [[1, 2], [3, 4], [5]])
    a.gives("[1, 2].chunk(9223372036854775807)", [[1, 2]])
    a.gives("[].chunk(3)", [])
    a.fails("[1].chunk(0)", "invalid_argument")


def aggregates(a):
    a.at("aggregates")
    a.gives("[1, 2, 3].sum()", 6)
    a.gives("[].sum()", 0)
    a.gives("[1, 2.5].sum()", 3.5)
    a.gives("[0.1, 0.2, 0.3].sum()", 0.1 + 0.2 + 0.3)
    a.gives("[decimal(\"0.1\"), decimal(\"0.20\"), 3].sum()", D("3.30"))
    a.gives("[3, decimal(\"0.1\")].sum()", D("3.1"))
    a.gives("[duration(\"1h\"), duration(\"30m\")].sum()", datetime.timedelta(minutes=90))
    a.gives("[9223372036854775807, 1, -1].sum()", 9223372036854775807)  # only the result must fit
    a.fails("[9223372036854775807, 1].sum()", "overflow")
    a.fails("[decimal(\"1\"), 1.5].sum()", "no_such_overload")
    a.fails("[1.5, decimal(\"1\")].sum()", "no_such_overload")
    a.fails("x.sum()", "no_such_overload", x=[1, "a"])
    a.fails("x.sum()", "no_such_overload", x=[1, None])
    a.fails("[duration(\"1s\"), dyn(1)].sum()", "no_such_overload")
    a.gives("[1, 2].avg()", 1.5)
    a.gives("[1, 2, 4, 5].avg()", 3.0)
    a.gives("x.avg()", fmean([0.5, 2.25]), x=[0.5, 2.25])
    a.gives("[decimal(\"1.00\"), decimal(\"2.00\")].avg()", D("1.50"))
    a.gives("[decimal(\"1\"), decimal(\"1\"), decimal(\"2\")].avg()", D("1.333333333333333333333333333333333"))
    a.gives("[9223372036854775807, 9223372036854775807].avg()", 9223372036854775808.0)
    a.fails("[].avg()", "invalid_argument")
    a.gives("[3, 1, 2].min()", 1)
    a.gives("[3, 1.5, 2].max()", 3)
    a.gives("[\"b\", \"a\"].min()", "a")
    a.fails("[].max()", "invalid_argument")
    a.fails("x.max()", "no_such_overload", x=[1, "a"])
    a.gives("x.minBy(o, o.total).id", "b", x=ORDERS)
    a.gives("x.maxBy(o, o.total).id", "a", x=ORDERS)
    a.gives("x.maxBy(o, o.customer == \"x\" ? 1 : 0).id", "a", x=ORDERS)  # the first of equals
    a.fails("[].minBy(o, o)", "invalid_argument")
    a.gives("x.map(o, o.total).sum() / size(x)", 20, x=ORDERS)


def area():
    a = Area("containers", "lists, sets, maps and their order, grouping, sums")
    for part in (lists, sets, order, maps, grouping, aggregates):
        part(a)
    return a
