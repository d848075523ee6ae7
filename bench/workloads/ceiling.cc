#include "workloads/ceiling.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <deque>

#include "base/clock.h"
#include "store/sqlite/writer_settings.h"
#include "workloads/definitions.h"
#include "workloads/disk_counts.h"
#include "workloads/rows.h"
#include "workloads/table_dump.h"

namespace cairn::bench {

namespace {

struct Close {
  void operator()(sqlite3* handle) const { sqlite3_close(handle); }
};
using Handle = std::unique_ptr<sqlite3, Close>;

Result<Handle> open_file(const std::string& path) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Handle owned(handle);
  if (code != SQLITE_OK) return Error{ErrorCode::unavailable, path + ": " + sqlite3_errstr(code)};
  sqlite3_exec(handle, sqlite::writer_settings, nullptr, nullptr, nullptr);
  return owned;
}

// A value of the sample. The numbers and ids of its instance are placeholders for those of any instance.
struct Slot {
  Value constant;
  int number = -1;                               // index of a row number
  std::vector<std::pair<std::size_t, int>> ids;  // the position of each id in the text, and which id it is
};

struct Statement {
  sqlite3_stmt* handle = nullptr;
  std::vector<Slot> slots;
  int gives_number = -1;  // an insert whose row gets the next number of its table
  std::string table;
};

// One instance during its phases.
struct Walk {
  std::vector<std::int64_t> numbers;
  std::vector<std::string> ids;
};

class Replay {
 public:
  explicit Replay(sqlite3* database) : database_(database) {}
  ~Replay() {
    for (const auto& phase : phases_) {
      for (const Statement& statement : phase) sqlite3_finalize(statement.handle);
    }
    sqlite3_finalize(load_);
  }

  Result<void> add_phase(const Dump& tables, const std::vector<RowChange>& changes) {
    auto& phase = phases_.emplace_back();
    // Numbers first, because rows refer to each other.
    for (const RowChange& change : changes) {
      const Table& table = tables.at(change.table);
      if (change.kind == RowChange::Kind::inserted && table.numbered && change.table != "wf_runtime_states") {
        numbers_.emplace(std::pair(change.table, std::get<std::int64_t>(change.after[table.key[0]])),
                         static_cast<int>(numbers_.size()));
      }
    }
    for (const RowChange& change : changes) CAIRN_TRY_VOID(add(tables.at(change.table), change, phase));
    return {};
  }
  Result<void> finish() {
    const char* text =
        "SELECT s.state_version, s.snapshot FROM wf_instances_base i JOIN wf_runtime_states s ON s.n = i.n WHERE i.id "
        "= ?1";
    if (sqlite3_prepare_v3(database_, text, -1, SQLITE_PREPARE_PERSISTENT, &load_, nullptr) != SQLITE_OK)
      return failure();
    return {};
  }

  std::size_t phases() const { return phases_.size(); }
  std::size_t statements() const {
    std::size_t count = 0;
    for (const auto& phase : phases_) count += phase.size();
    return count;
  }

  Walk begin(Timestamp now) {
    Walk walk;
    walk.numbers.resize(numbers_.size());
    for (const std::string& id : ids_) {
      // Version 7 ids grow with time, the others are random: this affects the indexes.
      walk.ids.push_back(id[14] == '7' ? new_uuid(now) : derived_uuid(new_uuid(now), "x"));
    }
    return walk;
  }

  // The texts of one slice, created before the clock starts.
  std::vector<std::string> texts(std::size_t phase, const Walk& walk) const {
    std::vector<std::string> made;
    for (const Statement& statement : phases_[phase]) {
      for (const Slot& slot : statement.slots) {
        const auto* text = std::get_if<std::string>(&slot.constant);
        if (text == nullptr) continue;
        std::string own = *text;
        for (const auto& [at, id] : slot.ids) own.replace(at, 36, walk.ids[static_cast<std::size_t>(id)]);
        made.push_back(std::move(own));
      }
    }
    return made;
  }

