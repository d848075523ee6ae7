// An object of the source, read key by key.
//
// Making one checks its keys against the table: unknown ones with the nearest known name, missing ones, those that
// exclude each other. Each accessor then checks one value, writes the canonical member and answers the compiled part,
// nothing when the key is absent or its value is wrong. Asking for a key that is not in the table is a bug.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "definition/keys.h"
#include "definition/values.h"

namespace cairn {

class Fields {
 public:
  Fields(const Site& site, const Cursor& at, const KeyTable& table);
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  const Site& site() const { return site_; }
  const Cursor& at() const { return at_; }
  // The first of the table's `one_of` that is there, or "".
  std::string_view chosen() const { return chosen_; }
  std::optional<Cursor> find(std::string_view key) const;

  std::optional<std::string> text(std::string_view key);  // of any of the text shapes
  std::optional<std::string> choice(std::string_view key);
  bool boolean(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key);  // within the table's range
  std::optional<double> number(std::string_view key);
  std::optional<StatePath> path(std::string_view key);

  std::optional<Template> value(std::string_view key, bool secrets = false);
  std::optional<Template> value(std::string_view key, const Scope& scope, bool secrets = false);
  std::optional<expr::Expression> condition(std::string_view key);
  std::optional<expr::Expression> condition(std::string_view key, const Scope& scope);
  std::vector<expr::Expression> conditions(std::string_view key, const Scope& scope);
  std::optional<DurationTemplate> duration(std::string_view key);
  std::optional<Duration> duration_literal(std::string_view key);
  std::vector<DurationTemplate> durations(std::string_view key);
  std::optional<TimeTemplate> time(std::string_view key);
  std::optional<DueTemplate> due(std::string_view key);
  std::optional<schema::Schema> schema(std::string_view key);

  // The lane `lane` of the site's step. An absent lane is no_index, and so is an empty one where that means the same:
  // where the table writes an empty list for an absent key.
  BlockIndex steps(std::string_view key, std::string_view lane);
  BlockIndex steps(std::string_view key, std::string_view lane, const Scope& scope);

  // The key's value when it is a list as its shape asks; reports otherwise.
  std::optional<Cursor> list(std::string_view key);

  void put(std::string_view key, Json canonical) { canonical_.set(key, std::move(canonical)); }
  Json take() { return std::move(canonical_); }

 private:
  const Key& key(std::string_view name) const;
  // The value's cursor; when absent, writes the table's default and answers nothing.
  std::optional<Cursor> given(std::string_view name);
  void check_keys(const KeyTable& table);

  Site site_;
  Cursor at_;  // cursors of the members point at it: Fields stay where they are made
  const KeyTable& table_;
  std::string subject_;  // the object, in messages
  std::string_view chosen_;
  Json canonical_ = Json::object();
};

// "`a`, `b` or `c`".
std::string list_in_words(std::span<const std::string_view> names);

}  // namespace cairn
