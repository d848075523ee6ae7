// Any text as a wake-up of another node, and any ended instances: what is written, in several texts, reads back as the
// same wake-up.
#include "store/postgres/cluster/wakeup_text.h"

#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  const Timestamp now{1'700'000'000, 0};
  Wakeup read = postgres::read_wakeup(input, now);
  if (read.due) read.due = Timestamp::of_unix_ms(read.due->unix_ms());
  Wakeup again;
  for (const std::string& text : postgres::write_wakeup(read, 300)) {
    postgres::merge_wakeup(again, postgres::read_wakeup(text, now));
  }
  bool everything = false;
  for (const InstanceId& id : read.ended) everything = everything || id.value.empty();
  CAIRN_ASSERT(again.messages == read.messages || everything);
  CAIRN_ASSERT(again.runs == read.runs || everything);
  CAIRN_ASSERT(again.outbox == read.outbox || everything);
  CAIRN_ASSERT(again.definitions == read.definitions || everything);
  CAIRN_ASSERT(again.due == read.due || everything);
  CAIRN_ASSERT(again.ended == read.ended || everything || read.ended.size() > 4096);
  CAIRN_ASSERT(postgres::says_nothing(again) == postgres::says_nothing(read));
}
