#include "cli/commands.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/safe_output.h"
#include "cli/store_session.h"
#include "cli/table.h"
#include "instance/snapshot.h"

namespace cairn::cli {
namespace {

// Long lines wrap on a narrow terminal, and lines that have scrolled off a low one cannot be erased.
void erase(std::ostream& out, const std::string& shown) {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) size = {};
  const std::size_t rows = rows_of(shown, size.ws_col);
  print_raw(out, size.ws_row > 0 && rows >= size.ws_row ? "\033[H\033[2J" : "\033[" + std::to_string(rows) + "A\033[J");
}

}  // namespace

const CommandSpec& watch_spec() {
  static const CommandSpec spec{
      "watch",
      "ID",
      "Show the tree of an instance after every change until it ends",
      "On a terminal the tree is updated in place; in a pipe each change is appended. The exit code is 0 if the\n"
      "instance completed, and 5 if it ended otherwise.",
      with_api_flags({}),
      {"cairn watch 0190… --server http://127.0.0.1:8400"}};
  return spec;
}

int run_watch(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(watch_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 1) return wrong_call("watch", "name one instance", err);
  auto opened = ApiSession::open("watch", arguments, ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& api = *std::get<0>(opened);
  const std::string place = "/v1/instances/" + path_part(arguments.positional()[0]);
  const bool redraws = takes_controls(out);
  std::string shown;
  auto instance = api.ask({"GET", place}, err);
  while (true) {
    if (const int* code = std::get_if<int>(&instance)) return *code;
    const Json& document = std::get<0>(instance).body;
    const auto tree = api.ask({"GET", place + "/diagram", {{"format", "txt"}}}, err);
    if (const int* code = std::get_if<int>(&tree)) return *code;
    std::string now = std::string(document.text_or("definition", "")) + " " +
                      std::string(document.text_or("status", "")) + "\n" + std::get<0>(tree).text;
    if (now != shown) {
      if (redraws && !shown.empty()) erase(out, shown);
      out << now;
      if (!redraws) out << "\n";
      out << std::flush;
      shown = std::move(now);
    }
    if (reader_is_gone(out)) return exit_done;
    const auto status = status_from(document.text_or("status", ""));
    if (!status || is_final(*status)) return status == Status::completed ? exit_done : exit_not_completed;
    instance = api.next_change(place, document, err);
  }
}

}  // namespace cairn::cli
