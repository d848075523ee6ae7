#include "cli/history_command.h"

#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& history_spec() {
  static const CommandSpec spec{"history", "ID --store URL [--json]", "Show what happened to an instance, oldest first",
                                "",        {store_flag, json_flag},   {"cairn history 0190… --store sqlite:orders.db"}};
  return spec;
}

int run_history(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(history_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 1) return wrong_call("history", "name one instance", err);
  const InstanceId id{arguments.positional()[0]};
  auto opened = StoreSession::open("history", arguments, StoreSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  StoreSession& session = *std::get<0>(opened);
  const auto row = session.store().find_instance(id);
  if (!row) return fail("history", row.error(), err);
  if (!*row) return fail("history", {ErrorCode::not_found, "no instance " + id.value}, err);
  Json items = Json::array();
  PageRequest page{1000, ""};
  do {
    const auto rows = session.store().history(id, page);
    if (!rows) return fail("history", rows.error(), err);
    for (const HistoryRow& entry : rows->items) {
      if (arguments.has("--json")) {
        items.push_back(server::document(entry));
        continue;
      }
      out << format_timestamp(entry.entry.at) << "  v" << entry.version << "  " << to_string(entry.entry.kind);
      if (!entry.entry.step.empty()) out << " " << entry.entry.step;
      if (!entry.entry.actor.empty()) out << " by " << entry.entry.actor;
      if (entry.entry.attempt > 1) out << ", attempt " << entry.entry.attempt;
      if (!entry.entry.details.is_null()) out << "  " << write_json(entry.entry.details);
      out << "\n";
    }
    page.cursor = rows->next_cursor;
  } while (!page.cursor.empty());
  if (arguments.has("--json")) out << write_json(Json::object({{"items", items}})) << "\n";
  return exit_done;
}

}  // namespace cairn::cli
