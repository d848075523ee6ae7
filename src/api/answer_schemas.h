// What successful answers look like, for the OpenAPI document: a schema for each resource, and which operation answers
// with which. The tests of the routes hold real answers against them.
#pragma once

#include <string_view>

#include "base/json.h"

namespace cairn::server {

struct AnswerSchema {
  std::string_view operation;
  std::string_view status;  // 200, 201, 202, 204
  std::string_view schema;  // in `answer_components`; "InstancePage" is a page of Instance; empty: no body
};

// Nothing for an operation whose answer is no JSON document of its own.
const AnswerSchema* answer_of(std::string_view operation);
// The schemas by name.
Json answer_components();

}  // namespace cairn::server
