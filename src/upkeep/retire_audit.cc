#include "upkeep/retire_audit.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "base/log.h"
#include "base/write_file.h"
#include "store/audit_chain.h"
#include "upkeep/age.h"

namespace cairn {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t export_rows_max = 5000;
constexpr std::size_t export_rows_min = 1000;  // fewer wait for more
constexpr std::size_t removed_at_once_max = 1000;
constexpr Duration wait_max = Duration::of_seconds(86'400);

struct Export {
  std::string file;
  AuditSeal seal;
};

std::string file_name(std::int64_t from, std::int64_t through) {
  const auto digits = [](std::int64_t number) {
    const std::string text = std::to_string(number);
    return std::string(text.size() < 12 ? 12 - text.size() : 0, '0') + text;
  };
  return "audit-" + digits(from) + "-" + digits(through) + ".jsonl";
}

// The rows of the file, from its name.
std::optional<std::pair<std::int64_t, std::int64_t>> rows_in(const std::string& name) {
  constexpr std::string_view start = "audit-", end = ".jsonl";
  if (!name.starts_with(start) || !name.ends_with(end)) return std::nullopt;
  const char* const last = name.data() + name.size() - end.size();
  std::int64_t from = 0, through = 0;
  const auto first = std::from_chars(name.data() + start.size(), last, from);
  if (first.ec != std::errc() || first.ptr == last || *first.ptr != '-') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, last, through);
  if (second.ec != std::errc() || second.ptr != last) return std::nullopt;
  return std::pair(from, through);
}

class Retirement {
 public:
  Retirement(Store& store, const AuditArchive& archive, const std::string& node, Duration age,
             const MayContinue& may_continue)
      : store_(store),
        archive_(archive),
        node_(node),
        age_(age),
        before_(earlier(store.now(), age)),
        may_continue_(may_continue) {}

  Result<std::size_t> run() {
    while (true) {
      CAIRN_TRY(const bool goes_on, may_continue_());
      if (!goes_on) return removed_;
      CAIRN_TRY(const auto exported, next_export());
      if (!exported) return removed_;
      CAIRN_TRY(const bool all, remove(*exported));
      if (!all) return removed_;
    }
  }

 private:
  // The export whose rows are removed next: one that a crash has left, or a new one.
  Result<std::optional<Export>> next_export() {
    CAIRN_TRY(const auto oldest, store_.list_audit({1, ""}));
    if (oldest.items.empty() || !(oldest.items.front().at < before_)) return std::optional<Export>();
    CAIRN_TRY(auto unfinished, find_export(oldest.items.front()));
    if (unfinished) return unfinished;
    CAIRN_TRY(const std::vector<AuditRow> rows, old_rows());
    const Duration waiting = std::min(Duration::of_ms(age_.ms_up() / 4), wait_max);
    const bool may_wait =
        rows.size() < export_rows_min && !(rows.empty() || rows.front().at < earlier(before_, waiting));
    // An export of nothing but rows about exports would make the next one.
    const bool only_exports =
        std::all_of(rows.begin(), rows.end(), [](const AuditRow& row) { return row.what == export_operation; });
    if ((only_exports && rows.size() < export_rows_min) || may_wait) return std::optional<Export>();
    CAIRN_TRY_VOID(check_start(rows.front()));
    CAIRN_TRY(Export written, write(rows, store_.now()));
    return std::optional(std::move(written));
  }

  // An export must continue an earlier one. Otherwise its seal would vouch for rows that an intruder has removed.
  Result<void> check_start(const AuditRow& first) {
    if (first.sequence == 1) return {};
    std::error_code failed;
    for (fs::directory_iterator at(archive_.folder, failed), end; !failed && at != end; at.increment(failed)) {
      const auto rows = rows_in(at->path().filename().string());
      if (rows && rows->second == first.sequence - 1) return {};
    }
    // Its file has been moved away. The trail has the row that vouches for it.
    CAIRN_TRY(const AuditReport report, verify_audit(store_, {}, [this] { return !may_continue_().value_or(false); }));
    if (!report.broken_at) return {};
    return Error{ErrorCode::corrupt, "the audit trail is broken at row " + std::to_string(*report.broken_at) + " (" +
                                         report.why + "); nothing is exported"};
  }

