// Reads an object of the source key by key.
//
// The constructor checks the keys against the table. It reports unknown keys with a suggestion, missing keys, and keys
// that exclude each other. Each accessor checks one value, writes the canonical member and answers the compiled part.
// It answers empty if the key is missing or its value is wrong. Asking for a key outside the table is a bug.
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
  // The first key of the table's `one_of` that is present, or "".
  std::string_view chosen() const { return chosen_; }
  std::optional<Cursor> find(std::string_view key) const;

  std::optional<std::string> text(std::string_view key);  // for any of the text shapes
  std::optional<std::string> choice(std::string_view key);
  bool boolean(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key);  // within the table's range
  std::optional<double> number(std::string_view key);
  std::optional<StatePath> path(std::string_view key);
  std::vector<std::string> labels(std::string_view key);  // written as they stand; wrong items are reported

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

  // Reads the lane `lane` of the site's step. A missing lane is no_index. An empty lane is no_index too if the table's
  // default for the key is an empty list, because then both mean the same.
  BlockIndex steps(std::string_view key, std::string_view lane);
  BlockIndex steps(std::string_view key, std::string_view lane, const Scope& scope);

  // The list at `key`. Reports a value of another kind.
  std::optional<Cursor> list(std::string_view key);

  void put(std::string_view key, Json canonical) { canonical_.set(key, std::move(canonical)); }
  Json take() { return std::move(canonical_); }

 private:
  const Key& key(std::string_view name) const;
  // The cursor of the value. If the key is missing, writes the table's default and answers empty.
  std::optional<Cursor> given(std::string_view name);
  void check_keys(const KeyTable& table);

  Site site_;
  Cursor at_;  // cursors of the members point at it, so Fields never move
  const KeyTable& table_;
  std::string subject_;  // names the object in messages
  std::string_view chosen_;
  Json canonical_ = Json::object();
};

// "`a`, `b` or `c`".
std::string list_in_words(std::span<const std::string_view> names);

}  // namespace cairn
