// Reads `ZONE<tab>CRON<tab>AFTER<tab>UNTIL` (seconds since 1970) line by line and prints the times between as seconds.
#include <cstdio>
#include <iostream>
#include <sstream>

#include "schedule/next_time.h"

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream fields(line);
    std::string zone, cron, after, until;
    std::getline(fields, zone, '\t');
    std::getline(fields, cron, '\t');
    std::getline(fields, after, '\t');
    std::getline(fields, until, '\t');
    const auto schedule = cairn::read_schedule(
        cairn::Json::object({{"cron", cron}, {"zone", zone}, {"start", cairn::Json::object({{"definition", "d"}})}}));
    if (!schedule) {
      std::cerr << line << ": " << schedule.error().message << "\n";
      return 1;
    }
    const cairn::Timestamp end{std::stoll(until), 0};
    const char* separator = "";
    for (auto at = cairn::next_time(*schedule, {std::stoll(after), 0}); at && *at <= end;
         at = cairn::next_time(*schedule, *at)) {
      std::cout << separator << at->seconds;
      separator = " ";
    }
    std::cout << "\n";
  }
  return 0;
}
