#include "instance/piece_reader.h"

#include <memory>

#include "base/json_size.h"

namespace cairn {

namespace {

constexpr JsonLimits piece_limits{.bytes_max = 256u << 20, .depth_max = 512};

Error bad_piece(std::string what) { return {ErrorCode::corrupt, std::move(what)}; }

// The hash in a place. Empty: the value is no place.
std::optional<std::string> hash_at(const Json& value) {
  const auto key = place_key(value);
  if (key != piece_key) return std::nullopt;
  const Json& hash = value.members().front().value;
  return hash.is_string() ? std::string(hash.as_string()) : std::string();
}

}  // namespace

Result<Json> PieceReader::fill(const Json& body, std::string_view name) {
  CAIRN_TRY_VOID(load(body, name));
  Found found;
  auto value = filled(body, found);
  named_ = std::move(found.inside);
  return value ? std::move(*value) : body;
}

Result<void> PieceReader::load(const Json& body, std::string_view name) {
  std::vector<std::string> unread;
  CAIRN_TRY_VOID(check_places(body, unread));
  while (!unread.empty()) {
    if (!read_) return bad_piece("it names pieces, which this reader does not have");
    std::vector<std::string> wanted;
    wanted.swap(unread);
    CAIRN_TRY(auto texts, read_(wanted));
    for (const std::string& hash : wanted) {
      const auto text = texts.find(hash);
      if (text == texts.end()) {
        missed_ = true;
        return fault(hash, body, name, "is missing");
      }
      if (!is_piece(hash, text->second)) return fault(hash, body, name, "is damaged: its text has another hash");
      auto raw = parse_json(text->second, piece_limits);
      if (!raw) return fault(hash, body, name, "does not parse");
      Loaded& one = loaded_[hash];
      one.raw = std::move(*raw);
      one.bytes = text->second.size();
      CAIRN_TRY_VOID(check_places(one.raw, unread));
    }
  }
  return {};
}

Result<void> PieceReader::check_places(const Json& value, std::vector<std::string>& unread) {
  if (value.is_array()) {
    for (const Json& item : value.items()) CAIRN_TRY_VOID(check_places(item, unread));
  }
  if (!value.is_object()) return {};
  const auto key = place_key(value);
  if (key == pieces_key) return bad_piece("it has a list in several pieces; use a newer cairn");
  if (const auto hash = hash_at(value)) {
    if (hash->size() != piece_hash_length) return bad_piece("it has a place without the hash of a piece");
    // Named here, so that a second place does not read it again.
    if (loaded_.emplace(*hash, Loaded{}).second) unread.push_back(*hash);
    return {};
  }
  for (const Json::Member& member : value.members()) CAIRN_TRY_VOID(check_places(member.value, unread));
  return {};
}

// A hash cannot name a text that names it again, so the recursion ends.
const PieceReader::Loaded& PieceReader::built(const std::string& hash) {
  Loaded& one = loaded_.at(hash);
  if (one.value) return one;
  Found found;
  auto changed = filled(one.raw, found);
  Json value = changed ? std::move(*changed) : one.raw;
  auto piece = std::make_shared<Piece>();
  piece->hash = hash;
  piece->bytes = one.bytes;
  piece->inside = found.inside;
  const std::size_t written =
      one.bytes - found.escapes - found.inside.size() * piece_place_length + found.written;
  one.piece = piece;
  value.keep_note(std::make_unique<PieceNote>(written, nesting(value), std::move(piece)));
  one.raw = Json();
  one.value = std::move(value);
  return one;
}

std::optional<Json> PieceReader::filled(const Json& value, Found& found) {
  if (const auto hash = hash_at(value)) {
    const Loaded& one = built(*hash);
    found.inside.push_back(one.piece);
    found.written += one.value->note() ? one.value->note()->written : one.bytes;
    return *one.value;
  }
  if (value.is_array()) {
    std::optional<Json> result;
    for (std::size_t i = 0; i < value.size(); ++i) {
      auto item = filled(value.items()[i], found);
      if (!item) continue;
      if (!result) result = value;
      result->edit_items()[i] = std::move(*item);
    }
    return result;
  }
  if (!value.is_object()) return std::nullopt;
  if (const auto key = place_key(value)) {
    ++found.escapes;
    const Json& held = value.members().front().value;
    auto inner = filled(held, found);
    return Json::object({{key->substr(1), inner ? std::move(*inner) : held}});
  }
  std::optional<Json> result;
  for (const Json::Member& member : value.members()) {
    auto held = filled(member.value, found);
    if (!held) continue;
    if (!result) result = value;
    result->set(member.key, std::move(*held));
  }
  return result;
}

Error PieceReader::fault(const std::string& hash, const Json& body, std::string_view name, const char* what) const {
  std::string path(name);
  find(hash, body, path);
  return bad_piece("its piece " + hash + " (" + path + ") " + what);
}

bool PieceReader::find(const std::string& hash, const Json& value, std::string& path) const {
  const std::size_t before = path.size();
  if (const auto own = hash_at(value)) {
    if (*own == hash) return true;
    const auto one = loaded_.find(*own);
    return one != loaded_.end() && find(hash, one->second.raw, path);
  }
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      path += "[" + std::to_string(i) + "]";
      if (find(hash, value.items()[i], path)) return true;
      path.resize(before);
    }
  } else if (value.is_object()) {
    for (const Json::Member& member : value.members()) {
      path += "." + member.key.str();
      if (find(hash, member.value, path)) return true;
      path.resize(before);
    }
  }
  return false;
}

}  // namespace cairn
