#include "workloads/postgres_ceiling.h"

#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/id.h"
#include "store/postgres/wire/parameters.h"
#include "workloads/definitions.h"
#include "workloads/postgres_rows.h"
#include "workloads/rows.h"
#include "workloads/scratch_schema.h"

namespace cairn::bench {

namespace {

constexpr std::size_t connections = 2;
constexpr std::size_t uuid_length = 36;

// A value of the sample. The number and the ids of its instance are placeholders for those of any instance.
struct Slot {
  Bytes constant;
  bool number = false;
  std::vector<std::pair<std::size_t, std::size_t>> ids;  // the position of each id in the value, and which id it is
};

struct Statement {
  std::string text;
  std::vector<unsigned int> types, array_types;  // of its columns
};

// A row that one phase writes with one statement.
struct Line {
  std::size_t statement = 0;
  std::vector<Slot> slots;
};

// One instance during its phases.
struct Walk {
  std::size_t phase = 0;
  std::int64_t number = 0;
  std::vector<std::string> ids;
};

// An array parameter, built in place: its header is known after its last value.
class Array {
 public:
  // Returns the position of the value.
  char* add(std::string_view value) {
    if (bytes_.empty()) bytes_.resize(head_bytes);
    ++count_;
    postgres::append(bytes_, static_cast<int>(value.size()));
    bytes_ += value;
    return bytes_.data() + bytes_.size() - value.size();
  }
  void add_null() {
    if (bytes_.empty()) bytes_.resize(head_bytes);
    ++count_;
    has_null_ = true;
    postgres::append(bytes_, -1);
  }
  const std::string& of_type(unsigned int type) {
    std::string head;
    for (const int part : {1, has_null_ ? 1 : 0, static_cast<int>(type), count_, 1}) postgres::append(head, part);
    return bytes_.replace(0, head_bytes, head);
  }
  bool empty() const { return count_ == 0; }
  // Keeps its memory.
  void clear() {
    bytes_.clear();
    count_ = 0;
    has_null_ = false;
  }

 private:
  static constexpr std::size_t head_bytes = 5 * sizeof(int);
  std::string bytes_;
  int count_ = 0;
  bool has_null_ = false;
};
using Batch = std::vector<std::vector<Array>>;  // of each statement, of each column

std::string bytes_of(std::int64_t number) {
  std::string out;
  postgres::append(out, number);
  return out;
}

}  // namespace

struct PostgresCeiling::Sample {
  explicit Sample(ScratchSchema made) : scratch(std::move(made)), schema(scratch.name()) {}

  ScratchSchema scratch;
  std::string schema;
  std::vector<Statement> statements;
  std::vector<std::vector<Line>> phases;
  std::vector<std::string> ids;  // of the sample
  std::string number;            // of the sample, as bytes
  mutable std::atomic<std::int64_t> next_number = 1'000'000;

  Slot slot_of(const PostgresTable::Column& column, const Bytes& value) {
    Slot slot{value, false, {}};
    if (!value) return slot;
    const bool counts = column.name == "n" || column.name == "instance" || column.name == "target";
    slot.number = counts && column.type == postgres::bigint_type.value && *value == number;
    for (std::size_t at = 0; at + uuid_length <= value->size();) {
      const std::string part = value->substr(at, uuid_length);
      if (!is_uuid(part)) {
        ++at;
        continue;
      }
      auto known = std::find(ids.begin(), ids.end(), part);
      if (known == ids.end()) known = ids.insert(ids.end(), part);
      slot.ids.emplace_back(at, static_cast<std::size_t>(known - ids.begin()));
      at += uuid_length;
    }
    return slot;
  }

