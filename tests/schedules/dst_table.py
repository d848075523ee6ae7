#!/usr/bin/env python3
"""40 zones, both changes of the clock in 2020 to 2040: firing times, computed from Python's zoneinfo alone.

The rule is walked, not solved: minute after minute of real time, with the highest wall clock reading seen so far.
A minute fires when it takes that mark over a reading that matches. So a skipped reading fires at the first instant
after the gap, and one that comes again does not fire again.

    dst_table.py PROGRAM [--all]    without --all every fourth change of each zone
"""

import subprocess
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

ZONES = """
Europe/Berlin Europe/London Europe/Dublin Europe/Lisbon Europe/Helsinki Europe/Athens Europe/Chisinau Europe/Kyiv
Atlantic/Azores America/New_York America/Chicago America/Denver America/Los_Angeles America/Anchorage America/Halifax
America/St_Johns America/Havana America/Tijuana America/Mexico_City America/Santiago America/Asuncion America/Nuuk
America/Scoresbysund America/Miquelon America/Port-au-Prince Pacific/Easter Africa/Cairo Africa/Casablanca
Asia/Jerusalem Asia/Beirut Asia/Gaza Asia/Tehran Asia/Amman Australia/Sydney Australia/Adelaide Australia/Lord_Howe
Pacific/Auckland Pacific/Chatham Pacific/Norfolk Antarctica/Troll
""".split()

MINUTE = timedelta(minutes=1)
FIRST, LAST = datetime(2020, 1, 1), datetime(2041, 1, 1)

# name, cron, and whether a wall clock reading matches
RULES = [
    ("fixed 01:30", "30 1 * * *", lambda r: (r.hour, r.minute) == (1, 30)),
    ("fixed 02:30", "30 2 * * *", lambda r: (r.hour, r.minute) == (2, 30)),
    ("midnight", "0 0 * * *", lambda r: (r.hour, r.minute) == (0, 0)),
    ("every 15 min", "*/15 * * * *", lambda r: r.minute % 15 == 0),
    ("31st", "30 2 31 * *", lambda r: (r.day, r.hour, r.minute) == (31, 2, 30)),
    ("29 February", "15 2 29 2 *", lambda r: (r.month, r.day, r.hour, r.minute) == (2, 29, 2, 15)),
]


def wall(zone, instant):
    """What the clock shows at a naive UTC instant, without its zone."""
    return instant.replace(tzinfo=timezone.utc).astimezone(zone).replace(tzinfo=None)


def changes(zone):
    """The UTC minutes at which the offset changes."""
    found = []
    day = FIRST
    while day < LAST:
        after = day + timedelta(days=1)
        before_offset, after_offset = wall(zone, day) - day, wall(zone, after) - after
        if before_offset != after_offset:
            low, high = day, after
            while high - low > MINUTE:
                middle = low + timedelta(minutes=(high - low) // MINUTE // 2)
                if wall(zone, middle) - middle == before_offset:
                    low = middle
                else:
                    high = middle
            found.append(high)
        day = after
    return found


def walk(zone, begin, end):
    """For each rule the UTC instants in (begin, end] at which it fires."""
    fired = [[] for _ in RULES]
    mark = max(wall(zone, begin - i * MINUTE) for i in range(0, 181, 5))
    instant = begin
    while instant < end:
        instant += MINUTE
        reading = wall(zone, instant)
        if reading <= mark:
            continue
        passed = mark
        hit = [False] * len(RULES)
        while passed < reading:
            passed += MINUTE
            for i, (_, _, matches) in enumerate(RULES):
                hit[i] = hit[i] or matches(passed)
        mark = reading
        for i, yes in enumerate(hit):
            if yes:
                fired[i].append(instant)
    return fired


def windows(zone, everything):
    """Around each change, and around every 31st and 29 February at which no change is near."""
    found = changes(zone)
    picked = found if everything else found[::4]
    for change in picked:
        yield change - timedelta(hours=26), change + timedelta(hours=26)
    day = FIRST
    step = 0
    while day < LAST:
        if day.day == 31 or (day.month, day.day) == (2, 29):
            step += 1
            if everything or step % 16 == 0 or day.month == 2:
                yield day - timedelta(hours=14), day + timedelta(hours=18)
        day += timedelta(days=1)


def seconds(instant):
    return int(instant.replace(tzinfo=timezone.utc).timestamp())


def main():
    program, everything = sys.argv[1], "--all" in sys.argv[2:]
    assert len(set(ZONES)) == 40
    questions, expected, labels = [], [], []
    for name in ZONES:
        zone = ZoneInfo(name)
        for begin, end in windows(zone, everything):
            for (label, cron, _), times in zip(RULES, walk(zone, begin, end)):
                questions.append(f"{name}\t{cron}\t{seconds(begin)}\t{seconds(end)}\n")
                expected.append(" ".join(str(seconds(t)) for t in times))
                labels.append(f"{name}, {label}, from {begin}Z to {end}Z")
    answers = subprocess.run(
        [program], input="".join(questions), capture_output=True, text=True, check=True
    ).stdout.split("\n")[:-1]
    assert len(answers) == len(expected), (len(answers), len(expected))
    wrong = 0
    for label, mine, theirs in zip(labels, expected, answers):
        if mine != theirs:
            wrong += 1
            if wrong <= 10:
                print(f"{label}\n  expected {mine}\n  got      {theirs}")
    firings = sum(len(line.split()) for line in expected)
    print(f"{len(expected)} tables of {len(ZONES)} zones, {firings} firings, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
