// The schemas of successful answers for the OpenAPI document: one per resource, and which operation returns which.
// Tests of the routes validate real answers against them.
#pragma once

#include <span>
#include <string_view>

#include "base/json.h"

namespace cairn::api {

inline constexpr std::string_view json_type = "application/json";

struct AnswerSchema {
  std::string_view operation;
  std::string_view status;                   // 200, 201, 202, 204, 304
  std::string_view schema;                   // in `answer_components`; "InstancePage" is a page of Instance
  std::string_view media_types = json_type;  // comma-separated; empty: no body
  std::string_view description = {};         // empty: the usual answer
};

// The successful answers of an operation, the usual one first. Every operation has at least one.
std::span<const AnswerSchema> answers_of(std::string_view operation);
// The schemas by name.
Json answer_components();

}  // namespace cairn::api
