#include "workloads/report.h"

#include <algorithm>
#include <cstdio>

namespace cairn::bench {

namespace {

std::string number(double value) {
  char text[32];
  const char* format = value >= 100 || value == 0 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f";
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string bytes(double value) {
  if (value >= 1024 * 1024) return number(value / 1024 / 1024) + " MiB";
  if (value >= 1024) return number(value / 1024) + " KiB";
  return number(value) + " B";
}

double each(double total, const Row& row) { return row.count == 0 ? 0 : total / static_cast<double>(row.count); }

std::string remarks(const Row& row) {
  std::string text = row.variant;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const auto& [process, cpu_s] : row.cost.cpu_parts) add(process + "_cpu_s " + number(each(cpu_s * 1000, row)));
  for (const Json::Member& member : row.extra.members()) {
    if (!member.value.is_number() && !member.value.is_integer()) continue;
    const double value = member.value.as_double();
    const std::string key(member.key);
    if (key == "share_of_ceiling") {
      add(number(value * 100) + " % of the ceiling");
      continue;
    }
    add(key + " " + (key.find("bytes") == std::string::npos ? number(value) : bytes(value)));
  }
  return text;
}

// For another process only the kernel's values are known, and the memory store writes nothing.
std::string counted(const Row& row, std::string figure) {
  return row.cost.syncs == 0 && row.cost.log_bytes == 0 ? "-" : figure;
}

}  // namespace

void print_table(const std::vector<Row>& rows, std::ostream& out) {
  std::vector<std::vector<std::string>> lines = {{"workload", "out", "rate/s", "range", "p50 ms", "p99 ms", "max ms",
                                                  "CPU s/1000", "peak", "written", "WAL", "syncs", ""}};
  for (const Row& row : rows) {
    lines.push_back({row.workload, row.outstanding == 0 ? "" : std::to_string(row.outstanding), number(row.rate),
                     number(row.rate_low) + ".." + number(row.rate_high), number(row.p50_ms), number(row.p99_ms),
                     number(row.max_ms), number(each(row.cost.cpu_s * 1000, row)),
                     bytes(static_cast<double>(row.cost.memory_peak_bytes)),
                     bytes(each(static_cast<double>(row.cost.written_bytes), row)),
                     counted(row, bytes(each(static_cast<double>(row.cost.log_bytes), row))),
                     counted(row, number(each(static_cast<double>(row.cost.syncs), row))), remarks(row)});
  }
  std::vector<std::size_t> widths(lines.front().size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string gap(widths[i] - line[i].size(), ' ');
      const bool left = i == 0 || i + 1 == line.size();  // words are left-aligned, figures right-aligned
      text += (i == 0 ? "" : "  ") + (left ? line[i] + gap : gap + line[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << "\n";
  }
}

Json to_json(const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) {
    Json parts = Json::object();
    for (const auto& [process, cpu_s] : row.cost.cpu_parts) parts.set(process, each(cpu_s * 1000, row));
    list.push_back(Json::object({
        {"workload", row.workload},
        {"variant", row.variant},
        {"outstanding", row.outstanding},
        {"count", static_cast<std::int64_t>(row.count)},
        {"rate", row.rate},
        {"rate_low", row.rate_low},
        {"rate_high", row.rate_high},
        {"p50_ms", row.p50_ms},
        {"p99_ms", row.p99_ms},
        {"max_ms", row.max_ms},
        {"wall_s", row.cost.wall_s},
        {"cpu_s_per_1000", each(row.cost.cpu_s * 1000, row)},
        {"cpu_s_per_1000_by_process", parts},
        {"memory_peak_bytes", static_cast<std::int64_t>(row.cost.memory_peak_bytes)},
        {"written_bytes_each", each(static_cast<double>(row.cost.written_bytes), row)},
        {"wal_bytes_each", each(static_cast<double>(row.cost.log_bytes), row)},
        {"syncs_each", each(static_cast<double>(row.cost.syncs), row)},
        {"page_images_each", each(static_cast<double>(row.cost.page_images), row)},
        {"extra", row.extra},
    }));
  }
  return list;
}

}  // namespace cairn::bench
