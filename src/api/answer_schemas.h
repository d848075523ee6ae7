// The schemas of successful answers for the OpenAPI document: one per resource, and which operation returns which.
// Tests of the routes validate real answers against them.
#pragma once

#include <string_view>

#include "base/json.h"

namespace cairn::api {

struct AnswerSchema {
  std::string_view operation;
  std::string_view status;  // 200, 201, 202, 204
  std::string_view schema;  // in `answer_components`; "InstancePage" is a page of Instance; empty: no body
};

// Null if the operation does not return a JSON document.
const AnswerSchema* answer_of(std::string_view operation);
// The schemas by name.
Json answer_components();

}  // namespace cairn::api
