// The text of pieces: how their places look, and what user data becomes that looks like one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "instance/pieces.h"

namespace cairn {

// The note of a value that is a piece.
struct PieceNote final : JsonNote {
  PieceNote(std::size_t written_length, int nesting, SharedPiece noted)
      : JsonNote(written_length, nesting), piece(std::move(noted)) {}
  SharedPiece piece;
};
// The piece of the value, if it has a note; nullptr otherwise.
const SharedPiece* piece_of(const Json& value) noexcept;

inline constexpr std::string_view piece_place_head = R"({"$piece":")";
inline constexpr std::size_t piece_hash_length = 64;
inline constexpr std::size_t piece_place_length = piece_place_head.size() + piece_hash_length + 2;
void write_piece_place(std::string_view hash, std::string& out);

// The key of an object with one member that is a place or looks like one: any number of `$`, then `piece` or `pieces`.
// In text with places such user data has one `$` more. (`$pieces` is reserved for lists in several pieces.)
std::optional<std::string_view> place_key(const Json& value) noexcept;
inline constexpr std::string_view piece_key = "$piece";
inline constexpr std::string_view pieces_key = "$pieces";

}  // namespace cairn
