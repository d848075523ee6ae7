"""Calendar arithmetic against Python's datetime and zoneinfo."""

import datetime as dt
from datetime import timedelta
from zoneinfo import ZoneInfo

from vector import Area, Nanos, UTC, quoted, timestamp_text

SECOND = timedelta(seconds=1)
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def t(at):
    return f'timestamp("{timestamp_text(at)}")'


def utc(*parts):
    return dt.datetime(*parts, tzinfo=UTC)


def from_local(naive, zone):
    """The first instant at which the clocks of the zone show this time or, when they skip it, a later one."""
    info = ZoneInfo(zone)
    first = naive.replace(tzinfo=info, fold=0).astimezone(UTC)
    if first.astimezone(info).replace(tzinfo=None) == naive:
        return first
    low, high = first - timedelta(days=1), first
    while high - low > SECOND:
        middle = low + (high - low) // 2
        middle -= timedelta(microseconds=middle.microsecond)
        if middle.astimezone(info).replace(tzinfo=None) < naive:
            low = middle
        else:
            high = middle
    return high


def local(at, zone):
    return at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def plus_months(naive, months):
    total = naive.year * 12 + naive.month - 1 + months
    year, month = divmod(total, 12)
    last = (dt.date(year + (month + 1) // 12, (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return naive.replace(year=year, month=month + 1, day=min(naive.day, last))


def first_of(naive, unit):
    day = naive.replace(hour=0, minute=0, second=0, microsecond=0)
    return {"day": day, "week": day - timedelta(days=day.weekday()), "month": day.replace(day=1),
            "quarter": day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1), "year": day.replace(month=1, day=1)}[unit]


def next_of(naive, unit):
    first = first_of(naive, unit)
    if unit in ("day", "week"):
        return first + timedelta(days=1 if unit == "day" else 7)
    return plus_months(first, {"month": 1, "quarter": 3, "year": 12}[unit])


def is_business(day, weekend=(5, 6), holidays=()):
    return day.weekday() not in weekend and day.isoformat() not in holidays and day.isoformat()[5:] not in holidays


def add_business(day, count, **calendar):
    step = timedelta(days=1 if count > 0 else -1)
    while count:
        day += step
        if is_business(day, **calendar):
            count -= 1 if count > 0 else -1
    return day


def count_business(begin, end, **calendar):
    sign, step = (1, timedelta(days=1)) if begin <= end else (-1, timedelta(days=-1))
    count = 0
    while begin != end:
        begin += step
        count += sign * is_business(begin, **calendar)
    return count


def arithmetic(a):
    a.at("date")
    for y, m, d in [(2024, 2, 29), (1970, 1, 1), (1, 1, 1), (9999, 12, 31), (2000, 12, 31)]:
        a.gives(f"date({y}, {m}, {d})", utc(y, m, d))
    for zone in ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland", "America/Sao_Paulo", "Asia/Kathmandu"]:
        for y, m, d in [(2024, 1, 15), (2024, 7, 15)]:
            a.gives(f"date({y}, {m}, {d}, {quoted(zone)})", from_local(dt.datetime(y, m, d), zone))
    # Midnight did not exist: clocks in Beirut and Havana go forward at 00:00.
    a.gives('date(2022, 3, 27, "Asia/Beirut")', from_local(dt.datetime(2022, 3, 27), "Asia/Beirut"))
    a.gives('date(2023, 3, 12, "America/Havana")', from_local(dt.datetime(2023, 3, 12), "America/Havana"))
    for bad in ["2023, 2, 29", "2024, 13, 1", "2024, 0, 1", "2024, 1, 0", "0, 1, 1", "10000, 1, 1", "2024, 4, 31", "-1, 1, 1"]:
        a.fails(f"date({bad})", "invalid_argument")
    a.fails('date(2024, 1, 1, "Mars/Olympus")', "invalid_argument")
    a.fails('date(2024, 1, 1, "../../etc/passwd")', "invalid_argument")
    a.fails('date(9999, 12, 31, "America/New_York").addDays(1, "America/New_York")', "overflow")

    a.at("add days")
    for days in [0, 1, -1, 28, 29, 365, -366, 100000]:
        a.gives(f"date(2024, 2, 1).addDays({days})", utc(2024, 2, 1) + timedelta(days=days))
    # Around both changes of the clocks; 02:30 is skipped in spring and doubled in autumn.
    for begin in [dt.datetime(2024, 3, 30, 2, 30), dt.datetime(2024, 3, 30, 12), dt.datetime(2024, 10, 26, 2, 30), dt.datetime(2024, 10, 26, 12)]:
        at = from_local(begin, "Europe/Berlin")
        a.gives(f'{t(at)}.addDays(1, "Europe/Berlin")', from_local(begin + timedelta(days=1), "Europe/Berlin"))
        a.gives(f'{t(at)}.addWeeks(1, "Europe/Berlin")', from_local(begin + timedelta(days=7), "Europe/Berlin"))
    at = from_local(dt.datetime(2024, 10, 5, 2, 15), "Australia/Lord_Howe")
    a.gives(f'{t(at)}.addDays(1, "Australia/Lord_Howe")', from_local(dt.datetime(2024, 10, 6, 2, 15), "Australia/Lord_Howe"))
    # Samoa had no 30 December 2011.
    at = from_local(dt.datetime(2011, 12, 29, 9), "Pacific/Apia")
    a.gives(f'{t(at)}.addDays(1, "Pacific/Apia")', from_local(dt.datetime(2011, 12, 30, 9), "Pacific/Apia"))
    a.gives(f'{t(at)}.addDays(2, "Pacific/Apia")', from_local(dt.datetime(2011, 12, 31, 9), "Pacific/Apia"))
    second = utc(2024, 10, 27, 1, 30)  # the later 02:30 in Berlin
    a.gives(f'{t(second)}.addDays(0, "Europe/Berlin")', second)
    a.fails("date(9999, 12, 31).addDays(1)", "overflow")
    a.fails("date(1, 1, 1).addDays(-1)", "overflow")
    a.fails("date(2024, 1, 1).addDays(9223372036854775807)", "overflow")
    a.gives("date(2024, 1, 31).addWeeks(-2)", utc(2024, 1, 17))

    a.at("add months")
    for y, m, d in [(2024, 1, 31), (2023, 1, 31), (2024, 2, 29), (2024, 12, 31), (2024, 3, 30)]:
        for months in [1, -1, 12, 13, -24]:
            a.gives(f"date({y}, {m}, {d}).addMonths({months})", plus_months(utc(y, m, d), months))
    for years in [1, 4, -1, 100]:
        a.gives(f"date(2024, 2, 29).addYears({years})", plus_months(utc(2024, 2, 29), 12 * years))
    at = from_local(dt.datetime(2024, 2, 29, 2, 30), "Europe/Berlin")
    a.gives(f'{t(at)}.addMonths(1, "Europe/Berlin")', from_local(dt.datetime(2024, 3, 29, 2, 30), "Europe/Berlin"))
    at = from_local(dt.datetime(2024, 2, 10, 2, 30), "America/New_York")
    a.gives(f'{t(at)}.addMonths(1, "America/New_York")', from_local(dt.datetime(2024, 3, 10, 2, 30), "America/New_York"))
    a.gives(f'{t(at)}.addYears(1, "America/New_York")', from_local(dt.datetime(2025, 2, 10, 2, 30), "America/New_York"))
    a.fails("date(9999, 12, 1).addMonths(1)", "overflow")
    a.fails("date(2024, 1, 1).addYears(-2024)", "overflow")


def bounds(a):
    a.at("start and end")
    times = [(utc(2024, 5, 17, 10, 20, 30), "UTC"), (utc(2024, 3, 31, 12), "Europe/Berlin"), (utc(2024, 1, 1, 2), "America/New_York"),
             (utc(2023, 12, 31, 20), "Asia/Kolkata"), (utc(2022, 3, 26, 23), "Asia/Beirut")]
    for at, zone in times:
        for unit in ["day", "week", "month", "quarter", "year"]:
            argument = "" if zone == "UTC" else ", " + quoted(zone)
            here = local(at, zone)
            a.gives(f"{t(at)}.startOf({quoted(unit)}{argument})", from_local(first_of(here, unit), zone))
            end = from_local(next_of(here, unit), zone) - SECOND
            a.gives(f"{t(at)}.endOf({quoted(unit)}{argument})", Nanos(end, 999999999))
    at = 'timestamp("2024-05-17T10:20:30.123456789Z")'
    a.gives(f'{at}.startOf("hour")', utc(2024, 5, 17, 10))
    a.gives(f'{at}.startOf("minute")', utc(2024, 5, 17, 10, 20))
    a.gives(f'{at}.startOf("second")', utc(2024, 5, 17, 10, 20, 30))
    a.gives(f'{at}.endOf("second")', Nanos(utc(2024, 5, 17, 10, 20, 30), 999999999))
    a.gives(f'{at}.endOf("hour")', Nanos(utc(2024, 5, 17, 10, 59, 59), 999999999))
    a.gives(f'{at}.startOf("hour", "Asia/Kolkata")', utc(2024, 5, 17, 9, 30))
    a.gives('date(9999, 12, 31).endOf("year")', Nanos(utc(9999, 12, 31, 23, 59, 59), 999999999))
    a.fails(f'{at}.startOf("fortnight")', "invalid_argument")
    a.fails(f'{at}.startOf("Day")', "invalid_argument")

    a.at("between")
    for begin, end in [((2024, 2, 1), (2024, 3, 1)), ((2024, 3, 1), (2024, 2, 1)), ((2024, 1, 1), (2024, 1, 1)), ((1, 1, 1), (9999, 12, 31))]:
        days = (dt.date(*end) - dt.date(*begin)).days
        a.gives(f"date({', '.join(map(str, begin))}).daysBetween(date({', '.join(map(str, end))}))", days)
    for begin, end, months in [((2024, 1, 31), (2024, 2, 29), 1), ((2023, 1, 31), (2023, 2, 27), 0), ((2024, 1, 15), (2024, 4, 14), 2),
                               ((2024, 4, 14), (2024, 1, 15), -2), ((2024, 1, 1), (2025, 1, 1), 12), ((2024, 5, 31), (2024, 5, 1), 0)]:
        a.gives(f"date({', '.join(map(str, begin))}).monthsBetween(date({', '.join(map(str, end))}))", months)
    for begin, end, years in [((2000, 6, 15), (2024, 6, 14), 23), ((2000, 6, 15), (2024, 6, 15), 24), ((2004, 2, 29), (2023, 2, 28), 19)]:
        a.gives(f"date({', '.join(map(str, begin))}).yearsBetween(date({', '.join(map(str, end))}))", years)
    a.gives('timestamp("2024-02-01T23:30:00Z").daysBetween(timestamp("2024-02-02T01:00:00Z"), "Europe/Berlin")', 0)
    a.gives('timestamp("2024-02-01T22:30:00Z").daysBetween(timestamp("2024-02-01T23:30:00Z"), "Europe/Berlin")', 1)


def parts(a):
    a.at("parts")
    for at, zone in [(utc(2024, 5, 17, 10, 20, 30), "UTC"), (utc(2020, 12, 31, 23, 45, 1), "Asia/Tokyo"), (utc(2024, 1, 1, 3), "America/Los_Angeles")]:
        here = local(at, zone)
        argument = "" if zone == "UTC" else quoted(zone)
        iso = here.isocalendar()
        month_days = (next_of(here, "month") - first_of(here, "month")).days
        for name, wanted in [("year", here.year), ("quarter", (here.month + 2) // 3), ("month", here.month), ("day", here.day),
                             ("weekday", here.isoweekday()), ("dayOfYear", here.timetuple().tm_yday), ("weekOfYear", iso[1]),
                             ("weekYear", iso[0]), ("daysInMonth", month_days), ("hour", here.hour), ("minute", here.minute)]:
            a.gives(f"{t(at)}.{name}({argument})", wanted)
    for y, m, d in [(2020, 12, 31), (2021, 1, 3), (2021, 1, 4), (2018, 12, 31), (2016, 1, 3), (2000, 1, 1), (1900, 3, 1)]:
        iso = dt.date(y, m, d).isocalendar()
        a.gives(f"[date({y}, {m}, {d}).weekYear(), date({y}, {m}, {d}).weekOfYear(), date({y}, {m}, {d}).weekday()]", [iso[0], iso[1], iso[2]])
    a.at("zone")
    for zone, hours in [("Europe/Berlin", 2), ("UTC", 0), ("America/New_York", -4), ("Asia/Kolkata", 5.5), ("Asia/Kathmandu", 5.75)]:
        a.gives(f"date(2024, 7, 1).zoneOffset({quoted(zone)})", timedelta(hours=hours))
    a.gives('date(2024, 7, 1).zoneOffset("+03:30")', timedelta(hours=3.5))
    # The rule in the last line of a zone file holds for years that its table does not reach.
    a.gives('date(2099, 7, 1).zoneOffset("Europe/Berlin")', timedelta(hours=2))
    a.gives('date(2099, 1, 1).zoneOffset("America/New_York")', timedelta(hours=-5))


def text(a):
    a.at("format")
    at = utc(2024, 2, 9, 7, 5, 3)
    name = f'{t(at)}.format'
    for pattern, wanted in [("yyyy-MM-dd", "2024-02-09"), ("d.M.yy", "9.2.24"), ("dd.MM.yyyy HH:mm:ss", "09.02.2024 07:05:03"), ("EEEE, d MMMM yyyy", "Friday, 9 February 2024"),
                            ("EEE, dd MMM yyyy", "Fri, 09 Feb 2024"), ("h:mm a", "7:05 AM"), ("hh:mm a", "07:05 AM"), ("H:m:s", "7:5:3"), ("yyyy'W'ww", "2024W06"), ("YYYY-'W'ww-e", "2024-W06-5"),
                            ("DDD", "040"), ("'Q'Q yyyy", "Q1 2024"), ("yyyyMMdd'T'HHmmssXX", "20240209T070503Z"), ("XXX", "Z"), ("xxx", "+00:00"), ("xx", "+0000"), ("'o''clock' H", "o'clock 7"), ("H'h'", "7h"),
                            ("''yy''", "'24'"), ("", ""), ("§ dd/MM", "§ 09/02"), ("SSS", "000"), ("VV", "UTC")]:
        a.gives(f"{name}({quoted(pattern)})", wanted)
    a.gives('timestamp("2024-02-09T23:05:03.123456789Z").format("h:mm:ss.SSSSSS a")', "11:05:03.123456 PM")
    a.gives('timestamp("2024-02-09T00:00:00Z").format("h a")', "12 AM")
    a.gives('timestamp("2024-02-09T12:00:00Z").format("h a")', "12 PM")
    for zone, pattern, wanted in [("Europe/Berlin", "HH:mm XXX VV", "08:05 +01:00 Europe/Berlin"), ("America/St_Johns", "HH:mm xx", "03:35 -0330"), ("Asia/Tokyo", "yyyy-MM-dd'T'HH:mm:ssXXX", "2024-02-09T16:05:03+09:00")]:
        a.gives(f"{name}({quoted(pattern)}, {quoted(zone)})", wanted)
    for month in range(1, 13):
        a.gives(f'date(2023, {month}, 1).format("MMM MMMM EEE EEEE")', f"{MONTHS[month - 1][:3]} {MONTHS[month - 1]} " + "{0:.3} {0}".format(DAYS[dt.date(2023, month, 1).weekday()]))
    for pattern in ["yyy", "MMMMM", "ddd", "q", "EE", "Z", "'open", "SSSSSSSSSS", "yyyy-MM-ddTHH:mm", "n", "e" * 201]:
        a.fails(f"{name}({quoted(pattern)})", "invalid_argument")

    a.at("parse")
    for source, pattern, wanted in [("2024-02-09", "yyyy-MM-dd", utc(2024, 2, 9)), ("09.02.2024 07:05", "dd.MM.yyyy HH:mm", utc(2024, 2, 9, 7, 5)), ("9.2.24", "d.M.yy", utc(2024, 2, 9)), ("2024", "yyyy", utc(2024, 1, 1)),
                                    ("Fri, 9 Feb 2024", "EEE, d MMM yyyy", utc(2024, 2, 9)), ("9 february 2024", "d MMMM yyyy", utc(2024, 2, 9)), ("1 Jul 2024 2:05 PM", "d MMM yyyy h:mm a", utc(2024, 7, 1, 14, 5)), ("12:00 AM 2024", "hh:mm a yyyy", utc(2024, 1, 1)),
                                    ("20240209T070503Z", "yyyyMMdd'T'HHmmssXX", utc(2024, 2, 9, 7, 5, 3)), ("2024-02-09T07:05:03+05:30", "yyyy-MM-dd'T'HH:mm:ssXXX", utc(2024, 2, 9, 1, 35, 3)), ("2024-02-09 07:05:03.25", "yyyy-MM-dd HH:mm:ss.SS", utc(2024, 2, 9, 7, 5, 3, 250000))]:
        a.gives(f"parseDate({quoted(source)}, {quoted(pattern)})", wanted)
    for source, zone in [("2024-07-01 12:00", "Europe/Berlin"), ("2024-03-31 02:30", "Europe/Berlin"), ("2024-10-27 02:30", "Europe/Berlin"), ("2024-11-03 01:30", "America/New_York"), ("2024-03-10 02:00", "America/New_York")]:
        a.gives(f'parseDate({quoted(source)}, "yyyy-MM-dd HH:mm", {quoted(zone)})', from_local(dt.datetime.fromisoformat(source), zone))
    a.gives('parseDate("2024-07-01 12:00 +01:00", "yyyy-MM-dd HH:mm xxx", "Europe/Berlin")', utc(2024, 7, 1, 11))
    for source, pattern in [("2024-2-9", "yyyy-MM-dd"), ("2024-02-30", "yyyy-MM-dd"), ("2024-02-09x", "yyyy-MM-dd"), ("", "yyyy"), ("24", "yyyy"), ("Thu, 9 Feb 2024", "EEE, d MMM yyyy"), ("25:00 2024", "HH:mm yyyy"), ("13 PM 2024", "h a yyyy"),
                            ("2024 Q1", "yyyy 'Q'Q"), ("12:00", "HH:mm"), ("2024 7", "yyyy h"), ("2024-01-01 +25:00", "yyyy-MM-dd xxx"), ("２０２４", "yyyy")]:
        a.fails(f"parseDate({quoted(source)}, {quoted(pattern)})", "invalid_argument")


def business(a):
    a.at("business days")
    for begin, count in [((2024, 5, 17), 1), ((2024, 5, 18), 1), ((2024, 5, 19), 1), ((2024, 5, 17), 5), ((2024, 5, 20), -1), ((2024, 5, 18), -1), ((2024, 5, 18), 0), ((2024, 1, 1), 260), ((2024, 1, 1), -1000)]:
        a.gives(f"date({', '.join(map(str, begin))}).addBusinessDays({count})", utc(*add_business(dt.date(*begin), count).timetuple()[:3]))
    calendar = '{"holidays": ["2024-12-25", "2024-12-26", "01-01"]}'
    holidays = ("2024-12-25", "2024-12-26", "01-01")
    for begin, count in [((2024, 12, 24), 1), ((2024, 12, 24), 4), ((2024, 12, 31), 1), ((2025, 1, 2), -1), ((2025, 12, 31), 1), ((2024, 12, 20), 10)]:
        a.gives(f"date({', '.join(map(str, begin))}).addBusinessDays({count}, {calendar})", utc(*add_business(dt.date(*begin), count, holidays=holidays).timetuple()[:3]))
    for begin, count in [((2024, 5, 16), 1), ((2024, 5, 18), 3)]:
        a.gives(f'date({", ".join(map(str, begin))}).addBusinessDays({count}, {{"weekend": ["friday", "saturday"]}})', utc(*add_business(dt.date(*begin), count, weekend=(4, 5)).timetuple()[:3]))
        a.gives(f'date({", ".join(map(str, begin))}).addBusinessDays({count}, {{"weekend": [5, 6]}})', utc(*add_business(dt.date(*begin), count, weekend=(4, 5)).timetuple()[:3]))
    a.gives('date(2024, 5, 18).addBusinessDays(2, {"weekend": []})', utc(2024, 5, 20))
    # 16:00 in New York on the Friday before clocks go forward, and the same time on Monday.
    a.gives('timestamp("2024-03-08T21:00:00Z").addBusinessDays(1, {"zone": "America/New_York"})', utc(2024, 3, 11, 20))
    # Already Saturday in Auckland, still Friday in UTC.
    a.gives('timestamp("2024-05-17T13:00:00Z").isBusinessDay({"zone": "Pacific/Auckland"})', False)
    a.gives('timestamp("2024-05-17T13:00:00Z").isBusinessDay()', True)
    for y, m, d in [(2024, 5, 17), (2024, 5, 18), (2024, 5, 19), (2024, 12, 25), (2025, 12, 25), (2030, 1, 1)]:
        a.gives(f"date({y}, {m}, {d}).isBusinessDay({calendar})", is_business(dt.date(y, m, d), holidays=holidays))
    for begin, end in [((2024, 5, 17), (2024, 5, 20)), ((2024, 5, 20), (2024, 5, 17)), ((2024, 5, 18), (2024, 5, 19)), ((2024, 1, 1), (2024, 12, 31)), ((2024, 5, 17), (2024, 5, 17))]:
        a.gives(f"date({', '.join(map(str, begin))}).businessDaysBetween(date({', '.join(map(str, end))}))", count_business(dt.date(*begin), dt.date(*end)))
        a.gives(f"date({', '.join(map(str, begin))}).businessDaysBetween(date({', '.join(map(str, end))}), {calendar})", count_business(dt.date(*begin), dt.date(*end), holidays=holidays))
    for bad in ['{"holidays": ["2024-02-30"]}', '{"holidays": ["25.12.2024"]}', '{"holidays": [1]}', '{"holidays": "2024-12-25"}', '{"weekend": ["Saturday"]}', '{"weekend": [0]}', '{"weekend": [8]}',
                '{"weekend": [1, 2, 3, 4, 5, 6, 7]}', '{"zone": "Nowhere/Land"}', '{"zone": 1}', '{"hollidays": []}']:
        a.fails(f"date(2024, 5, 17).addBusinessDays(1, {bad})", "invalid_argument")
    a.fails("date(2024, 5, 17).addBusinessDays(100000000)", "cost_exceeded")


def area():
    a = Area("dates", "calendar arithmetic, zones, patterns and business days")
    for part in (arithmetic, bounds, parts, text, business):
        part(a)
    return a
