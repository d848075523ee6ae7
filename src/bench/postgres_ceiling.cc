#include "bench/postgres_ceiling.h"

#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/id.h"
#include "bench/definitions.h"
#include "bench/postgres_rows.h"
#include "bench/rows.h"
#include "store/postgres/parameters.h"
#include "store/postgres/url.h"

namespace cairn::bench {

namespace {

constexpr std::size_t connections = 2;
constexpr std::size_t batches_a_round = 16;  // of each connection, made before the clock runs
constexpr std::size_t uuid_length = 36;

// A value of the sample in which the number and the ids of its own instance stand for those of any instance.
struct Slot {
  Bytes constant;
  bool number = false;
  std::vector<std::pair<std::size_t, std::size_t>> ids;  // where in the value an id stands, and which
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

// One instance on its way through the phases.
struct Walk {
  std::size_t phase = 0;
  std::int64_t number = 0;
  std::vector<std::string> ids;
};

// An array parameter under construction.
struct Array {
  std::string data;
  int count = 0;
  bool has_null = false;

  std::string encoded(unsigned int type) const {
    std::string out;
    postgres::append(out, 1);
    postgres::append(out, has_null ? 1 : 0);
    postgres::append(out, static_cast<int>(type));
    postgres::append(out, count);
    postgres::append(out, 1);
    return out += data;
  }
};
using Batch = std::vector<std::vector<Array>>;  // of each statement, of each column

std::string bytes_of(std::int64_t number) {
  std::string out;
  postgres::append(out, number);
  return out;
}

}  // namespace

struct PostgresCeiling::Sample {
  std::string conninfo;
  std::string schema;
  std::vector<Statement> statements;
  std::vector<std::vector<Line>> phases;
  std::vector<std::string> ids;  // of the sample
  std::string number;            // of the sample, as bytes
  mutable std::int64_t next_number = 1'000'000;

  ~Sample() {
    if (auto connection = connect_to(conninfo)) {
      [[maybe_unused]] auto dropped = execute(connection->get(), "DROP SCHEMA IF EXISTS " + schema + " CASCADE");
    }
  }

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

  // The line of a row with these columns; `text` is given the columns' names and their places as unnest() has them.
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
      // Version 7 ids grow with time, the others are spread: that is what the indexes feel.
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
        ++array.count;
        if (!slot.constant) {
          array.has_null = true;
          postgres::append(array.data, -1);
          continue;
        }
        std::string value = slot.number ? own_number : *slot.constant;
        for (const auto& [at, id] : slot.ids) value.replace(at, uuid_length, walk.ids[id]);
        postgres::append(array.data, static_cast<int>(value.size()));
        array.data += value;
      }
    }
  }
};

