// Small documents that the server keeps beside the instances: saved views, drafts, alerts and bulk actions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/time.h"

namespace cairn {

struct DocumentRow {
  std::string kind;  // view, draft, alert, bulk, bulk_part
  std::string id;    // unique within its kind
  std::string owner;
  Json body;
  std::uint64_t version = 0;  // grows with each change
  Timestamp changed_at;       // set by the store
  bool operator==(const DocumentRow&) const = default;
};

struct DocumentFilter {
  std::string kind;
  std::optional<std::string> owner = {};  // absent: every owner
};

}  // namespace cairn
