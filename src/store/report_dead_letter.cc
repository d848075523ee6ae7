#include "store/report_dead_letter.h"

#include "base/incidents.h"

namespace cairn {

void report_dead_letter(const DeadLetter& letter) {
  Incident incident{Incident::Kind::dead_letter};
  incident.type = letter.kind == "run" ? std::string(letter.envelope.text_or("type", letter.kind)) : letter.kind;
  LogFields fields{{"kind", letter.kind}, {"reason", letter.reason}};
  if (letter.instance) fields.emplace_back("instance", letter.instance->value);
  if (letter.kind == "run") fields.emplace_back("run", letter.envelope["run"]);
  report_incident(incident, std::move(fields));
}

}  // namespace cairn
