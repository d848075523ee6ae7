#include "engine/registry.h"

#include <algorithm>

#include "base/log.h"
#include "base/suggest.h"
#include "schema/error_places.h"
#include "store/store_calls.h"

namespace cairn {

Result<void> Registry::load(bool strict) {
  PageRequest page;
  do {
    CAIRN_TRY(const Page<DefinitionRow> rows, store_.list_definitions(page));
    for (const DefinitionRow& row : rows.items) {
      auto program = compile_program(row.canonical);
      if (program && (*program)->digest == row.digest) {
        add(std::move(*program), row.retired_at.has_value());
        continue;
      }
      const std::string why = program ? "its digest does not match" : program.error().message;
      const std::string what = "definition " + row.name + " " + row.version + ": " + why;
      if (strict) return Error{ErrorCode::corrupt, what};
      const std::lock_guard lock(mutex_);
      unavailable_.push_back(what);
    }
    for (const std::string& what : rows.unreadable) {
      if (strict) return Error{ErrorCode::corrupt, what};
      const std::lock_guard lock(mutex_);
      unavailable_.push_back(what);
    }
    page.cursor = rows.next_cursor;
  } while (!page.cursor.empty());
  return {};
}

// The index is replaced and never modified, so a running decision keeps the one that it started with.
void Registry::add(std::shared_ptr<const Program> program, bool retired) {
  const std::lock_guard lock(mutex_);
  const std::pair key(program->name, program->version);
  programs_[key] = program;
  retired_[key] = retired;
  auto index = std::make_shared<DefinitionIndex>();
  for (const auto& [name, known] : programs_) {
    if (!retired_[name]) index->add(known);
  }
  index_ = std::move(index);
}

Result<void> Registry::deploy(const std::shared_ptr<const Program>& program) {
  DefinitionRow row;
  row.name = program->name;
  row.version = program->version;
  row.digest = program->digest;
  row.canonical = program->canonical;
  CAIRN_TRY(const PutDefinition put, store_.put_definition(row));
  if (put == PutDefinition::conflict) {
    return Error{ErrorCode::conflict,
                 program->name + " " + program->version +
                     " is already deployed with other content; definitions never change, raise the version"};
  }
  // Compiled from the stored form, which has no file positions. What an instance stores must not depend on whether this
  // process started before or after the deployment.
  CAIRN_TRY(auto stored, compile_program(program->canonical));
  add(std::move(stored), false);
  return {};
}

Result<bool> Registry::retire(const std::string& name, const std::string& version) {
  CAIRN_TRY(const bool done, store_.retire_definition(name, version));
  if (!done) return false;
  std::shared_ptr<const Program> program;
  {
    const std::lock_guard lock(mutex_);
    const auto found = programs_.find({name, version});
    if (found != programs_.end()) program = found->second;
  }
  if (program) add(program, true);
  return true;
}

// Reads the changes of other nodes. Skips definitions that this node cannot compile.
void Registry::catch_up() {
  if (!changed_ || !MemoryOnly::may_call_store() || !changed_.exchange(false)) return;
  PageRequest page;
  do {
    const auto rows = store_.list_definitions(page);
    if (!rows) {
      log_error("definitions.read", rows.error());
      changed_ = true;
      return;
    }
    for (const DefinitionRow& row : rows->items) {
      std::shared_ptr<const Program> known;
      bool retired = false;
      {
        const std::lock_guard lock(mutex_);
        const auto found = programs_.find({row.name, row.version});
        if (found != programs_.end()) known = found->second;
        retired = retired_[{row.name, row.version}];
      }
      if (known && retired == row.retired_at.has_value()) continue;
      auto program = known ? Result<std::shared_ptr<const Program>>(known) : compile_program(row.canonical);
      if (program && (*program)->digest == row.digest) add(std::move(*program), row.retired_at.has_value());
    }
    page.cursor = rows->next_cursor;
  } while (!page.cursor.empty());
}

Result<std::shared_ptr<const Program>> Registry::find(const std::string& name,
                                                      const std::optional<std::string>& version) {
  auto known = index();
  if (auto program = known->find(name, version)) return program;
  CAIRN_TRY_VOID(MemoryOnly::may_call_store());
  CAIRN_TRY(const auto elsewhere, store_.find_definition(name, version));
  if (elsewhere && !elsewhere->retired_at) {
    // The notification has not arrived yet.
    expect_changes();
    known = index();
    if (auto program = known->find(name, version)) return program;
    // Another thread is reading the changes, or they could not be read.
    return pinned({elsewhere->name, elsewhere->version, elsewhere->digest});
  }
  std::string message = "no definition " + name + (version ? " version " + *version : "") + " is deployed";
  if (known->versions(name).empty()) {
    if (const auto near = nearest_name(name, known->names())) message += "; did you mean " + *near + "?";
  }
  return Error{ErrorCode::not_found, message};
}

Result<std::shared_ptr<const Program>> Registry::pinned(const ProgramKey& key) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = programs_.find({key.name, key.version});
    if (found != programs_.end() && found->second->digest == key.digest) return found->second;
  }
  CAIRN_TRY_VOID(MemoryOnly::may_call_store());
  CAIRN_TRY(const auto row, store_.find_definition(key.name, key.version));
  if (!row || row->digest != key.digest) {
    return Error{ErrorCode::not_found, "the definition " + key.name + " " + key.version + " is missing"};
  }
  auto program = compile_program(row->canonical);
  if (!program) return with_context(program.error(), "definition " + key.name + " " + key.version);
  add(*program, row->retired_at.has_value());
  return std::move(*program);
}

std::shared_ptr<const DefinitionIndex> Registry::index() {
  catch_up();
  const std::lock_guard lock(mutex_);
  return index_;
}

std::vector<std::string> Registry::unavailable() const {
  const std::lock_guard lock(mutex_);
  return unavailable_;
}

namespace {

// Whether the program uses signals of this name and takes the payload.
bool takes_payload(const Program& program, const std::string& name, const Json& payload) {
  const auto rule = program.signals.find(name);
  if (rule == program.signals.end()) return program.signal_names.contains(name);
  return !rule->second.schema || rule->second.schema->accepts(payload);
}

}  // namespace

bool Registry::has_version_that_takes(const std::string& name, const Json& payload) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(programs_.begin(), programs_.end(),
                     [&](const auto& known) { return takes_payload(*known.second, name, payload); });
}

Result<std::optional<Duration>> Registry::admit_signal(const std::string& name, const Json& payload) {
  std::optional<Duration> longest;
  bool for_ever = false;
  bool accepted = false;
  std::optional<Error> refused;
  index()->each_newest([&](const Program& program) {
    const auto rule = program.signals.find(name);
    const bool has_rule = rule != program.signals.end();
    if (!has_rule && !program.signal_names.contains(name)) return;
    if (!has_rule || !rule->second.ttl) {
      for_ever = true;
    } else if (!longest || *rule->second.ttl > *longest) {
      longest = rule->second.ttl;
    }
    if (takes_payload(program, name, payload)) {
      accepted = true;
    } else if (!refused) {
      const auto violations = rule->second.schema->check(payload);
      refused = Error{
          ErrorCode::invalid,
          "signal " + name + ": its schema in " + program.name + " refuses the payload: " + schema::listed(violations),
          schema::error_places(violations, "/payload")};
    }
  });
  // Instances of older versions may wait for it.
  if (!accepted && refused && !has_version_that_takes(name, payload)) return std::move(*refused);
  return for_ever ? std::nullopt : longest;
}

}  // namespace cairn
