// Writes a JSON object member by member, without building a Json value. For documents that are sent by the thousand.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "base/json.h"

namespace cairn::api {

class ObjectText {
 public:
  // Appends to `out`, which must outlive it.
  explicit ObjectText(std::string& out) : out_(out) { out_.push_back('{'); }
  // Text, a whole number or a Json.
  template <class Value>
  void set(std::string_view name, const Value& value) {
    if (out_.back() != '{') out_.push_back(',');
    write_json_string(name, out_);
    out_.push_back(':');
    if constexpr (std::is_same_v<Value, Json>) {
      write_json(value, out_);
    } else if constexpr (std::is_integral_v<Value>) {
      out_.append(std::to_string(value));
    } else {
      write_json_string(value, out_);
    }
  }
  void end() { out_.push_back('}'); }

 private:
  std::string& out_;
};

}  // namespace cairn::api
