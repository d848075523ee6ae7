// What a cluster is made of, as processes that can be killed: a throw-away server and nodes of this very program.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace cairn {

// A PostgreSQL server in a folder of its own (throwaway.sh), gone with this object. A verb that fails ends the
// program: without a server no test goes on.
class ThrowawayServer {
 public:
  explicit ThrowawayServer(std::string folder);  // durable: fsync and synchronous_commit are on
  ~ThrowawayServer();
  void kill();  // -9, all of it
  void up();
  const std::string& folder() const { return folder_; }
  std::string url() const { return "postgresql:///cairn?host=" + folder_ + "&user=cairn"; }
  static bool installed();

 private:
  void run(const std::string& verb, const std::string& more = "") const;
  std::string folder_;
};

// What a node needs to know.
struct NodeOrder {
  std::string url;
  std::string ledger;            // a line for each effect: LABEL KEY
  std::string log;               // what it says on stderr
  std::chrono::seconds keep{0};  // how long what has ended is kept; 0: for ever
};

// One node, from spawn to kill.
class NodeProcess {
 public:
  NodeProcess(const NodeOrder& order, const std::string& name);
  ~NodeProcess() { kill(); }
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  void kill();
  // What it did before it was killed that it should not have: empty, or how it ended. A node that found no server
  // and left is in order.
  const std::string& complaint() const { return complaint_; }

 private:
  pid_t process_ = -1;
  std::string complaint_;
};

// The other side of NodeProcess: when this process is meant to be a node, it is one until it is killed.
// To be called first in main; returns when it is not.
void become_node_when_asked(int count, char** arguments);

}  // namespace cairn
