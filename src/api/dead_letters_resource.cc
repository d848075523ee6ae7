#include <charconv>

#include "api/api.h"
#include "api/page_answer.h"
#include "api/problem.h"
#include "upkeep/replay_dead_letter.h"

namespace cairn::api {
namespace {

Json dead_letter_document(const DeadLetter& letter) {
  return Json::object({{"id", letter.id},
                       {"kind", letter.kind},
                       {"instance", letter.instance ? Json(letter.instance->value) : Json()},
                       {"reason", letter.reason},
                       {"node", letter.node},
                       {"at", format_timestamp(letter.at)},
                       {"envelope", letter.envelope}});
}

Result<std::int64_t> dead_letter_id_of(const Call& call) {
  const std::string_view text = call.at("id");
  std::int64_t id = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), id);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || id < 1) {
    return Error{ErrorCode::not_found, "no dead letter " + std::string(text)};
  }
  return id;
}

Error missing(std::int64_t id) { return {ErrorCode::not_found, "no dead letter " + std::to_string(id)}; }

// The list is ordered by number, so only the page after `id - 1` can contain it.
Result<DeadLetter> find(EngineCore& core, std::int64_t id) {
  CAIRN_TRY(const auto page, core.store().list_dead_letters({1, std::to_string(id - 1)}));
  if (page.items.empty() || page.items.front().id != id) return missing(id);
  return page.items.front();
}

void list_dead_letters(EngineCore& core, const Call& call) {
  const auto fetch = [&](const PageRequest& page) { return core.store().list_dead_letters(page); };
  call.reply(page_answer(call, fetch, dead_letter_document));
}

void show_dead_letter(EngineCore& core, const Call& call) {
  const auto id = dead_letter_id_of(call);
  if (!id) return call.reply(problem(id.error()));
  const auto letter = find(core, *id);
  call.reply(letter ? json_response(dead_letter_document(*letter)) : problem(letter.error()));
}

// An event returns to the outbox, everything else to its queue.
Result<void> replay(EngineCore& core, std::int64_t id, const Actor& actor) {
  CAIRN_TRY(const DeadLetter letter, find(core, id));
  if (letter.kind == "event") {
    if (!letter.envelope["sequence"].is_integer())
      return Error{ErrorCode::unsupported, "the dead letter does not name its event"};
    CAIRN_TRY(const bool sent, core.store().resend_outbox(letter.envelope["sequence"].as_integer()));
    if (!sent) return Error{ErrorCode::conflict, "retention has removed the event"};
    CAIRN_TRY_VOID(core.store().discard_dead_letter(id));
    return {};
  }
  CAIRN_TRY(const bool done, replay_dead_letter(core, id, actor));
  if (!done) return missing(id);
  return {};
}

void replay_one(EngineCore& core, const Call& call) {
  const auto id = dead_letter_id_of(call);
  if (!id) return call.reply(problem(id.error()));
  const auto done = replay(core, *id, actor_of(call));
  call.reply(done ? json_response(Json::object({{"id", *id}, {"replayed", true}}), 202) : problem(done.error()));
}

void discard(EngineCore& core, const Call& call) {
  const auto id = dead_letter_id_of(call);
  if (!id) return call.reply(problem(id.error()));
  const auto gone = core.store().discard_dead_letter(*id);
  if (!gone) return call.reply(problem(gone.error()));
  call.reply(*gone ? Response(204, "application/json", {}, "") : problem(missing(*id)));
}

}  // namespace

std::vector<Route> dead_letter_routes(EngineCore& core) {
  const auto with = [&core](void (*handle)(EngineCore&, const Call&)) {
    return [&core, handle](const Call& call) { handle(core, call); };
  };
  return {
      {"GET",
       "/v1/dead-letters",
       Permission::view,
       "listDeadLetters",
       "List dead letters, oldest first",
       with(list_dead_letters),
       {{"limit", "maximum number of items"}, {"cursor", "next_cursor of the previous page"}}},
      {"GET", "/v1/dead-letters/{id}", Permission::view, "getDeadLetter", "One dead letter", with(show_dead_letter)},
      {"POST", "/v1/dead-letters/{id}/replay", Permission::operate, "replayDeadLetter",
       "Return a dead letter to its queue", with(replay_one)},
      {"DELETE", "/v1/dead-letters/{id}", Permission::operate, "discardDeadLetter", "Discard a dead letter",
       with(discard)},
  };
}

}  // namespace cairn::api
