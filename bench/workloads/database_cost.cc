#include "workloads/database_cost.h"

#include <libpq-fe.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string_view>
#include <vector>

#include "store/postgres/wire/url.h"
#include "workloads/meter.h"

namespace cairn::bench {

namespace {

struct CloseConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, ClearResult>;

struct Counted {
  std::mutex mutex;
  std::unique_ptr<PGconn, CloseConnection> connection;
  std::string conninfo;
  pid_t postmaster = 0;  // 0: not on this machine
};

Counted& counted() {
  static Counted one;
  return one;
}

std::uint64_t number_from(PGconn* connection, const char* statement) {
  const Answer answer(PQexec(connection, statement));
  if (PQresultStatus(answer.get()) != PGRES_TUPLES_OK || PQntuples(answer.get()) != 1) return 0;
  const std::string_view text = PQgetvalue(answer.get(), 0, 0);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// From /proc/PID/stat, after the name: the parent, and the ticks of ended children.
struct ProcessLine {
  std::string name;
  pid_t parent = 0;
  double ended_children_s = 0;
};
ProcessLine line_of(pid_t process) {
  ProcessLine line;
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return line;
  line.name = text.substr(open + 1, close - open - 1);
  std::istringstream rest(text.substr(close + 2));
  std::vector<std::string> fields;
  for (std::string field; rest >> field;) fields.push_back(field);
  if (fields.size() < 15) return line;
  line.parent = std::atoi(fields[1].c_str());
  line.ended_children_s =
      (std::atof(fields[13].c_str()) + std::atof(fields[14].c_str())) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return line;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    if (process > 0 && line_of(process).parent == parent) children.push_back(process);
  }
  return children;
}

}  // namespace

void count_database(const std::string& url) {
  Counted& database = counted();
  const std::lock_guard lock(database.mutex);
  const auto target = postgres::read_url(url);
  if (!target || target->conninfo == database.conninfo) return;
  database.connection.reset(PQconnectdb(target->conninfo.c_str()));
  database.conninfo = target->conninfo;
  database.postmaster = 0;
  if (PQstatus(database.connection.get()) != CONNECTION_OK) return database.connection.reset();
  const auto backend = static_cast<pid_t>(number_from(database.connection.get(), "SELECT pg_backend_pid()"));
  // The name tells a local server from a remote one whose backend has a process id that is in use here.
  const ProcessLine line = line_of(backend);
  if (backend > 0 && line.name.starts_with("postgres")) database.postmaster = line.parent;
}

void leave_database_to_parent() {
  Counted& database = counted();
  [[maybe_unused]] PGconn* const of_parent = database.connection.release();  // closing it would close the parent's
  database.conninfo.clear();
  database.postmaster = 0;
}

DatabaseCost database_cost() {
  Counted& database = counted();
  const std::lock_guard lock(database.mutex);
  DatabaseCost cost;
  if (!database.connection) return cost;
  PGconn* connection = database.connection.get();
  cost.log_bytes = number_from(connection, "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint");
  cost.syncs = number_from(connection, "SELECT wal_sync FROM pg_stat_wal");
  cost.page_images = number_from(connection, "SELECT wal_fpi FROM pg_stat_wal");
  if (database.postmaster == 0) return cost;
  cost.cpu_s = process_cost(database.postmaster).cpu_s + line_of(database.postmaster).ended_children_s;
  for (const pid_t child : children_of(database.postmaster)) {
    const ProcessCost of_child = process_cost(child);
    cost.cpu_s += of_child.cpu_s;
    cost.written_bytes += of_child.written_bytes;
  }
  return cost;
}

}  // namespace cairn::bench
