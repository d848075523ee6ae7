// What each problem of the API means and what a client can do about it: the texts of docs/errors.md, which the server
// shows at the address that is the problem's `type`.
#pragma once

#include <string_view>

namespace cairn::api {

struct ProblemText {
  std::string_view name;  // the last part of the type
  int status = 0;
  std::string_view description;
  std::string_view advice;  // empty: nothing can be done
};

// Null if the name is unknown.
const ProblemText* find_problem_text(std::string_view name);

}  // namespace cairn::api
