#include "instance/pieces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/json_size.h"
#include "base/sha256.h"
#include "instance/snapshot.h"

namespace cairn {
namespace {

constexpr std::size_t bytes_min = 16u << 10;

Snapshot waiting(Json input, Json state) {
  Snapshot snapshot;
  snapshot.instance = {"i"};
  snapshot.program = {"p", "1.0.0", std::string(64, 'a')};
  snapshot.state_version = 1;
  snapshot.status = Status::waiting;
  snapshot.started_at = snapshot.changed_at = Timestamp::of_unix_ms(1'700'000'000'000);
  snapshot.input = std::move(input);
  snapshot.state = std::move(state);
  snapshot.reference.parts = Json::object();
  snapshot.strands.push_back({1, 0, {{"block", "steps", Json(0)}}, {}});
  snapshot.counter = 1;
  return snapshot;
}

std::string text_of(std::size_t length, char letter = 'x') { return std::string(length, letter); }

// What a store does with the changes: texts by hash, and the uses of one instance.
class Shelf {
 public:
  // Stores the next version and answers what changed.
  PieceChanges put(Snapshot& snapshot, std::size_t min = bytes_min) {
    ApartSnapshot apart = encode_apart(snapshot, min, snapshot.pieces.set);
    for (const auto& [hash, text] : apart.changes.added) {
      EXPECT_TRUE(is_piece(hash, text));
      texts_[hash] = text;
      EXPECT_TRUE(uses_.insert(hash).second) << "it was used already";
    }
    for (const std::string& hash : apart.changes.dropped) {
      EXPECT_EQ(uses_.erase(hash), 1u) << "it was not used";
      texts_.erase(hash);
    }
    head_ = apart.head;
    snapshot.pieces = {apart.uses, snapshot.state_version};
    return apart.changes;
  }
  ReadPieces reader() const {
    return [this](const std::vector<std::string>& hashes) -> Result<std::map<std::string, std::string>> {
      std::map<std::string, std::string> found;
      for (const std::string& hash : hashes) {
        if (const auto text = texts_.find(hash); text != texts_.end()) found.insert(*text);
      }
      return found;
    };
  }
  Result<Snapshot> get(bool* missing = nullptr) const { return decode_snapshot(head_, reader(), missing); }

