// The status of an instance, and how people find it.
#pragma once

#include <optional>
#include <string_view>

#include "base/json.h"

namespace cairn {

enum class Status { running, waiting, suspended, completed, failed, cancelled };
const char* to_string(Status status);
std::optional<Status> status_from(std::string_view text);
inline bool is_final(Status status) {
  return status == Status::completed || status == Status::failed || status == Status::cancelled;
}

// How people find an instance. `key` is text or null, `parts` an object.
struct Reference {
  Json key;
  Json parts = Json::object();
  bool operator==(const Reference&) const = default;
};

}  // namespace cairn
