#include "instance/piece_text.h"

#include <algorithm>

#include "base/sha256.h"

namespace cairn {

const SharedPiece* piece_of(const Json& value) noexcept {
  const JsonNote* const note = value.note();
  if (note == nullptr) return nullptr;
  const auto* const own = dynamic_cast<const PieceNote*>(note);
  return own == nullptr ? nullptr : &own->piece;
}

void write_piece_place(std::string_view hash, std::string& out) {
  out += piece_place_head;
  out += hash;
  out += "\"}";
}

std::optional<std::string_view> place_key(const Json& value) noexcept {
  if (!value.is_object() || value.size() != 1) return std::nullopt;
  const std::string_view key = value.members().front().key;
  if (!key.starts_with('$')) return std::nullopt;
  const std::string_view name = key.substr(std::min(key.find_first_not_of('$'), key.size()));
  if (name != "piece" && name != "pieces") return std::nullopt;
  return key;
}

bool is_piece(std::string_view hash, std::string_view text) { return sha256_hex(text) == hash; }

}  // namespace cairn
