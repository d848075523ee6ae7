#include "time/time_zone.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include "time/time_zone_rule.h"

namespace cairn {

namespace {

constexpr std::string_view database = "/usr/share/zoneinfo/";

}  // namespace

struct TimeZone::Data {
  std::vector<std::int64_t> transitions;  // instants, sorted
  std::vector<std::int32_t> offsets;      // offsets[i] applies after transitions[i]
  std::int32_t first_offset = 0;          // before the first transition
  std::optional<ZoneRule> rule;           // after the last transition
};

namespace {

// Reads numbers from a TZif file (RFC 8536), most significant byte first.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  bool skip(std::size_t count) {
    if (count > bytes_.size() - at_) return false;
    at_ += count;
    return true;
  }
  std::optional<std::int64_t> number(std::size_t size) {
    if (size > bytes_.size() - at_) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes_[at_ + i]);
    at_ += size;
    return size == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(value)) : static_cast<std::int64_t>(value);
  }
  std::string_view rest() const { return bytes_.substr(at_); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

struct Counts {
  std::size_t utc, standard, leaps, times, types, characters;
};

std::optional<Counts> read_header(Bytes& in, char& version) {
  if (in.rest().size() < 44 || in.rest().substr(0, 4) != "TZif") return std::nullopt;
  version = in.rest()[4];
  in.skip(20);
  std::size_t counts[6];
  for (std::size_t& count : counts) {
    const auto value = in.number(4);
    if (!value || *value < 0 || *value > 100'000) return std::nullopt;
    count = static_cast<std::size_t>(*value);
  }
  return Counts{counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]};
}

std::shared_ptr<const TimeZone::Data> read_zone(std::string_view file) {
  Bytes in(file);
  char version = 0;
  auto counts = read_header(in, version);
  if (!counts) return nullptr;
  std::size_t time_size = 4;
  if (version >= '2') {
    // Skip the first block, which is for 32-bit readers.
    if (!in.skip(counts->times * 5 + counts->types * 6 + counts->characters + counts->leaps * 8 + counts->standard +
                 counts->utc)) {
      return nullptr;
    }
    counts = read_header(in, version);
    if (!counts) return nullptr;
    time_size = 8;
  }
  auto data = std::make_shared<TimeZone::Data>();
  std::vector<std::size_t> kinds;
  for (std::size_t i = 0; i < counts->times; ++i) {
    const auto at = in.number(time_size);
    if (!at) return nullptr;
    data->transitions.push_back(*at);
  }
  for (std::size_t i = 0; i < counts->times; ++i) {
    if (in.rest().empty()) return nullptr;
    kinds.push_back(static_cast<unsigned char>(in.rest()[0]));
    in.skip(1);
  }
  std::vector<std::int32_t> offsets;
  for (std::size_t i = 0; i < counts->types; ++i) {
    const auto offset = in.number(4);
    if (!offset || !in.skip(2)) return nullptr;
    offsets.push_back(static_cast<std::int32_t>(*offset));
  }
  if (offsets.empty()) return nullptr;
  for (const std::size_t kind : kinds) {
    if (kind >= offsets.size()) return nullptr;
    data->offsets.push_back(offsets[kind]);
  }
  data->first_offset = offsets[0];
  if (!std::is_sorted(data->transitions.begin(), data->transitions.end())) return nullptr;
  if (version >= '2') {
    if (!in.skip(counts->characters + counts->leaps * (time_size + 4) + counts->standard + counts->utc)) return nullptr;
    std::string_view footer = in.rest();
    if (footer.size() >= 2 && footer.front() == '\n') {
      footer.remove_prefix(1);
      footer = footer.substr(0, footer.find('\n'));
      if (!footer.empty()) data->rule = parse_zone_rule(footer);
    }
  }
  return data;
}

bool is_zone_name(std::string_view name) {
  if (name.empty() || name.size() > 64 || name.front() == '/') return false;
  // A second spelling of a name would be cached a second time.
  if (name.find("..") != std::string_view::npos || name.find("//") != std::string_view::npos) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '_' ||
           c == '-' || c == '+';
  });
}

std::optional<std::int32_t> read_offset(std::string_view text) {
  std::int32_t sign = 1;
  if (text.starts_with('+') || text.starts_with('-')) {
    sign = text[0] == '-' ? -1 : 1;
    text.remove_prefix(1);
  }
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  for (const std::size_t at : {0, 1, 3, 4}) {
    if (text[at] < '0' || text[at] > '9') return std::nullopt;
  }
  const std::int32_t hours = (text[0] - '0') * 10 + (text[1] - '0');
  const std::int32_t minutes = (text[3] - '0') * 10 + (text[4] - '0');
  if (hours > 23 || minutes > 59) return std::nullopt;
  return sign * (hours * 3600 + minutes * 60);
}

std::shared_ptr<const TimeZone::Data> find_zone(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const TimeZone::Data>, std::less<>> zones;
  const std::lock_guard lock(mutex);
  if (const auto known = zones.find(name); known != zones.end()) return known->second;
  const std::string path = std::string(database) + std::string(name);
  std::ifstream file(path, std::ios::binary);
  std::shared_ptr<const TimeZone::Data> data;
  // `Europe` is a directory. It can be opened, but reading it throws.
  std::error_code failed;
  if (file && std::filesystem::is_regular_file(path, failed)) {
    std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (bytes.size() < (1u << 20)) data = read_zone(bytes);
  }
  // Unknown names are not cached, because their number is unbounded.
  if (data) zones.emplace(std::string(name), data);
  return data;
}

}  // namespace

std::optional<TimeZone> TimeZone::find(std::string_view name) {
  TimeZone zone;
  if (name == "UTC" || name == "Z") return zone;
  if (const auto offset = read_offset(name)) {
    zone.fixed_offset_ = *offset;
    return zone;
  }
  if (!is_zone_name(name)) return std::nullopt;
  zone.data_ = find_zone(name);
  if (!zone.data_) return std::nullopt;
  return zone;
}

std::int32_t TimeZone::offset_at(std::int64_t utc_seconds) const {
  if (!data_) return fixed_offset_;
  const auto& transitions = data_->transitions;
  const auto next = std::upper_bound(transitions.begin(), transitions.end(), utc_seconds);
  if (next == transitions.end() && data_->rule) return data_->rule->offset_at(utc_seconds);
  if (next == transitions.begin()) return data_->first_offset;
  return data_->offsets[static_cast<std::size_t>(next - transitions.begin()) - 1];
}

std::int64_t TimeZone::to_utc(std::int64_t local_seconds) const {
  constexpr std::int64_t day = 86'400;
  // Offsets are shorter than a day, so only the offsets one day before and one day after can apply.
  const std::int32_t before = offset_at(local_seconds - day);
  const std::int32_t after = offset_at(local_seconds + day);
  const std::int64_t early = local_seconds - before;
  if (offset_at(early) == before) return early;
  const std::int64_t late = local_seconds - after;
  if (offset_at(late) == after) return late;
  return early;
}

const std::string& time_zone_version() {
  static const std::string version = [] {
    std::ifstream file(std::string(database) + "tzdata.zi");
    std::string line;
    if (std::getline(file, line) && line.starts_with("# version ")) return line.substr(10);
    std::ifstream plain(std::string(database) + "+VERSION");
    if (std::getline(plain, line)) return line;
    return std::string();
  }();
  return version;
}

}  // namespace cairn