  Result<void> write(std::size_t phase, Walk& walk, const std::vector<std::string>& made) {
    if (phase > 0) {
      const std::string& id = walk.ids[static_cast<std::size_t>(instance_id_)];
      sqlite3_bind_text(load_, 1, id.data(), static_cast<int>(id.size()), SQLITE_STATIC);
      if (sqlite3_step(load_) != SQLITE_ROW) return failure();
      sqlite3_column_text(load_, 1);
      sqlite3_reset(load_);
    }
    std::size_t next_text = 0;
    for (Statement& statement : phases_[phase]) {
      int index = 0;
      if (statement.gives_number >= 0) {
        walk.numbers[static_cast<std::size_t>(statement.gives_number)] = ++next_number_[statement.table];
      }
      for (const Slot& slot : statement.slots) {
        ++index;
        if (slot.number >= 0) {
          sqlite3_bind_int64(statement.handle, index, walk.numbers[static_cast<std::size_t>(slot.number)]);
        } else if (const auto* whole = std::get_if<std::int64_t>(&slot.constant)) {
          sqlite3_bind_int64(statement.handle, index, *whole);
        } else if (const auto* real = std::get_if<double>(&slot.constant)) {
          sqlite3_bind_double(statement.handle, index, *real);
        } else if (std::holds_alternative<std::string>(slot.constant)) {
          const std::string& text = made[next_text++];
          sqlite3_bind_text(statement.handle, index, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
        } else {
          sqlite3_bind_null(statement.handle, index);
        }
      }
      if (sqlite3_step(statement.handle) != SQLITE_DONE) return failure();
      sqlite3_reset(statement.handle);
    }
    return {};
  }

 private:
  Error failure() const {
    return {ErrorCode::internal, std::string("the ceiling's replay: ") + sqlite3_errmsg(database_)};
  }

  // For a numeric column: the table whose rows it counts.
  static std::string counted_by(const std::string& table, const std::string& column, bool is_key) {
    if (table == "wf_runtime_states" && is_key) return "wf_instances_base";
    if (is_key && column == "n") return table;
    if (column == "instance" || column == "target") return "wf_instances_base";
    if (column == "task") return "wf_tasks";
    if (column == "run") return "workflow_run";
    return {};
  }

  Slot slot_of(const Table& table, const std::string& name, std::size_t column, const Value& value) {
    Slot slot{value, -1, {}};
    const bool is_key = std::find(table.key.begin(), table.key.end(), column) != table.key.end();
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      const auto number = numbers_.find({counted_by(name, table.columns[column], is_key), *whole});
      if (number != numbers_.end()) slot.number = number->second;
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      for (std::size_t at = 0; at + 36 <= text->size();) {
        const std::string part = text->substr(at, 36);
        if (!is_uuid(part)) {
          ++at;
          continue;
        }
        auto known = std::find(ids_.begin(), ids_.end(), part);
        if (known == ids_.end()) known = ids_.insert(ids_.end(), part);
        slot.ids.emplace_back(at, static_cast<int>(known - ids_.begin()));
        if (name == "wf_instances_base" && table.columns[column] == "id") instance_id_ = slot.ids.back().second;
        at += 36;
      }
    }
    return slot;
  }

  Result<void> add(const Table& table, const RowChange& change, std::vector<Statement>& phase) {
    Statement statement;
    statement.table = change.table;
    std::string text;
    const auto where = [&](const std::vector<Value>& row) {
      text += " WHERE ";
      for (std::size_t i = 0; i < table.key.size(); ++i) {
        text += (i == 0 ? "" : " AND ") + table.columns[table.key[i]] + " = ?";
        statement.slots.push_back(slot_of(table, change.table, table.key[i], row[table.key[i]]));
      }
    };
    switch (change.kind) {
      case RowChange::Kind::inserted: {
        std::string places;
        text = "INSERT INTO " + change.table + " (";
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
          text += (i == 0 ? "" : ", ") + table.columns[i];
          places += i == 0 ? "?" : ", ?";
          statement.slots.push_back(slot_of(table, change.table, i, change.after[i]));
        }
        text += ") VALUES (" + places + ")";
        if (table.numbered && change.table != "wf_runtime_states") {
          statement.gives_number = numbers_.at({change.table, std::get<std::int64_t>(change.after[table.key[0]])});
        }
        break;
      }
      case RowChange::Kind::updated:
        text = "UPDATE " + change.table + " SET ";
        for (std::size_t i = 0, set = 0; i < table.columns.size(); ++i) {
          if (change.before[i] == change.after[i]) continue;
          text += (set++ == 0 ? "" : ", ") + table.columns[i] + " = ?";
          statement.slots.push_back(slot_of(table, change.table, i, change.after[i]));
        }
        where(change.after);
        break;
      case RowChange::Kind::removed:
        text = "DELETE FROM " + change.table;
        where(change.before);
        break;
    }
    if (sqlite3_prepare_v3(database_, text.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement.handle, nullptr) !=
        SQLITE_OK) {
      return failure();
    }
    phase.push_back(std::move(statement));
    return {};
  }

  sqlite3* database_;
  sqlite3_stmt* load_ = nullptr;
  std::vector<std::vector<Statement>> phases_;
  std::map<std::pair<std::string, std::int64_t>, int> numbers_;
  std::map<std::string, std::int64_t> next_number_;
  std::vector<std::string> ids_;
  int instance_id_ = 0;
};