  std::string head_;
  std::map<std::string, std::string> texts_;
  std::set<std::string> uses_;
};

TEST(Pieces, ASmallSnapshotIsStoredAsBefore) {
  Snapshot snapshot = waiting(Json::object({{"a", text_of(1000)}}), Json::object({{"b", Json::array({1, 2})}}));
  const ApartSnapshot apart = encode_apart(snapshot, bytes_min, snapshot.pieces.set);
  EXPECT_EQ(apart.head, encode_snapshot(snapshot));
  EXPECT_EQ(apart.uses, nullptr);
  EXPECT_TRUE(apart.changes.empty());
  EXPECT_EQ(format_of(apart.head), 1);
}

TEST(Pieces, ALargeValueIsApartAndComesBack) {
  Shelf shelf;
  Snapshot snapshot = waiting(Json::object({{"doc", text_of(50'000)}, {"n", 1}}), Json::object({{"small", 1}}));
  const PieceChanges changes = shelf.put(snapshot);
  EXPECT_EQ(changes.added.size(), 1u);
  EXPECT_LT(shelf.head_.size(), 1500u);
  EXPECT_EQ(format_of(shelf.head_), 2);
  const auto back = shelf.get();
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(*back, snapshot);
  EXPECT_EQ(encode_snapshot(*back), encode_snapshot(snapshot));
  EXPECT_EQ(back->pieces.set->hashes, snapshot.pieces.set->hashes);
  EXPECT_EQ(back->pieces.state_version, 1u);
}

TEST(Pieces, AStepWritesOnlyWhatItChanged) {
  Shelf shelf;
  Snapshot snapshot =
      waiting(Json::object({{"doc", text_of(50'000)}}),
              Json::object({{"one", text_of(20'000, 'a')}, {"two", text_of(30'000, 'b')}, {"small", 1}}));
  EXPECT_EQ(shelf.put(snapshot).added.size(), 3u);
  const auto set = snapshot.pieces.set;
  snapshot.state.set("small", 2);
  EXPECT_TRUE(shelf.put(snapshot).empty());
  EXPECT_EQ(snapshot.pieces.set, set);
  snapshot.state.set("two", text_of(30'000, 'c'));
  const PieceChanges changes = shelf.put(snapshot);
  ASSERT_EQ(changes.added.size(), 1u);
  EXPECT_EQ(changes.dropped.size(), 1u);
  EXPECT_EQ(changes.added.front().hash, sha256_hex('"' + text_of(30'000, 'c') + '"'));
  EXPECT_EQ(*shelf.get(), snapshot);
  snapshot.state = Json::object();
  snapshot.input = Json();
  EXPECT_EQ(shelf.put(snapshot).dropped.size(), 3u);
  EXPECT_EQ(shelf.head_, encode_snapshot(snapshot));
  EXPECT_EQ(snapshot.pieces.set, nullptr);
}

TEST(Pieces, ALoadedSnapshotIsNotWrittenAgain) {
  Shelf shelf;
  Snapshot snapshot = waiting(Json::object({{"doc", text_of(50'000)}}), Json::object({{"list", Json::array({1})}}));
  shelf.put(snapshot);
  Snapshot back = *shelf.get();
  ++back.state_version;
  back.state.set("n", 7);
  EXPECT_TRUE(shelf.put(back).empty());
}

TEST(Pieces, AListOfSmallItemsIsOnePieceAndAPieceMayHavePieces) {
  Json::Array items;
  for (int i = 0; i < 400; ++i) items.push_back(Json::object({{"number", i}, {"note", text_of(60)}}));
  items.push_back(Json::object({{"scan", text_of(40'000)}}));
  Shelf shelf;
  Snapshot snapshot = waiting(Json::array(items), Json::object());
  const PieceChanges changes = shelf.put(snapshot);
  ASSERT_EQ(changes.added.size(), 2u);
  EXPECT_EQ(snapshot.pieces.set->named.size(), 1u);
  EXPECT_EQ(snapshot.pieces.set->named.front()->inside.size(), 1u);
  EXPECT_EQ(snapshot.pieces.set->hashes.size(), 2u);
  const auto back = shelf.get();
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(*back, snapshot);
  // The lengths that limits look at.
  const std::size_t length = encode_snapshot(snapshot).size();
  EXPECT_EQ(written_length(snapshot.input), write_json(snapshot.input).size());
  EXPECT_EQ(written_length(back->input), write_json(back->input).size());
  EXPECT_EQ(nesting(back->input), 2);
  EXPECT_EQ(encode_snapshot(*back).size(), length);
}

TEST(Pieces, TheSameValueTwiceIsOnePiece) {
  const Json doc(text_of(50'000));
  Shelf shelf;
  Snapshot snapshot = waiting(doc, Json::object({{"copy", doc}, {"equal", text_of(50'000)}}));
  EXPECT_EQ(shelf.put(snapshot).added.size(), 1u);
  EXPECT_EQ(snapshot.pieces.set->named.size(), 3u);
  snapshot.input = Json();
  EXPECT_TRUE(shelf.put(snapshot).empty());
  EXPECT_EQ(*shelf.get(), snapshot);
}

TEST(Pieces, UserDataMayLookLikeAPlace) {
  const auto odd = [](const char* key, Json value) { return Json::object({{key, std::move(value)}}); };
  const std::string hash(64, 'f');
  Snapshot snapshot = waiting(
      Json::array({odd("$piece", hash), odd("$$piece", hash), odd("$pieces", Json::array({hash})), odd("$", 1),
                   odd("piece", hash), odd("$piece", text_of(30'000)), odd("$pieces", odd("$piece", text_of(20'000)))}),
      Json::object({{"$piece", "two members"}, {"a", odd("$piece", 1)}}));
  Shelf shelf;
  shelf.put(snapshot);
  auto back = shelf.get();
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(*back, snapshot);
  EXPECT_EQ(written_length(back->input), write_json(back->input).size());
  // Without pieces nothing is escaped.
  Snapshot small = waiting(odd("$piece", hash), odd("$pieces", 1));
  EXPECT_EQ(encode_apart(small, bytes_min, nullptr).head, encode_snapshot(small));
  EXPECT_EQ(*decode_snapshot(encode_snapshot(small)), small);
  // In the head, written before the first piece is met.
  Snapshot late = waiting(odd("$piece", hash), Json::object({{"doc", text_of(40'000)}}));
  shelf = {};
  shelf.put(late);
  back = shelf.get();
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(*back, late);
}

TEST(Pieces, AMissingOrDamagedPieceIsNamedWithItsPlace) {
  Shelf shelf;
  Snapshot snapshot = waiting(Json(), Json::object({{"report", Json::object({{"doc", text_of(50'000)}})}}));
  shelf.put(snapshot);
  const std::string hash = shelf.texts_.begin()->first;
  shelf.texts_.begin()->second[100] = 'y';
  bool missing = true;
  auto back = shelf.get(&missing);
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code, ErrorCode::corrupt);
  EXPECT_NE(back.error().message.find(hash), std::string::npos) << back.error().message;
  EXPECT_NE(back.error().message.find("business.state.report.doc"), std::string::npos) << back.error().message;
  EXPECT_FALSE(missing);
  shelf.texts_.clear();
  back = shelf.get(&missing);
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code, ErrorCode::corrupt);
  EXPECT_NE(back.error().message.find("is missing"), std::string::npos) << back.error().message;
  EXPECT_TRUE(missing);
  EXPECT_FALSE(decode_snapshot(shelf.head_).has_value());
}

TEST(Pieces, AReaderThatWasOvertakenReadsAgain) {
  Shelf old, now;
  Snapshot snapshot = waiting(Json(), Json::object({{"doc", text_of(50'000)}}));
  old.put(snapshot);
  snapshot.state.set("doc", text_of(40'000, 'z'));
  ++snapshot.state_version;
  snapshot.pieces = {};  // the other shelf has nothing yet
  now.put(snapshot);
  int reads = 0;
  const auto overtaken = [&]() -> Result<std::optional<std::string>> { return std::optional(++reads == 1 ? old.head_ : now.head_); };
  const auto back = load_apart(overtaken, now.reader());
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(**back, snapshot);
  EXPECT_EQ(reads, 2);
  // Lost for good.
  const auto same = [&]() -> Result<std::optional<std::string>> { return std::optional(old.head_); };
  EXPECT_EQ(load_apart(same, now.reader()).error().code, ErrorCode::corrupt);
  const auto gone = []() -> Result<std::optional<std::string>> { return std::optional<std::string>(); };
  EXPECT_FALSE(load_apart(gone, now.reader())->has_value());
}

TEST(Pieces, WhatTheStoredVersionUsesMayBeUnknown) {
  Snapshot snapshot = waiting(Json(text_of(50'000)), Json::object());
  const ApartSnapshot apart = encode_apart(snapshot, bytes_min, std::nullopt);
  EXPECT_TRUE(apart.changes.all);
  EXPECT_EQ(apart.changes.added.size(), 1u);
  snapshot.input = Json();
  const ApartSnapshot none = encode_apart(snapshot, bytes_min, std::nullopt);
  EXPECT_TRUE(none.changes.all);
  EXPECT_FALSE(none.changes.empty());
}

TEST(Pieces, WithoutAMinimumOnlyKnownPiecesStayApart) {
  Shelf shelf;
  Snapshot snapshot = waiting(Json(text_of(50'000)), Json::object());
  shelf.put(snapshot);
  snapshot.state.set("more", text_of(70'000));
  EXPECT_TRUE(shelf.put(snapshot, 0).empty());
  EXPECT_EQ(*shelf.get(), snapshot);
}

// Random documents and random edits: what is stored is exactly what the current version needs, and reads back.
class RandomEdits {
 public:
  explicit RandomEdits(unsigned seed) : random_(seed) {}

  Json value(int depth) {
    switch (below(depth > 0 ? 8 : 5)) {
      case 0: return Json(below(1000));
      case 1: return Json(below(2) == 0);
      case 2: return Json(std::string(static_cast<std::size_t>(below(200)), 'a'));
      case 3: return Json(std::string(static_cast<std::size_t>(below(3000)), static_cast<char>('a' + below(3))));
      case 4: return below(4) == 0 ? Json::object({{lookalike(), Json(below(3))}}) : Json();
      case 5:
      case 6: {
        Json list = Json::array();
        for (int i = below(6); i > 0; --i) list.push_back(value(depth - 1));
        return list;
      }
      default: {
        Json object = Json::object();
        for (int i = below(5); i > 0; --i) object.set(std::string(1, static_cast<char>('p' + i)), value(depth - 1));
        if (below(6) == 0) return Json::object({{lookalike(), object}});
        return object;
      }
    }
  }
  void edit(Json& value, int depth) {
    if (value.is_object() && value.size() > 0 && below(4) != 0) {
      const std::string key = value.members()[static_cast<std::size_t>(below(static_cast<int>(value.size())))].key.str();
      return edit(value.edit(key), depth - 1);
    }
    if (value.is_array() && below(2) == 0) return value.push_back(this->value(1));
    value = this->value(std::max(0, depth));
  }
  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }

 private:
  const char* lookalike() {
    static constexpr const char* keys[] = {"$piece", "$$piece", "$pieces", "$$$pieces", "$other"};
    return keys[below(5)];
  }
  std::mt19937 random_;
};

TEST(Pieces, RandomEditsKeepTheShelfExact) {
  for (unsigned seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomEdits random(seed);
    Shelf shelf;
    const std::size_t min = static_cast<std::size_t>(60 + random.below(400));
    Snapshot snapshot = waiting(random.value(4), Json::object({{"a", random.value(4)}, {"b", random.value(3)}}));
    for (int version = 1; version <= 25; ++version) {
      snapshot.state_version = static_cast<std::uint64_t>(version);
      shelf.put(snapshot, min);
      const auto back = shelf.get();
      ASSERT_TRUE(back.has_value()) << back.error().message;
      ASSERT_EQ(*back, snapshot);
      ASSERT_EQ(encode_snapshot(*back), encode_snapshot(snapshot));
      ASSERT_EQ(written_length(back->state), write_json(snapshot.state).size());
      ASSERT_EQ(written_length(snapshot.state), write_json(snapshot.state).size());
      const std::set<std::string> needed = back->pieces.set ? std::set<std::string>(back->pieces.set->hashes.begin(),
                                                                                    back->pieces.set->hashes.end())
                                                            : std::set<std::string>();
      ASSERT_EQ(needed, shelf.uses_);
      if (random.below(3) == 0) snapshot = *back;  // as after a restart
      if (random.below(4) == 0) {
        snapshot.state.set("c", snapshot.input);  // shared
      } else {
        random.edit(snapshot.state, 4);
      }
      if (!snapshot.state.is_object()) snapshot.state = Json::object({{"a", snapshot.state}});
      if (random.below(10) == 0) snapshot.input = snapshot.state;
    }
  }
}

}  // namespace
}  // namespace cairn
