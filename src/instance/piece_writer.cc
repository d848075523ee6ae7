#include "instance/piece_writer.h"

#include <algorithm>
#include <iterator>

#include "base/json_size.h"
#include "base/json_writer.h"
#include "base/result.h"
#include "base/sha256.h"

namespace cairn {

namespace {

void write_escaped(std::string_view key, const Json& value, std::string& out, auto&& write) {
  write_json_key('{', "$" + std::string(key), out);
  write(value.members().front().value);
  out.push_back('}');
}

// Writes the text of a piece again. Only the places that it had then are places now: a value inside may have become a
// piece of its own meanwhile.
struct AsItWas {
  static constexpr bool asks = true;
  bool take(const Json& value, std::string& out) {
    if (const SharedPiece* const own = piece_of(value)) {
      const auto same = [&](const SharedPiece& one) { return one->hash == (*own)->hash; };
      if (std::any_of(piece.inside.begin(), piece.inside.end(), same)) {
        write_piece_place((*own)->hash, out);
        found.emplace_back(*own, value);
        return true;
      }
    }
    const auto key = place_key(value);
    if (!key) return false;
    write_escaped(*key, value, out, [&](const Json& held) { write_json(held, out, *this); });
    return true;
  }
  const Piece& piece;
  std::vector<std::pair<SharedPiece, Json>> found;
};

}  // namespace

bool PieceWriter::take(const Json& value, std::string& out) {
  if (const SharedPiece* const piece = piece_of(value)) {
    name(*piece, value, out);
    return true;
  }
  const auto key = place_key(value);
  if (!key) return false;
  if (!escape_) {
    wrote_lookalike_ = true;
    return false;
  }
  ++escapes_;
  write_escaped(*key, value, out, [&](const Json& held) { write_json(held, out, *this); });
  return true;
}

void PieceWriter::name(const SharedPiece& piece, const Json& value, std::string& out) {
  write_piece_place(piece->hash, out);
  named_.push_back({piece, value});
}

void PieceWriter::write(const Json& value, std::string& out) {
  const std::size_t at = out.size();
  if (plain_ && !escape_) {
    write_json(value, out);
    if (bytes_min_ == 0 || out.size() - at < bytes_min_) return;
    out.resize(at);
  }
  const std::size_t mark = named_.size(), escapes = escapes_;
  write_json(value, out, *this);
  if (bytes_min_ == 0 || out.size() - at < bytes_min_) return;
  // Scalars, empty lists and short texts have no room for a note.
  if (value.is_string() ? value.as_string().size() < Text::noted_min : value.size() == 0) return;
  out.resize(at);
  named_.erase(named_.begin() + static_cast<std::ptrdiff_t>(mark), named_.end());
  escapes_ = escapes;
  // The text of a piece may have places. Text that stays here has some, if it is written in parts.
  const bool outer = std::exchange(escape_, true);
  write_parts(value, out);
  if (out.size() - at >= bytes_min_) make(value, at, mark, escapes, out);
  escape_ = outer;
}

void PieceWriter::write_parts(const Json& value, std::string& out) {
  if (value.is_array()) {
    char before = '[';
    for (const Json& item : value.items()) {
      out.push_back(before);
      before = ',';
      write(item, out);
    }
    out.push_back(']');
  } else if (const auto key = place_key(value)) {
    ++escapes_;
    write_escaped(*key, value, out, [&](const Json& held) { write(held, out); });
  } else if (value.is_object()) {
    char before = '{';
    for (const Json::Member& member : value.members()) {
      write_json_key(before, member.key, out);
      before = ',';
      write(member.value, out);
    }
    out.push_back('}');
  } else {
    write_json(value, out);
  }
}

void PieceWriter::make(const Json& value, std::size_t at, std::size_t mark, std::size_t escapes, std::string& out) {
  std::string text = out.substr(at);
  auto piece = std::make_shared<Piece>();
  piece->hash = sha256_hex(text);
  piece->bytes = text.size();
  std::size_t written = text.size() - (escapes_ - escapes);
  const auto first = named_.begin() + static_cast<std::ptrdiff_t>(mark);
  for (auto inside = first; inside != named_.end(); ++inside) {
    piece->inside.push_back(inside->piece);
    written += inside->value.note()->written - piece_place_length;
  }
  inside_.insert(inside_.end(), std::make_move_iterator(first), std::make_move_iterator(named_.end()));
  named_.erase(first, named_.end());
  out.resize(at);
  escapes_ = escapes;
  texts_.emplace(piece->hash, std::move(text));
  CAIRN_ASSERT(value.keep_note(std::make_unique<PieceNote>(written, nesting(value), std::move(piece))));
  name(*piece_of(value), value, out);  // another thread may have been faster
}

void PieceWriter::escape_from_now() {
  plain_ = false;
  escape_ = true;
  inside_.insert(inside_.end(), std::make_move_iterator(named_.begin()), std::make_move_iterator(named_.end()));
  named_.clear();
}

std::vector<SharedPiece> PieceWriter::named() const {
  std::vector<SharedPiece> pieces;
  pieces.reserve(named_.size());
  for (const Named& one : named_) pieces.push_back(one.piece);
  return pieces;
}

std::vector<PieceChanges::Text> PieceWriter::texts_of(const std::vector<std::string>& hashes) {
  std::map<std::string, Json> values;
  std::vector<std::pair<SharedPiece, Json>> unread;
  const auto meet = [&](const SharedPiece& piece, const Json& value) {
    if (!std::binary_search(hashes.begin(), hashes.end(), piece->hash)) return;
    if (values.emplace(piece->hash, value).second) unread.emplace_back(piece, value);
  };
  for (const Named& one : named_) meet(one.piece, one.value);
  for (const Named& one : inside_) meet(one.piece, one.value);
  while (!unread.empty()) {
    const auto [piece, value] = std::move(unread.back());
    unread.pop_back();
    if (texts_.contains(piece->hash)) continue;
    AsItWas writer{*piece, {}};
    std::string text;
    write_json(value, text, writer);
    for (const auto& [inner, held] : writer.found) meet(inner, held);
    texts_.emplace(piece->hash, std::move(text));
  }
  std::vector<PieceChanges::Text> texts;
  texts.reserve(hashes.size());
  for (const std::string& hash : hashes) {
    auto text = texts_.extract(hash);
    // What is stored under a hash has that hash, whatever happened to the value since it was noted.
    CAIRN_ASSERT(!text.empty() && is_piece(hash, text.mapped()));
    texts.push_back({hash, std::move(text.mapped())});
  }
  return texts;
}

}  // namespace cairn