  // The line of a row with these columns; `text` receives the column names and their positions in unnest().
  template <class Text>
  Line line_of(const PostgresTable& table, const std::vector<std::size_t>& columns, const std::vector<Bytes>& values,
               const Text& text) {
    Statement statement;
    std::string names, places;
    Line line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const PostgresTable::Column& column = table.columns[columns[i]];
      names += (i == 0 ? "" : ", ") + column.name;
      places += (i == 0 ? "$" : ", $") + std::to_string(i + 1);
      statement.types.push_back(column.type);
      statement.array_types.push_back(column.array_type);
      line.slots.push_back(slot_of(column, values[columns[i]]));
    }
    statement.text = text(names, "unnest(" + places + ")");
    const auto same = std::find_if(statements.begin(), statements.end(),
                                   [&](const Statement& known) { return known.text == statement.text; });
    line.statement = static_cast<std::size_t>(same - statements.begin());
    if (same == statements.end()) statements.push_back(std::move(statement));
    return line;
  }

  void add_phase(const PostgresRows& before, const PostgresRows& after) {
    std::vector<Line>& phase = phases.emplace_back();
    for (const auto& [name, table] : after) {
      const std::string full = schema + "." + name;
      const auto& known = before.at(name).rows;
      std::string same_key;
      for (const std::size_t at : table.key) {
        const std::string& column = table.columns[at].name;
        same_key += (same_key.empty() ? "t." : " AND t.") + column + " = u." + column;
      }
      for (const auto& [key, values] : table.rows) {
        const auto old = known.find(key);
        std::vector<std::size_t> columns;
        if (old == known.end()) {
          for (std::size_t i = 0; i < table.columns.size(); ++i) {
            if (!table.columns[i].own_number) columns.push_back(i);
          }
          phase.push_back(line_of(table, columns, values, [&](const std::string& names, const std::string& rows) {
            return "INSERT INTO " + full + " (" + names + ") SELECT * FROM " + rows;
          }));
          continue;
        }
        std::string changes;
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
          if (values[i] == old->second[i]) continue;
          const std::string& column = table.columns[i].name;
          changes += (changes.empty() ? "" : ", ") + column + " = u." + column;
          columns.push_back(i);
        }
        if (columns.empty()) continue;
        columns.insert(columns.end(), table.key.begin(), table.key.end());
        phase.push_back(line_of(table, columns, values, [&](const std::string& names, const std::string& rows) {
          return "UPDATE " + full + " t SET " + changes + " FROM " + rows + " AS u (" + names + ") WHERE " + same_key;
        }));
      }
      for (const auto& [key, values] : known) {
        if (table.rows.contains(key)) continue;
        phase.push_back(line_of(table, table.key, values, [&](const std::string& names, const std::string& rows) {
          return "DELETE FROM " + full + " t USING " + rows + " AS u (" + names + ") WHERE " + same_key;
        }));
      }
    }
  }

  Walk begin(Timestamp now) const {
    Walk walk;
    walk.number = ++next_number;
    for (const std::string& id : ids) {
      // Version 7 ids grow with time, the others are random: this affects the indexes.
      walk.ids.push_back(id[14] == '7' ? new_uuid(now) : derived_uuid(new_uuid(now), "x"));
    }
    return walk;
  }

  void write(const Walk& walk, Batch& batch) const {
    const std::string own_number = bytes_of(walk.number);
    for (const Line& line : phases[walk.phase]) {
      for (std::size_t i = 0; i < line.slots.size(); ++i) {
        const Slot& slot = line.slots[i];
        Array& array = batch[line.statement][i];
        if (!slot.constant) {
          array.add_null();
          continue;
        }
        char* const value = array.add(slot.number ? own_number : *slot.constant);
        for (const auto& [at, id] : slot.ids) walk.ids[id].copy(value + at, uuid_length);
      }
    }
  }
};

