#include "api/filter_text.h"

#include <algorithm>
#include <cctype>

#include "base/limit_refusals.h"
#include "base/suggest.h"
#include "base/time.h"
#include "base/utf8.h"

namespace cairn::api {
namespace {

struct Part {
  std::string name;  // empty: text
  std::string value;
};

bool is_name(std::string_view text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
}

Result<std::vector<Part>> parts_of(std::string_view text) {
  std::vector<Part> parts;
  std::size_t at = 0;
  const auto read_value = [&]() -> Result<std::string> {
    if (at >= text.size() || text[at] != '"') {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      std::string value(text.substr(at, end - at));
      at = end;
      return value;
    }
    const std::size_t end = text.find('"', at + 1);
    if (end == std::string_view::npos) return Error{ErrorCode::invalid, "the filter has an unclosed quote"};
    std::string value(text.substr(at + 1, end - at - 1));
    at = end + 1;
    return value;
  };
  while (at < text.size()) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    Part part;
    const std::size_t stop = std::min(text.find_first_of(" \":", at), text.size());
    if (stop < text.size() && text[stop] == ':' && is_name(text.substr(at, stop - at))) {
      part.name = std::string(text.substr(at, stop - at));
      at = stop + 1;
    }
    CAIRN_TRY(part.value, read_value());
    if (!part.name.empty() && part.value.empty()) {
      return Error{ErrorCode::invalid, "the filter " + part.name + ": has no value"};
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

Error unknown(const std::string& name, std::vector<std::string_view> known) {
  std::string message = "unknown filter \"" + name + "\"";
  std::string list;
  for (const std::string_view one : known) list += (list.empty() ? "" : ", ") + std::string(one);
  return {ErrorCode::invalid, message + ": " + list};
}

Result<bool> yes(const Part& part) {
  if (part.value == "yes" || part.value == "true") return true;
  if (part.value == "no" || part.value == "false") return false;
  return Error{ErrorCode::invalid, part.name + ": must be yes or no"};
}

void add_text(std::string& text, const std::string& word) { text += (text.empty() ? "" : " ") + word; }

constexpr std::size_t fingerprint_characters = 16;

Result<void> read_fingerprint(const std::string& value, InstanceFilter& filter) {
  const char mark = value.empty() ? '\0' : value.front();
  if ((mark != 's' && mark != 'f') || value.size() != fingerprint_characters + 1) {
    return Error{ErrorCode::invalid, "error: must be a `fingerprint` of GET /v1/errors"};
  }
  filter.status = mark == 's' ? Status::suspended : Status::failed;
  filter.fingerprint = value.substr(1);
  return {};
}

}  // namespace

Result<void> read_status(std::string_view text, InstanceFilter& filter) {
  filter.retrying = text == "retrying";
  filter.status = filter.retrying ? std::nullopt : status_from(text);
  if (filter.retrying || filter.status) return {};
  return Error{ErrorCode::invalid, "unknown status \"" + std::string(text) +
                                       "\"; use running, waiting, retrying, suspended, completed, failed or cancelled"};
}

Result<Timestamp> time_of(std::string_view text) {
  const bool day = text.size() == 10;
  auto at = parse_timestamp(std::string(text) + (day ? "T00:00:00Z" : ""));
  if (at) return *at;
  return Error{ErrorCode::invalid,
               "\"" + std::string(text) + "\" is not a time such as 2026-01-31 or 2026-01-31T12:00:00Z"};
}

Result<void> check_search(std::string_view text, const Limits& limits) {
  if (count_code_points(text) <= limits.search_length_max) return {};
  return limit_error("limits.search_length_max", static_cast<std::int64_t>(limits.search_length_max),
                     "the search text is longer than " + std::to_string(limits.search_length_max) + " characters");
}

Result<void> read_filter(std::string_view text, InstanceFilter& filter) {
  CAIRN_TRY(const std::vector<Part> parts, parts_of(text));
  for (const Part& part : parts) {
    if (part.name.empty()) {
      add_text(filter.text, part.value);
    } else if (part.name == "status") {
      CAIRN_TRY_VOID(read_status(part.value, filter));
    } else if (part.name == "definition") {
      filter.definition = part.value;
    } else if (part.name == "version") {
      filter.version = part.value;
    } else if (part.name == "ref") {
      filter.reference_key = part.value;
    } else if (part.name.starts_with("part.") && part.name.size() > 5) {
      filter.reference_parts.emplace_back(part.name.substr(5), part.value);
    } else if (part.name == "parent") {
      filter.parent = InstanceId{part.value};
    } else if (part.name == "from") {
      CAIRN_TRY(filter.started_from, time_of(part.value));
    } else if (part.name == "to") {
      CAIRN_TRY(filter.started_to, time_of(part.value));
    } else if (part.name.starts_with("data.") && part.name.size() > 5) {
      filter.data.emplace_back(part.name.substr(5), part.value);
    } else if (part.name == "step") {
      filter.step = part.value;
    } else if (part.name == "error") {
      CAIRN_TRY_VOID(read_fingerprint(part.value, filter));
    } else if (part.name == "deleted") {
      CAIRN_TRY(filter.deleted, yes(part));
    } else {
      return unknown(part.name, {"status", "definition", "version", "ref", "part.NAME", "data.PATH", "parent", "from",
                                 "to", "step", "error", "deleted"});
    }
  }
  const bool has_error = filter.status == Status::suspended || filter.status == Status::failed;
  if (!filter.step.empty() && !filter.retrying && !has_error) {
    return Error{ErrorCode::invalid, "step: is the step of an error; add status:suspended, failed or retrying"};
  }
  return {};
}

Result<void> read_filter(std::string_view text, TaskFilter& filter) {
  CAIRN_TRY(const std::vector<Part> parts, parts_of(text));
  for (const Part& part : parts) {
    if (part.name.empty()) {
      add_text(filter.text, part.value);
    } else if (part.name == "status") {
      filter.status.reset();
      for (const TaskStatus one : {TaskStatus::open, TaskStatus::assigned, TaskStatus::completed, TaskStatus::cancelled,
                                   TaskStatus::expired}) {
        if (part.value == to_string(one)) filter.status = one;
      }
      if (!filter.status) {
        return Error{ErrorCode::invalid,
                     "unknown status \"" + part.value + "\"; use open, assigned, completed, cancelled or expired"};
      }
    } else if (part.name == "assignee") {
      filter.assignee = part.value;
    } else if (part.name == "role") {
      filter.roles.push_back(part.value);
    } else if (part.name == "name") {
      filter.name = part.value;
    } else if (part.name == "ref") {
      filter.reference_key = part.value;
    } else if (part.name == "instance") {
      filter.instance = InstanceId{part.value};
    } else if (part.name == "due") {
      CAIRN_TRY(filter.due_before, time_of(part.value));
    } else if (part.name == "closed") {
      CAIRN_TRY(filter.closed, yes(part));
    } else {
      return unknown(part.name, {"status", "assignee", "role", "name", "ref", "instance", "due", "closed"});
    }
  }
  return {};
}

}  // namespace cairn::api
