#include "definition/place_index.h"

#include "definition/program.h"

namespace cairn {

void PlaceIndex::build(const std::vector<Step>& steps, const std::vector<Block>& blocks) {
  steps_.clear();
  blocks_.clear();
  block_places_.clear();
  for (StepIndex index = 0; index < steps.size(); ++index) steps_.emplace(steps[index].path, index);
  block_places_.reserve(blocks.size());
  for (BlockIndex index = 0; index < blocks.size(); ++index) {
    const Block& block = blocks[index];
    block_places_.push_back(block.owner == no_index ? block.lane : steps[block.owner].path + "." + block.lane);
    blocks_.emplace(block_places_.back(), index);
  }
}

std::uint32_t PlaceIndex::find_step(std::string_view place) const {
  const auto found = steps_.find(place);
  return found == steps_.end() ? no_index : found->second;
}

std::uint32_t PlaceIndex::find_block(std::string_view place) const {
  const auto found = blocks_.find(place);
  return found == blocks_.end() ? no_index : found->second;
}

}  // namespace cairn
