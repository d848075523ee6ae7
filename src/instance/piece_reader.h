// Puts the values of pieces into the places of a decoded text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "instance/piece_text.h"

namespace cairn {

class PieceReader {
 public:
  explicit PieceReader(const ReadPieces& read) : read_(read) {}

  // Reads all pieces that the body needs, and fills its places. `name`: what the body is called in messages.
  Result<Json> fill(const Json& body, std::string_view name);
  // Those that the body itself names, in order.
  std::vector<SharedPiece> named() const { return named_; }
  bool missed() const { return missed_; }

 private:
  struct Loaded {
    Json raw;
    std::size_t bytes = 0;
    std::optional<Json> value;
    SharedPiece piece;
  };
  // What one text has inside it.
  struct Found {
    std::vector<SharedPiece> inside;
    std::size_t written = 0;  // of them, without their places
    std::size_t escapes = 0;
  };
  Result<void> load(const Json& body, std::string_view name);
  Result<void> check_places(const Json& value, std::vector<std::string>& unread);
  const Loaded& built(const std::string& hash);
  // The value with its places filled; empty: it has none and needs no change.
  std::optional<Json> filled(const Json& value, Found& found);
  Error fault(const std::string& hash, const Json& body, std::string_view name, const char* what) const;
  // Where the text of `value` names the piece, directly or through other pieces.
  bool find(const std::string& hash, const Json& value, std::string& path) const;

  const ReadPieces& read_;  // borrowed
  std::map<std::string, Loaded> loaded_;
  std::vector<SharedPiece> named_;
  bool missed_ = false;
};

}  // namespace cairn
