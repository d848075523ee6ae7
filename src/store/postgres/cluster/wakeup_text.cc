#include "store/postgres/cluster/wakeup_text.h"

#include <algorithm>
#include <charconv>

namespace cairn::postgres {

namespace {

constexpr std::size_t ended_max = 4096;  // more are not listed one by one

bool names_nobody(const Wakeup& wakeup) {
  return std::any_of(wakeup.ended.begin(), wakeup.ended.end(), [](const InstanceId& id) { return id.value.empty(); });
}

// Ids are separated by commas, so a comma in an id is written as %2C, and % as %25.
std::string escaped(const std::string& id) {
  std::string text;
  for (const char c : id) {
    if (c == ',') {
      text += "%2C";
    } else if (c == '%') {
      text += "%25";
    } else {
      text += c;
    }
  }
  return text;
}

std::string unescaped(std::string_view text) {
  std::string id;
  while (!text.empty()) {
    const bool comma = text.starts_with("%2C");
    const bool mark = comma || text.starts_with("%25");
    id += comma ? ',' : text.front();
    text.remove_prefix(mark ? 3 : 1);
  }
  return id;
}

}  // namespace

Wakeup look_at_everything(Timestamp now) {
  Wakeup wakeup;
  wakeup.messages = wakeup.runs = wakeup.outbox = wakeup.definitions = true;
  wakeup.due = now;
  wakeup.ended.push_back({});  // no particular instance: every waiter for an end must look
  return wakeup;
}

void merge_wakeup(Wakeup& into, const Wakeup& from) {
  into.messages |= from.messages;
  into.runs |= from.runs;
  into.outbox |= from.outbox;
  into.definitions |= from.definitions;
  if (from.due && (!into.due || *from.due < *into.due)) into.due = from.due;
  if (names_nobody(into)) return;
  into.ended.insert(into.ended.end(), from.ended.begin(), from.ended.end());
  if (into.ended.size() > ended_max || names_nobody(from)) into.ended = {InstanceId{}};
}

bool says_nothing(const Wakeup& wakeup) {
  return !wakeup.messages && !wakeup.runs && !wakeup.outbox && !wakeup.definitions && !wakeup.due &&
         wakeup.ended.empty();
}

std::vector<std::string> write_wakeup(const Wakeup& wakeup, std::size_t bytes_max) {
  std::vector<std::string> texts(1);
  std::string& head = texts.front();
  if (wakeup.messages) head += 'm';
  if (wakeup.runs) head += 'r';
  if (wakeup.outbox) head += 'o';
  if (wakeup.definitions) head += 'f';
  if (wakeup.due) head += "d" + std::to_string(wakeup.due->unix_ms());
  if (names_nobody(wakeup)) {
    head += 'a';
    return texts;
  }
  bool first = true;
  for (const InstanceId& id : wakeup.ended) {
    const std::string text = escaped(id.value);
    if (!first && texts.back().size() + 1 + text.size() > bytes_max) {
      texts.emplace_back();
      first = true;
    }
    texts.back() += (first ? "x" : ",") + text;
    first = false;
  }
  return texts;
}

Wakeup read_wakeup(std::string_view text, Timestamp now) {
  Wakeup wakeup;
  while (!text.empty()) {
    const char kind = text.front();
    text.remove_prefix(1);
    switch (kind) {
      case 'm': wakeup.messages = true; break;
      case 'r': wakeup.runs = true; break;
      case 'o': wakeup.outbox = true; break;
      case 'f': wakeup.definitions = true; break;
      case 'a': return look_at_everything(now);
      case 'd': {
        std::int64_t ms = 0;
        const auto end = std::from_chars(text.data(), text.data() + text.size(), ms).ptr;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        wakeup.due = Timestamp::of_unix_ms(ms);
        break;
      }
      case 'x':  // the rest: instances that ended
        while (!text.empty()) {
          const auto comma = text.find(',');
          wakeup.ended.push_back({unescaped(text.substr(0, comma))});
          text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
        }
        break;
      default: break;
    }
  }
  return wakeup;
}

}  // namespace cairn::postgres