namespace {

using Encoded = std::vector<std::vector<std::string>>;  // the parameters of each statement; none: it is not sent

// One connection and the walks that it writes.
class Writer {
 public:
  static Result<Writer> open(const std::string& conninfo, const std::vector<Statement>& statements) {
    Writer writer;
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
  std::vector<Encoded> batches;
  Latencies commits;

  // Writes the batches, each in one transaction.
  Result<void> run() {
    for (const Encoded& batch : batches) {
      const auto began = std::chrono::steady_clock::now();
      CAIRN_TRY_VOID(commit(batch));
      commits.add(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
    }
    return {};
  }

 private:
  Error failure() const {
    return {ErrorCode::internal, std::string("the ceiling's replay: ") + PQerrorMessage(connection_.get())};
  }

  Result<void> commit(const Encoded& batch) {
    pg_conn* const connection = connection_.get();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (batch[i].empty()) continue;
      std::vector<const char*> values;
      std::vector<int> lengths;
      for (const std::string& value : batch[i]) {
        values.push_back(value.data());
        lengths.push_back(static_cast<int>(value.size()));
      }
      const std::vector<int> binary(values.size(), 1);
      if (PQsendQueryPrepared(connection, std::to_string(i).c_str(), static_cast<int>(values.size()), values.data(),
                              lengths.data(), binary.data(), 1) != 1) {
        return failure();
      }
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
};

Result<void> run_all(std::vector<Writer>& writers) {
  std::mutex mutex;
  Result<void> outcome;
  {
    std::vector<std::jthread> threads;
    for (Writer& writer : writers) {
      threads.emplace_back([&] {
        if (auto done = writer.run(); !done) {
          const std::lock_guard lock(mutex);
          outcome = done;
        }
      });
    }
  }
  return outcome;
}

}  // namespace

PostgresCeiling::PostgresCeiling(std::unique_ptr<Sample> sample) : sample_(std::move(sample)) {}
PostgresCeiling::PostgresCeiling(PostgresCeiling&&) noexcept = default;
PostgresCeiling::~PostgresCeiling() = default;

Result<PostgresCeiling> PostgresCeiling::of_one_wait(const Plan& plan) {
  CAIRN_TRY(const postgres::Target target, postgres::read_url(plan.store));
  auto sample = std::make_unique<Sample>();
  sample->conninfo = target.conninfo;
  sample->schema = target.schema + "_ceiling";
  CAIRN_TRY(const PostgresHandle connection, connect_to(target.conninfo));
  CAIRN_TRY_VOID(execute(connection.get(), "DROP SCHEMA IF EXISTS " + sample->schema + " CASCADE"));
  Plan own = plan;
  own.store += (plan.store.find('?') == std::string::npos ? "?schema=" : "&schema=") + sample->schema;
  CAIRN_TRY(const Stage stage, Stage::open(own, std::array{one_wait}));
  const std::string id = new_uuid(SystemClock().now());
  CAIRN_TRY(const PostgresRows nothing, rows_of(connection.get(), sample->schema, id));
  StartOrder order = order_for("one-wait", order_input());
  order.id = id;
  CAIRN_TRY_VOID(stage.engine->start(order));
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
    CAIRN_TRY(Writer writer, Writer::open(sample.conninfo, sample.statements));
    while (writer.walks.size() < batch_size) writer.walks.push_back(sample.begin(clock.now()));
    writers.push_back(std::move(writer));
  }
  bool first = true;
  const auto make_batches = [&](Writer& writer, bool is_first) {
    writer.batches.clear();
    for (std::size_t made = 0; made < batches_a_round; ++made) {
      Batch batch;
      for (const Statement& statement : sample.statements) batch.emplace_back(statement.types.size());
      for (std::size_t i = 0; i < writer.walks.size(); ++i) {
        Walk& walk = writer.walks[i];
        sample.write(walk, batch);
        // The first batch is all starts; the second half of it lags one phase behind from then on.
        const bool lags = is_first && made == 0 && i % 2 == 1;
        if (lags || ++walk.phase == phases) walk = sample.begin(clock.now());
      }
      Encoded& encoded = writer.batches.emplace_back();
      for (std::size_t i = 0; i < batch.size(); ++i) {
        auto& parameters = encoded.emplace_back();
        if (batch[i].front().count == 0) continue;
        for (std::size_t column = 0; column < batch[i].size(); ++column) {
          parameters.push_back(batch[i][column].encoded(sample.statements[i].types[column]));
        }
      }
    }
  };
  double busy_s = 0;
  std::uint64_t written = 0;
  Cost cost;
  while (busy_s < plan.seconds) {
    for (Writer& writer : writers) make_batches(writer, first);
    const Meter meter;
    CAIRN_TRY_VOID(run_all(writers));
    const Cost spent = meter.read();
    // The first round finds cold connections.
    if (std::exchange(first, false)) {
      for (Writer& writer : writers) writer.commits = {};
      continue;
    }
    busy_s += spent.wall_s;
    cost.cpu_s += spent.cpu_s;
    written += in_flight * batch_size * batches_a_round;
  }
  Latencies commits;
  for (const Writer& writer : writers) commits.add(writer.commits);
  commits.sort();
  Row row;
  row.outstanding = slices;
  row.count = written / phases;
  row.rate = static_cast<double>(written) / static_cast<double>(phases) / busy_s;
  row.p50_ms = commits.at(0.5);
  row.p99_ms = commits.at(0.99);
  row.max_ms = commits.max();
  row.cost = cost;
  row.cost.wall_s = busy_s;
  row.extra = Json::object({{"slices_per_second", static_cast<double>(written) / busy_s}});
  return row;
}

}  // namespace cairn::bench
