// A measured part of a picture. It has one axis, on which it is entered and left. Its size to the left and right of the
// axis and along it is known before it is placed, so its surroundings can reserve the space.
#pragma once

#include <memory>
#include <vector>

#include "render/canvas.h"

namespace cairn::render {

class Block {
 public:
  virtual ~Block() = default;
  // Draws the block with its entry at `entry`. Called once.
  virtual void place(Canvas& canvas, Spot entry) const = 0;

  int left = 0;
  int right = 0;
  int length = 0;     // along, from entry to exit
  bool ends = false;  // it has no exit
  int head = -1;      // the node that is reached first
  int tail = -1;      // the node that must be done for the exit to count as taken
  int inset = 0;      // along, from the entry to the head

  // Where lanes leave to the right: along from the entry, across from the axis. `clear` is where they may turn.
  struct Port {
    int across = 0;
    int along = 0;
    int clear = 0;
  };
  Port port;
};
using BlockPtr = std::unique_ptr<Block>;

// Each family of blocks has its own file.
BlockPtr sequence_block(const Canvas& canvas, const std::vector<Item>& items);
BlockPtr sequence_of(const Canvas& canvas, std::vector<BlockPtr> parts);
BlockPtr node_block(const Canvas& canvas, int node, bool ends);
BlockPtr branch_block(const Canvas& canvas, const Item& item);
BlockPtr fork_block(const Canvas& canvas, const Item& item);
BlockPtr container_block(const Canvas& canvas, const Item& item);
// `core` with the item's lanes of other kinds than `flow` to its right; `core` itself if there are none.
BlockPtr with_side_lanes(const Canvas& canvas, BlockPtr core, const Item& item);

}  // namespace cairn::render