  // The oldest rows, without the last one of the trail.
  Result<std::vector<AuditRow>> old_rows() {
    CAIRN_TRY(auto page, store_.list_audit({export_rows_max + 1, ""}));
    auto& rows = page.items;
    rows.pop_back();
    rows.erase(std::find_if(rows.begin(), rows.end(), [&](const AuditRow& row) { return !(row.at < before_); }),
               rows.end());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool follows =
          i == 0 || (rows[i].sequence == rows[i - 1].sequence + 1 && rows[i].previous_hash == rows[i - 1].hash);
      if (follows && rows[i].hash == audit_hash(rows[i])) continue;
      return Error{ErrorCode::corrupt, "row " + std::to_string(rows[i].sequence) +
                                           " of the audit trail does not continue the chain; nothing is exported"};
    }
    return std::move(rows);
  }

  Result<Export> write(const std::vector<AuditRow>& rows, Timestamp now) {
    Export one{file_name(rows.front().sequence, rows.back().sequence),
               sealed(rows.front(), rows.back(), now, archive_.key)};
    std::string text;
    for (const AuditRow& row : rows) text += write_json(audit_document(row)) + "\n";
    text += write_json(seal_line(one.seal)) + "\n";
    CAIRN_TRY_VOID(write_file((fs::path(archive_.folder) / one.file).string(), text));
    log_info("audit.exported", {{"file", one.file},
                                {"from", one.seal.from},
                                {"through", one.seal.through},
                                {"hash", one.seal.hash},
                                {"key", one.seal.key}});
    return one;
  }

  // A file that has row `first`, whose removal was interrupted. It must be complete and have the rows of the trail.
  Result<std::optional<Export>> find_export(const AuditRow& first) {
    std::error_code failed;
    for (fs::directory_iterator at(archive_.folder, failed), end; !failed && at != end; at.increment(failed)) {
      const std::string name = at->path().filename().string();
      const auto rows = rows_in(name);
      if (!rows || first.sequence < rows->first || first.sequence > rows->second) continue;
      const auto found = read(name, first);
      if (!found) return with_context(found.error(), name);
      return std::optional(*found);
    }
    if (failed) return Error{ErrorCode::unavailable, archive_.folder + ": " + failed.message()};
    return std::optional<Export>();
  }

  Result<Export> read(const std::string& name, const AuditRow& first) {
    std::ifstream file(fs::path(archive_.folder) / name, std::ios::binary);
    if (!file) return Error{ErrorCode::unavailable, "the file cannot be read"};
    // The hashes tie the file to the trail. Its signature may be of an earlier key.
    AuditCheck check;
    std::optional<AuditRow> begin, last;
    bool has_seal = false, has_first = false;
    std::string line;
    while (std::getline(file, line)) {
      CAIRN_TRY(const Json document, parse_json(line));
      if (const Json* given = document.find("export")) {
        CAIRN_TRY(const AuditSeal seal, seal_from(*given));
        has_seal = check.add(seal);
        continue;
      }
      CAIRN_TRY(const AuditRow row, audit_row_from(document));
      if (!check.add(row)) break;
      if (!begin) begin = row;
      has_first = has_first || (row.sequence == first.sequence && row.hash == first.hash);
      last = row;
    }
    const AuditReport report = check.finish();
    if (report.broken_at)
      return Error{ErrorCode::corrupt, "row " + std::to_string(*report.broken_at) + ": " + report.why};
    const Error other{ErrorCode::conflict, "the file is of another audit trail, or not complete"};
    if (!has_seal || !has_first) return other;
    CAIRN_TRY(const auto stored, store_.list_audit({1, std::to_string(last->sequence - 1)}));
    if (stored.items.empty() || stored.items.front().hash != last->hash) return other;
    return Export{name, sealed(*begin, *last, store_.now(), archive_.key)};
  }

  // False if it was interrupted.
  Result<bool> remove(const Export& exported) {
    const AuditRow row = export_row(exported.seal, exported.file, node_);
    CAIRN_TRY_VOID(store_.append_audit({&row, 1}));
    while (true) {
      CAIRN_TRY(const bool goes_on, may_continue_());
      if (!goes_on) return false;
      CAIRN_TRY(const std::size_t gone, store_.retire_audit(exported.seal.through, removed_at_once_max));
      removed_ += gone;
      if (gone < removed_at_once_max) return true;
    }
  }

  Store& store_;
  const AuditArchive& archive_;
  const std::string& node_;
  const Duration age_;
  const Timestamp before_;  // fixed at the start: each export adds a row
  const MayContinue& may_continue_;
  std::size_t removed_ = 0;
};

}  // namespace

Result<std::size_t> retire_audit(Store& store, const AuditArchive& archive, const std::string& node, Duration age,
                                 const MayContinue& may_continue) {
  return Retirement(store, archive, node, age, may_continue).run();
}

}  // namespace cairn
