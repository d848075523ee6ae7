#include "store/postgres/wire/rows.h"

#include <libpq-fe.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "store/postgres/wire/parameters.h"
#include "store/stored_json.h"

namespace cairn::postgres {

namespace {

std::int64_t big_endian(std::string_view bytes) {
  if (bytes.empty()) return 0;
  std::int64_t value = static_cast<unsigned char>(bytes[0]);
  if (value >= 0x80) value -= 0x100;  // its highest bit is the sign
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    value = static_cast<std::int64_t>((static_cast<std::uint64_t>(value) << 8) | static_cast<unsigned char>(bytes[i]));
  }
  return value;
}

std::string uuid_text(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text(36, '-');
  std::size_t at = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 16); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) ++at;
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text[at++] = digits[byte >> 4];
    text[at++] = digits[byte & 15];
  }
  return text;
}

}  // namespace

Rows::~Rows() {
  if (result_) PQclear(result_);
}

std::size_t Rows::size() const { return result_ ? static_cast<std::size_t>(PQntuples(result_)) : 0; }

bool Rows::next() { return static_cast<std::size_t>(++row_) < size(); }

std::int64_t Rows::changed() const {
  if (!result_) return 0;
  const std::string_view text = PQcmdTuples(result_);
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

bool Rows::is_null(int column) const { return PQgetisnull(result_, row_, column) == 1; }

std::string_view Rows::bytes(int column) const {
  return {PQgetvalue(result_, row_, column), static_cast<std::size_t>(PQgetlength(result_, row_, column))};
}

bool Rows::boolean(int column) const { return !is_null(column) && bytes(column)[0] != 0; }
std::int64_t Rows::integer(int column) const { return is_null(column) ? 0 : big_endian(bytes(column)); }
double Rows::number(int column) const { return std::bit_cast<double>(integer(column)); }

std::string Rows::text(int column) const {
  if (is_null(column)) return {};
  const std::string_view value = bytes(column);
  const Oid type = PQftype(result_, column);
  if (type == uuid_type.value) return uuid_text(value);
  if (type == jsonb_type.value) return std::string(value.substr(1));
  return std::string(value);
}

std::vector<std::string> Rows::texts(int column) const {
  std::vector<std::string> list;
  if (is_null(column)) return list;
  std::string_view left = bytes(column);
  const auto word = [&left] {
    const std::int64_t value = big_endian(left.substr(0, 4));
    left.remove_prefix(4);
    return value;
  };
  if (left.size() < 20 || word() != 1) return list;  // no dimension: no elements
  word();
  const bool uuids = word() == uuid_type.value;
  const std::int64_t count = word();
  word();
  for (std::int64_t i = 0; i < count && left.size() >= 4; ++i) {
    const std::int64_t length = word();
    if (length < 0) continue;
    const std::string_view element = left.substr(0, static_cast<std::size_t>(length));
    list.push_back(uuids ? uuid_text(element) : std::string(element));
    left.remove_prefix(static_cast<std::size_t>(length));
  }
  return list;
}

Timestamp Rows::time(int column) const {
  // PostgreSQL also has `infinity`, `-infinity` and years beyond ours: such a time is the last or the first that we
  // know.
  constexpr std::int64_t first_us = Timestamp::seconds_min * 1'000'000 - epoch_offset_us;
  constexpr std::int64_t last_us = Timestamp::seconds_max * 1'000'000 - epoch_offset_us;
  const std::int64_t us = std::clamp(integer(column), first_us, last_us) + epoch_offset_us;
  return Timestamp::of_unix_ms(us >= 0 ? us / 1000 : (us - 999) / 1000);
}

std::optional<Timestamp> Rows::time_or_nothing(int column) const {
  if (is_null(column)) return std::nullopt;
  return time(column);
}

Json Rows::json(int column) const {
  if (is_null(column)) return {};
  auto value = parse_stored(text(column));
  if (value) return std::move(*value);
  fail({ErrorCode::corrupt, "a stored value is not JSON: " + value.error().message});
  return {};
}

Json Rows::stored_json(int column) const {
  if (is_null(column)) return {};
  auto value = parse_stored(text(column));
  if (value) return std::move(*value);
  unreadable_ = Error{ErrorCode::corrupt, "a stored value cannot be read: " + value.error().message};
  return Json::object({{"unreadable", value.error().message}});
}

void Rows::fail(Error error) const {
  if (!fault_) fault_ = std::move(error);
}

}  // namespace cairn::postgres