// The file after the definition, the start and the signal.
Result<std::vector<Dump>> sample(const Plan& plan) {
  CAIRN_TRY(Stage stage, Stage::open(plan, std::array{one_wait}));
  const std::string path = stage.url.substr(std::string("sqlite:").size());
  std::vector<Dump> dumps;
  const auto look = [&]() -> Result<void> {
    CAIRN_TRY(const Handle handle, open_file(path));
    CAIRN_TRY(Dump dump, dump_tables(handle.get()));
    dumps.push_back(std::move(dump));
    return {};
  };
  CAIRN_TRY_VOID(look());
  CAIRN_TRY(const InstanceAnswer begun, stage.engine->start(request_for("one-wait", order_input())));
  CAIRN_TRY_VOID(look());
  CAIRN_TRY_VOID(stage.engine->signal(begun.instance, "go", Json::object({{"ok", true}})));
  CAIRN_TRY_VOID(look());
  return dumps;
}

Result<Row> replay(const Plan& plan, const std::vector<Dump>& dumps, std::size_t batch) {
  CAIRN_TRY(const Scratch scratch, Scratch::make(plan.folder));
  const std::string path = scratch.path() + "/store.db";
  { CAIRN_TRY_VOID(open_engine("sqlite:" + path)); }
  CAIRN_TRY(const Handle handle, open_file(path));
  sqlite3* database = handle.get();
  Replay rows(database);
  for (std::size_t i = 1; i < dumps.size(); ++i) {
    CAIRN_TRY_VOID(rows.add_phase(dumps[i], changes_between(dumps[i - 1], dumps[i])));
  }
  CAIRN_TRY_VOID(rows.finish());

  SystemClock clock;
  std::deque<std::pair<std::size_t, Walk>> running;  // the next phase of each
  const std::size_t phases = rows.phases();
  // As in a closed loop in a steady state: every phase is equally frequent.
  while (running.size() < batch) running.emplace_back(0, rows.begin(clock.now()));
  double busy_s = 0;
  std::uint64_t slices = 0;
  Latencies commits;
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::microseconds(static_cast<long>(plan.seconds * 1.25e6));
  Cost cost;
  while (std::chrono::steady_clock::now() < until) {
    std::vector<std::vector<std::string>> texts;
    texts.reserve(running.size());
    for (const auto& [phase, walk] : running) texts.push_back(rows.texts(phase, walk));
    const Meter meter;
    if (sqlite3_exec(database, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) break;
    for (std::size_t i = 0; i < batch; ++i) {
      auto& [phase, walk] = running[i];
      CAIRN_TRY_VOID(rows.write(phase, walk, texts[i]));
    }
    if (sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr) != SQLITE_OK) {
      return Error{ErrorCode::unavailable, sqlite3_errmsg(database)};
    }
    const Cost spent = meter.read();
    busy_s += spent.wall_s;
    cost.cpu_s += spent.cpu_s;
    cost.log_bytes += spent.log_bytes;
    cost.written_bytes += spent.written_bytes;
    cost.syncs += spent.syncs;
    commits.add(spent.wall_s * 1000);
    slices += batch;
    // The first batch has only starts; from then on its second half lags one phase behind.
    for (std::size_t i = 0; i < batch; ++i) {
      auto& [phase, walk] = running[i];
      if (slices == batch && i % 2 == 1) {
        running[i] = {0, rows.begin(clock.now())};
      } else if (++phase == phases) {
        running[i] = {0, rows.begin(clock.now())};
      }
    }
  }
  commits.sort();
  Row row;
  row.outstanding = static_cast<int>(batch);
  row.count = slices / phases;
  row.rate = static_cast<double>(slices) / static_cast<double>(phases) / busy_s;
  row.p50_ms = commits.at(0.5);
  row.p99_ms = commits.at(0.99);
  row.max_ms = commits.max();
  row.cost = cost;
  row.cost.wall_s = busy_s;
  row.extra = Json::object({{"slices_per_second", static_cast<double>(slices) / busy_s},
                            {"statements_per_workflow", static_cast<std::int64_t>(rows.statements())}});
  return row;
}

}  // namespace

struct Ceiling::Sample {
  std::vector<Dump> dumps;
};

Ceiling::Ceiling(std::unique_ptr<Sample> sample) : sample_(std::move(sample)) {}
Ceiling::Ceiling(Ceiling&&) noexcept = default;
Ceiling::~Ceiling() = default;

Result<Ceiling> Ceiling::of_one_wait(const Plan& plan) {
  count_disk();
  auto taken = std::make_unique<Sample>();
  CAIRN_TRY(taken->dumps, sample(plan));
  return Ceiling(std::move(taken));
}

Result<Row> Ceiling::run(const Plan& plan, int slices) const {
  return replay(plan, sample_->dumps, static_cast<std::size_t>(slices));
}

}  // namespace cairn::bench
