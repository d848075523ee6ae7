// Writes the values of one snapshot, large ones as places of pieces.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "instance/piece_text.h"

namespace cairn {

class PieceWriter;
struct Snapshot;
// As `encode_snapshot` (snapshot.h), with the values that the writer keeps apart.
std::string encode_snapshot(const Snapshot& snapshot, PieceWriter* apart);

class PieceWriter {
 public:
  // `bytes_min` 0: only values that already have a note become places. `plain`: nothing was apart so far, so small values
  // are written without a look at their notes. If a place comes of it all the same, the text must be written again.
  PieceWriter(std::size_t bytes_min, bool plain) : bytes_min_(bytes_min), plain_(plain) {}
  PieceWriter(const PieceWriter&) = delete;
  PieceWriter& operator=(const PieceWriter&) = delete;

  // Appends the value as JSON, or its place.
  void write(const Json& value, std::string& out);

  // The pieces that the text names, in order.
  std::vector<SharedPiece> named() const;
  bool has_places() const { return !named_.empty(); }
  // Something may have been written as it is, although text with places must escape it.
  bool wrote_lookalike() const { return wrote_lookalike_ || plain_; }
  // Begins the text again, with escapes: user data that looks like a place gets one more `$`. What was made stays.
  void escape_from_now();
  // The texts of these pieces, which the snapshot has. Call it once, at the end.
  std::vector<PieceChanges::Text> texts_of(const std::vector<std::string>& hashes);

  // For write_json (base/json_writer.h).
  static constexpr bool asks = true;
  bool take(const Json& value, std::string& out);

 private:
  struct Named {
    SharedPiece piece;
    Json value;  // a copy, because some values are made for the writer
  };
  void name(const SharedPiece& piece, const Json& value, std::string& out);
  void write_parts(const Json& value, std::string& out);
  void make(const Json& value, std::size_t at, std::size_t mark, std::size_t escapes, std::string& out);

  const std::size_t bytes_min_;
  bool plain_;
  bool escape_ = false;
  bool wrote_lookalike_ = false;
  std::size_t escapes_ = 0;
  std::vector<Named> named_;
  std::vector<Named> inside_;                 // of pieces that were made
  std::map<std::string, std::string> texts_;  // of pieces that were made
};

}  // namespace cairn
