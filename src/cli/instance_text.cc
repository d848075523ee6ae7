#include "cli/instance_text.h"

namespace cairn::cli {
namespace {

std::string text_of(const Json& value) {
  return value.is_string() ? std::string(value.as_string()) : write_json(value);
}

// Short values follow their name on the same line, long ones on the next.
void print_value(std::ostream& out, const char* name, const Json& value) {
  if (value.is_null() || (value.is_object() && value.size() == 0)) return;
  const std::string brief = write_json(value);
  out << "\n" << name << (brief.size() <= 90 ? "  " + brief : "\n" + write_json_pretty(value)) << "\n";
}

}  // namespace

void print_instance(std::ostream& out, const Json& document, const std::string& tree) {
  out << text_of(document["id"]) << "\n"
      << text_of(document["definition"]) << " " << text_of(document["version"]) << ", " << text_of(document["status"]);
  if (document["reference"]["key"].is_string()) out << ", reference " << text_of(document["reference"]["key"]);
  out << "\nstarted " << text_of(document["started_at"]);
  if (document["ended_at"].is_string()) {
    out << ", ended " << text_of(document["ended_at"]);
  } else {
    out << ", last change " << text_of(document["changed_at"]);
  }
  out << " (state version " << text_of(document["state_version"]) << ")\n";
  if (!tree.empty()) out << "\n" << tree;
  if (document["error"].is_object()) {
    const std::string message = text_of(document["error"]["message"]);
    const std::string place = " (" + text_of(document["error"]["at"]) + ")";
    out << "\nerror  " << text_of(document["error"]["code"]) << ": " << message;
    if (document["error"]["at"].is_string() && !message.ends_with(place)) out << place;
    out << "\n";
  }
  if (document["waits"].is_array() && document["waits"].size() > 0) {
    out << "\nwaits\n";
    for (const Json& wait : document["waits"].items()) {
      out << "  " << text_of(wait["kind"]);
      if (wait["name"].is_string()) out << " " << text_of(wait["name"]);
      if (!wait["key"].is_null()) out << " with the key " << text_of(wait["key"]);
      out << " at " << text_of(wait["step"]) << ", since " << text_of(wait["since"]);
      if (wait["until"].is_string()) out << ", until " << text_of(wait["until"]);
      out << "\n";
    }
  }
  const bool waits = document["waits"].is_array() && document["waits"].size() > 0;
  if (waits || document["status"] == Json("suspended")) {
    out << (waits ? "  " : "\n") << "`cairn why " << text_of(document["id"]) << "` explains how to continue.\n";
  }
  if (document["signals"].is_array() && document["signals"].size() > 0) {
    out << "\nkept signals\n";
    for (const Json& signal : document["signals"].items()) {
      out << "  " << text_of(signal["name"]);
      if (!signal["key"].is_null()) out << " with the key " << text_of(signal["key"]);
      out << ", since " << text_of(signal["at"]);
      if (signal["until"].is_string()) out << ", until " << text_of(signal["until"]);
      out << "\n";
    }
  }
  print_value(out, "input", document["input"]);
  print_value(out, "state", document["state"]);
  print_value(out, "output", document["output"]);
}

}  // namespace cairn::cli