namespace {

using Moment = std::chrono::steady_clock::time_point;
double seconds_between(Moment began, Moment ended) { return std::chrono::duration<double>(ended - began).count(); }
Moment later(Moment moment, double seconds) {
  return moment + std::chrono::duration_cast<Moment::duration>(std::chrono::duration<double>(seconds));
}

// Writes the next slices of its instances into the arrays of one transaction.
using Fill = std::function<void(std::vector<Walk>& walks, Batch& batch)>;

// One connection and the walks that it writes.
class Writer {
 public:
  static Result<Writer> open(const std::string& conninfo, const std::vector<Statement>& statements) {
    Writer writer;
    writer.statements_ = &statements;
    for (const Statement& statement : statements) writer.batch_.emplace_back(statement.types.size());
    CAIRN_TRY(writer.connection_, connect_to(conninfo));
    CAIRN_TRY_VOID(execute(writer.connection_.get(),
                           "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = "
                           "off; SET enable_mergejoin = off; SET jit = off"));
    for (std::size_t i = 0; i < statements.size(); ++i) {
      PGresult* prepared =
          PQprepare(writer.connection_.get(), std::to_string(i).c_str(), statements[i].text.c_str(),
                    static_cast<int>(statements[i].array_types.size()), statements[i].array_types.data());
      const bool good = PQresultStatus(prepared) == PGRES_COMMAND_OK;
      PQclear(prepared);
      if (!good) return writer.failure();
    }
    if (PQenterPipelineMode(writer.connection_.get()) != 1) return writer.failure();
    return writer;
  }

  std::vector<Walk> walks;
  std::vector<std::pair<Moment, double>> commits;  // the end of each, and its duration in milliseconds

  // Runs transactions in sequence until the time is over.
  Result<void> run(const Fill& fill, Moment until) {
    for (Moment began = std::chrono::steady_clock::now(); began < until;) {
      fill(walks, batch_);
      CAIRN_TRY_VOID(commit());
      const Moment ended = std::chrono::steady_clock::now();
      commits.emplace_back(ended, seconds_between(began, ended) * 1000);
      began = ended;
    }
    return {};
  }

 private:
  Error failure() const {
    return {ErrorCode::internal, std::string("the ceiling's replay: ") + PQerrorMessage(connection_.get())};
  }

  Result<void> commit() {
    pg_conn* const connection = connection_.get();
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      if (batch_[i].front().empty()) continue;
      std::vector<const char*> values;
      std::vector<int> lengths;
      for (std::size_t column = 0; column < batch_[i].size(); ++column) {
        const std::string& value = batch_[i][column].of_type((*statements_)[i].types[column]);
        values.push_back(value.data());
        lengths.push_back(static_cast<int>(value.size()));
      }
      const std::vector<int> binary(values.size(), 1);
      if (PQsendQueryPrepared(connection, std::to_string(i).c_str(), static_cast<int>(values.size()), values.data(),
                              lengths.data(), binary.data(), 1) != 1) {
        return failure();
      }
      for (Array& array : batch_[i]) array.clear();
    }
    if (PQpipelineSync(connection) != 1) return failure();
    for (;;) {
      PGresult* result = PQgetResult(connection);
      if (result == nullptr) {
        if (PQstatus(connection) != CONNECTION_OK) return failure();
        continue;
      }
      const ExecStatusType status = PQresultStatus(result);
      PQclear(result);
      if (status == PGRES_PIPELINE_SYNC) return {};
      if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return failure();
    }
  }

  PostgresHandle connection_;
  const std::vector<Statement>* statements_ = nullptr;
  Batch batch_;
};

// Runs all of them; `meanwhile` runs on this thread.
Result<void> run_all(std::vector<Writer>& writers, const Fill& fill, Moment until,
                     const std::function<void()>& meanwhile) {
  std::mutex mutex;
  Result<void> outcome;
  {
    std::vector<std::jthread> threads;
    threads.reserve(writers.size());
    for (Writer& writer : writers) {
      threads.emplace_back([&] {
        if (auto done = writer.run(fill, until); !done) {
          const std::lock_guard lock(mutex);
          outcome = done;
        }
      });
    }
    meanwhile();
  }
  return outcome;
}

}  // namespace

PostgresCeiling::PostgresCeiling(std::unique_ptr<Sample> sample) : sample_(std::move(sample)) {}
PostgresCeiling::PostgresCeiling(PostgresCeiling&&) noexcept = default;
PostgresCeiling::~PostgresCeiling() = default;

