#include "cli/instance_answer.h"

#include "cli/exit_code.h"

namespace cairn::cli {

int print_answer(const Arguments& arguments, const Json& document, std::ostream& out) {
  if (arguments.has("--json")) {
    out << write_json(document) << "\n";
    return exit_done;
  }
  out << document.text_or("id", "") << " " << document.text_or("status", "");
  if (document["repeated"] == Json(true)) out << " (done before)";
  if (const Json& output = document["output"]; !output.is_null()) out << " " << write_json(output);
  out << "\n";
  return exit_done;
}

}  // namespace cairn::cli
