// The nodes of a cluster as one node knows them: from the list that comes with every echo, and from nodes that announce
// themselves.
//
// A node that knows no other node notifies no one about its commits. A new node listens, announces itself and then
// looks. It would miss a commit made after that look but before its announcement was heard. So a node that skipped a
// notification makes the new node look once more. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>

namespace cairn::postgres {

class Presence {
 public:
  using Nodes = std::map<std::int64_t, bool>;  // by number; whether it takes work

  explicit Presence(std::int64_t self) : self_(self) {}

  struct Change {
    bool gone = false;       // a node is missing and may have left work unannounced
    bool must_look = false;  // a node is new and missed a notification
  };
  // Call it when the list is requested: nodes that announce themselves from now on may not be on it yet.
  void asked() { arrived_.clear(); }
  Change listed(Nodes nodes);
  // Whether the node must look: it is new and missed a notification.
  bool came(std::int64_t number, bool works);

  // The channel is in doubt: new nodes are not heard, so everything is sent until a new list arrives.
  void doubt() { known_ = false; }
  void clear() { nodes_.clear(); }

  // Whether any node must be notified. If not, this is recorded for the next node that arrives.
  bool worth_telling();

  // The position of this node among those that take work: a hint for sharing the work.
  struct Share {
    std::int64_t nodes = 1;
    std::int64_t place = 0;
  };
  Share share() const;

 private:
  const std::int64_t self_;
  bool known_ = false;   // a list has arrived since the channel came up
  bool unsaid_ = false;  // a notification was skipped
  Nodes nodes_;
  Nodes arrived_;  // since the list was requested
};

}  // namespace cairn::postgres
