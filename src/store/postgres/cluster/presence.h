// Which nodes are there, as far as one of them knows: from the list that comes with every echo, and from those who
// say that they have come.
//
// A node that knows of no other tells nobody what it committed. One that comes listens, says that it has come, and
// looks; what is committed after that look, and before its coming was heard, it would learn from nobody. So whoever
// kept something to itself makes a newcomer look once more. Not safe for threads by itself.
#pragma once

#include <cstdint>
#include <map>

namespace cairn::postgres {

class Presence {
 public:
  using Nodes = std::map<std::int64_t, bool>;  // by number; whether it takes work

  explicit Presence(std::int64_t self) : self_(self) {}

  struct Change {
    bool gone = false;       // somebody is missing, and may have left something unsaid
    bool must_look = false;  // somebody is new, and something was kept from it
  };
  // The list is asked for: who says from now on that it has come may not be on it yet.
  void asked() { arrived_.clear(); }
  Change listed(Nodes nodes);
  // Whether it must look: it is new, and something was kept from it.
  bool came(std::int64_t number, bool works);

  // The channel is in doubt: who comes now is not heard, so that everything is told, until there is a new list.
  void doubt() { known_ = false; }
  void clear() { nodes_.clear(); }

  // Whether there is anybody to tell; when not, this is remembered for whoever comes next.
  bool worth_telling();

  // Where this node stands among those that take work: a hint for sharing it out.
  struct Share {
    std::int64_t nodes = 1;
    std::int64_t place = 0;
  };
  Share share() const;

 private:
  const std::int64_t self_;
  bool known_ = false;   // there was a list since the channel last came up
  bool unsaid_ = false;  // something was told to nobody
  Nodes nodes_;
  Nodes arrived_;  // since the list was asked for
};

}  // namespace cairn::postgres