Result<PostgresCeiling> PostgresCeiling::of_one_wait(const Plan& plan) {
  CAIRN_TRY(ScratchSchema scratch, ScratchSchema::make(plan.store, "_ceiling"));
  auto sample = std::make_unique<Sample>(std::move(scratch));
  CAIRN_TRY(const PostgresHandle connection, connect_to(sample->scratch.conninfo()));
  Plan own = plan;
  own.store = sample->scratch.url();
  CAIRN_TRY(const Stage stage, Stage::open(own, std::array{one_wait}));
  const std::string id = new_uuid(SystemClock().now());
  CAIRN_TRY(const PostgresRows nothing, rows_of(connection.get(), sample->schema, id));
  StartRequest request = request_for("one-wait", order_input());
  request.id = id;
  CAIRN_TRY_VOID(stage.engine->start(request));
  CAIRN_TRY(const PostgresRows started, rows_of(connection.get(), sample->schema, id));
  CAIRN_TRY_VOID(stage.engine->signal({id}, "go", Json::object({{"ok", true}})));
  CAIRN_TRY(const PostgresRows ended, rows_of(connection.get(), sample->schema, id));
  const auto& states = started.at("wf_runtime_states");
  if (states.rows.size() != 1) return Error{ErrorCode::internal, "the ceiling's sample has no state"};
  sample->number = states.rows.begin()->first.front().value_or("");
  sample->add_phase(nothing, started);
  sample->add_phase(started, ended);
  return PostgresCeiling(std::move(sample));
}

Result<Row> PostgresCeiling::run(const Plan& plan, int slices) const {
  const Sample& sample = *sample_;
  SystemClock clock;
  const std::size_t phases = sample.phases.size();
  const std::size_t in_flight = std::min<std::size_t>(connections, static_cast<std::size_t>(slices));
  const std::size_t batch_size = static_cast<std::size_t>(slices) / in_flight;
  std::vector<Writer> writers;
  for (std::size_t i = 0; i < in_flight; ++i) {
    CAIRN_TRY(Writer writer, Writer::open(sample.scratch.conninfo(), sample.statements));
    while (writer.walks.size() < batch_size) {
      Walk& walk = writer.walks.emplace_back(sample.begin(clock.now()));
      // Half of them begin with their second slice, which changes nothing the first time. Every transaction therefore
      // has slices of both kinds.
      walk.phase = writer.walks.size() % 2 == 0 ? phases - 1 : 0;
    }
    writers.push_back(std::move(writer));
  }
  const Fill fill = [&](std::vector<Walk>& walks, Batch& batch) {
    for (Walk& walk : walks) {
      sample.write(walk, batch);
      if (++walk.phase == phases) walk = sample.begin(clock.now());
    }
  };
  const Moment from = later(std::chrono::steady_clock::now(), plan.warm_up_s());
  const Moment until = later(from, plan.seconds);
  Cost cost;
  CAIRN_TRY_VOID(run_all(writers, fill, until, [&] {
    std::this_thread::sleep_until(from);
    const Meter meter;
    std::this_thread::sleep_until(until);
    cost = meter.read();
  }));
  Latencies commits;
  for (const Writer& writer : writers) {
    for (const auto& [ended, ms] : writer.commits) {
      if (ended > from && ended <= until) commits.add(ms);
    }
  }
  commits.sort();
  cost.wall_s = seconds_between(from, until);
  const std::uint64_t written = commits.count() * batch_size;
  Row row;
  row.outstanding = slices;
  row.count = written / phases;
  row.rate = static_cast<double>(written) / static_cast<double>(phases) / cost.wall_s;
  row.p50_ms = commits.at(0.5);
  row.p99_ms = commits.at(0.99);
  row.max_ms = commits.max();
  row.cost = cost;
  row.extra = Json::object({{"slices_per_second", static_cast<double>(written) / cost.wall_s}});
  return row;
}

}  // namespace cairn::bench
