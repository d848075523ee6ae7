#include "store/postgres/commit/piece_writes.h"

namespace cairn::postgres {

// A later unit may continue from an earlier one of the batch, so the last change of each use counts.
void PieceWrites::change(std::int64_t instance, const PieceChanges& changes) {
  if (changes.all) {
    std::erase_if(uses_, [&](const auto& use) { return use.first.first == instance; });
    whole_.insert(instance);
  }
  for (const PieceChanges::Text& added : changes.added) {
    texts_.emplace(added.hash, added.text);
    uses_[{instance, added.hash}] = true;
  }
  for (const std::string& hash : changes.dropped) uses_[{instance, hash}] = false;
}

void PieceWrites::change_and_keep(std::int64_t instance, PieceChanges changes) {
  change(instance, kept_.emplace_back(std::move(changes)));
}

void PieceWrites::send(Connection& db) const {
  if (uses_.empty() && whole_.empty()) return;
  struct {
    Column<std::int64_t> instances;
    Column<std::string> hashes;
  } begun, ended;
  Column<std::string> hashes, texts;
  std::set<std::string_view> wanted, left;
  std::map<std::int64_t, Column<std::string>> whole;
  for (const std::int64_t instance : whole_) whole[instance];
  for (const auto& [use, begins] : uses_) {
    const auto& [instance, hash] = use;
    auto& list = begins ? begun : ended;
    list.instances.add(instance);
    list.hashes.add(std::string(hash));
    (begins ? wanted : left).insert(hash);
    if (begins && whole_.contains(instance)) whole[instance].add(std::string(hash));
  }
  for (const std::string_view hash : wanted) {
    hashes.add(std::string(hash));
    texts.add(std::string(texts_.at(hash)));
  }
  if (!wanted.empty()) {
    db.send(Sql::insert_pieces, hashes, texts);
    db.send(Sql::use_pieces, begun.instances, begun.hashes);
  }
  for (const auto& [instance, kept] : whole) {
    Column<std::int64_t> one;
    one.add(instance);
    db.send(Sql::end_piece_uses, one, kept);
  }
  if (left.empty()) return;
  Column<std::string> dropped;
  for (const std::string_view hash : left) dropped.add(std::string(hash));
  db.send(Sql::drop_piece_uses, ended.instances, ended.hashes);
  db.send(Sql::remove_pieces, dropped);
}

}  // namespace cairn::postgres
