// The descriptions of problems, at the address that each problem names as its type.
#include "api/api.h"
#include "api/problem.h"
#include "api/problem_texts.h"

namespace cairn::api {
namespace {

void show_problem(const Call& call) {
  const std::string name(call.at("name"));
  const ProblemText* const text = find_problem_text(name);
  if (text == nullptr) return call.reply(problem({ErrorCode::not_found, "no problem " + name}));
  call.reply(json_response(Json::object({{"type", "/problems/" + name},
                                         {"status", text->status},
                                         {"description", text->description},
                                         {"advice", text->advice}})));
}

}  // namespace

std::vector<Route> problem_routes() {
  Route route{
      "GET",       "/problems/{name}", Permission::open, "getProblem", "What a problem means and what to do about it",
      show_problem};
  route.immediate = true;
  return {std::move(route)};
}

}  // namespace cairn::api
