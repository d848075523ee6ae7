// Formats and parses times by a pattern. Names are English in every locale.
//
//   yyyy yy      year (4 digits; 2 digits are 2000 to 2099)      HH H    hour 0 to 23
//   MM M         month 1 to 12                                   hh h    hour 1 to 12, with a
//   MMM MMMM     Jan, January                                    a       AM, PM
//   dd d         day of the month                                mm m    minute
//   EEE EEEE     Mon, Monday                                     ss s    second
//   DDD          day of the year, 3 digits *                     S ...   fraction, 1 to 9 digits
//   Q            quarter *                                       XXX XX  offset +02:00, +0200; Z for UTC
//   YYYY ww e    ISO week year, week, weekday 1 to 7 *           xxx xx  the same without Z
//   'at' ''      text, a quote                                   VV      the zone as given *
//
// Two letters mean exactly two digits, one letter means as few as needed. Other letters are reserved and rejected.
// Every other character stands for itself. Fields with * can be formatted but not parsed.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "time/time_zone.h"

namespace cairn {

Result<std::string> format_date(Timestamp at, std::string_view pattern, const TimeZone& zone,
                                std::string_view zone_name);

// The whole text must match. The pattern needs a year. A missing month or day is 1, a missing time is 00:00. An offset
// in the text overrides `zone`.
Result<Timestamp> parse_date(std::string_view text, std::string_view pattern, const TimeZone& zone);

}  // namespace cairn
