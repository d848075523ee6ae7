// Pieces: large values that a store keeps apart from the snapshot (docs/adr/0010). A piece is named by the SHA-256 of
// its text, so it is written once however often it is used. In the text of a snapshot or of another piece its place is
// {"$piece":"HASH"}. Read `ApartSnapshot` first.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace cairn {

struct Snapshot;

struct Piece;
using SharedPiece = std::shared_ptr<const Piece>;
struct Piece {
  std::string hash;                 // hexadecimal
  std::size_t bytes = 0;            // of its text
  std::vector<SharedPiece> inside;  // those that its text names
};

// The pieces that one stored version of an instance uses.
struct PieceSet {
  std::vector<SharedPiece> named;   // in the text of the snapshot, in order
  std::vector<std::string> hashes;  // with all pieces inside pieces; sorted, each once
  std::size_t bytes = 0;            // of their texts
};

std::shared_ptr<const PieceSet> set_of(std::vector<SharedPiece> named);

// What the store knows of a snapshot's pieces: bookkeeping, and no part of its value.
struct StoredPieces {
  std::shared_ptr<const PieceSet> set;  // null: it uses none
  std::uint64_t state_version = 0;      // of the version that uses them; 0: none does
  bool operator==(const StoredPieces&) const { return true; }
};

// What a commit changes for the pieces of one instance.
struct PieceChanges {
  struct Text {
    std::string hash;
    std::string text;
  };
  std::vector<Text> added;           // sorted by hash
  std::vector<std::string> dropped;  // sorted
  // The uses of the stored version are unknown: `added` is all that the new one uses, and every other use ends.
  bool all = false;
  bool empty() const { return added.empty() && dropped.empty() && !all; }
};

// A snapshot for a store that keeps values of `bytes_min` and more apart.
struct ApartSnapshot {
  std::string head;                      // equal to `encode_snapshot` if it has no pieces
  std::shared_ptr<const PieceSet> uses;  // null: none
  PieceChanges changes;
};
// `before`: what the version that this one replaces uses; absent: unknown. Large values get a note with their piece, so
// the next call does not write them again. With a `bytes_min` of 0 nothing new is kept apart.
ApartSnapshot encode_apart(const Snapshot& snapshot, std::size_t bytes_min,
                           const std::optional<std::shared_ptr<const PieceSet>>& before);

// Reads the texts of pieces by their hashes. Those that do not exist are missing in the answer.
using ReadPieces = std::function<Result<std::map<std::string, std::string>>(const std::vector<std::string>&)>;
// As `decode_snapshot`, with the values of the pieces in their places. A missing or wrong piece is ErrorCode::corrupt,
// with its hash and its place in the message. `missing`, if given, tells whether a piece was missing.
Result<Snapshot> decode_snapshot(std::string_view head, const ReadPieces& read, bool* missing = nullptr);

// The same for a reader that another writer may overtake between its reads: `head` reads the stored text (absent: no
// such instance). If a piece is missing, the text is read again, and only a piece that the same text still names is
// lost.
Result<std::optional<Snapshot>> load_apart(const std::function<Result<std::optional<std::string>>()>& head,
                                           const ReadPieces& read);

// Whether the text is the one that the hash names.
bool is_piece(std::string_view hash, std::string_view text);

}  // namespace cairn
