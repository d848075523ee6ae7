// The parts of a cluster as processes that can be killed: a throw-away server, and nodes of this program.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace cairn {

// A PostgreSQL server in its own folder (throwaway.sh), removed with this object. A failed operation ends the program:
// without a server no test can continue.
class ThrowawayServer {
 public:
  explicit ThrowawayServer(std::string folder);  // durable: fsync and synchronous_commit are on
  ~ThrowawayServer();
  void kill();  // kill -9, all processes
  void up();
  const std::string& folder() const { return folder_; }
  std::string url() const { return "postgresql:///cairn?host=" + folder_ + "&user=cairn"; }
  static bool installed();

 private:
  void run(const std::string& verb, const std::string& more = "") const;
  std::string folder_;
};

// The settings of a node.
struct NodeOrder {
  std::string url;
  std::string ledger;            // one line per effect: LABEL KEY
  std::string log;               // its stderr
  std::chrono::seconds keep{0};  // how long ended instances are kept; 0: for ever
};

// One node, from spawn to kill.
class NodeProcess {
 public:
  NodeProcess(const NodeOrder& order, const std::string& name);
  ~NodeProcess() { kill(); }
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  void kill();
  // What it did wrong before it was killed; empty if nothing. A node that ended because it found no server did nothing
  // wrong.
  const std::string& complaint() const { return complaint_; }

 private:
  pid_t process_ = -1;
  std::string complaint_;
};

// The other side of NodeProcess: if this process was started as a node, it runs as one until it is killed. Call this
// first in main; it returns for all other processes.
void become_node_when_asked(int count, char** arguments);

}  // namespace cairn
