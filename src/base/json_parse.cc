#include <algorithm>

#include "base/json_scan.h"
#include "base/limit_refusals.h"

namespace cairn {
namespace {

// Builds the value bottom-up on one stack; objects are sorted once, when they close.
class Builder {
 public:
  void null(std::size_t) { values_.emplace_back(); }
  void boolean(std::size_t, bool value) { values_.emplace_back(value); }
  void integer(std::size_t, std::int64_t value) { values_.emplace_back(static_cast<long long>(value)); }
  void number(std::size_t, double value) { values_.emplace_back(value); }
  void string(std::size_t, std::string_view value) { values_.emplace_back(value); }
  void begin_array(std::size_t) { open(); }
  void begin_object(std::size_t) { open(); }

  bool key(std::size_t, std::string_view name) {
    // A few members are compared directly; a large object is checked when it closes.
    const std::size_t count = keys_.size() - opened_.back().keys;
    if (count < 16) {
      for (std::size_t i = opened_.back().keys; i < keys_.size(); ++i) {
        if (keys_[i] == name) return false;
      }
    }
    keys_.emplace_back(name);
    return true;
  }

  void end_array(std::size_t) {
    const std::size_t first = opened_.back().values;
    Json::Array items(std::make_move_iterator(values_.begin() + static_cast<std::ptrdiff_t>(first)),
                      std::make_move_iterator(values_.end()));
    close(Json(std::move(items)));
  }

  void end_object(std::size_t at) {
    const auto [first_value, first_key] = opened_.back();
    Json::Members members;
    members.reserve(keys_.size() - first_key);
    for (std::size_t i = 0; first_key + i < keys_.size(); ++i) {
      members.emplace_back(std::move(keys_[first_key + i]), std::move(values_[first_value + i]));
    }
    const std::size_t count = members.size();
    Json object = Json::object(std::move(members));
    if (object.size() != count && duplicate_at_ == std::string_view::npos) duplicate_at_ = at;
    keys_.resize(first_key);
    close(std::move(object));
  }

  Json take() { return std::move(values_.front()); }
  std::size_t duplicate_at() const { return duplicate_at_; }

 private:
  struct Opened {
    std::size_t values;
    std::size_t keys;
  };
  void open() { opened_.push_back({values_.size(), keys_.size()}); }
  void close(Json value) {
    values_.resize(opened_.back().values);
    opened_.pop_back();
    values_.push_back(std::move(value));
  }

  std::vector<Json> values_;
  std::vector<Text> keys_;
  std::vector<Opened> opened_;
  std::size_t duplicate_at_ = std::string_view::npos;
};

Error at_place(std::string_view text, const JsonFault& fault) {
  const LineColumn place = line_column_at(text, fault.offset);
  return {fault.code, std::to_string(place.line) + ":" + std::to_string(place.column) + ": " + fault.message};
}

Error past_limit(std::string_view text, const JsonLimits& limits, Error error) {
  if (text.size() > limits.bytes_max) {
    return limit_error("json_bytes", static_cast<std::int64_t>(limits.bytes_max), std::move(error.message));
  }
  return limit_error("limits.json_depth_max", limits.depth_max, std::move(error.message));
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  Builder builder;
  JsonScanner<Builder> scanner(text, limits, builder);
  const auto scanned = scanner.scan();
  if (!scanned) {
    Error error = at_place(text, scanned.error());
    return error.code == ErrorCode::limit ? past_limit(text, limits, std::move(error)) : error;
  }
  if (builder.duplicate_at() != std::string_view::npos) {
    return at_place(text, {builder.duplicate_at(), ErrorCode::invalid, "the object closed here has a duplicate key"});
  }
  return builder.take();
}

}  // namespace cairn
