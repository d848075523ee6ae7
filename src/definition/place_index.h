// Finds a program's steps and blocks by the readable places that snapshots store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cairn {

struct Step;
struct Block;

class PlaceIndex {
 public:
  void build(const std::vector<Step>& steps, const std::vector<Block>& blocks);

  // The index of the step or block, or no_index if the place does not exist.
  std::uint32_t find_step(std::string_view place) const;
  std::uint32_t find_block(std::string_view place) const;
  // The root is `steps`. Every other block is its owner's place and its lane: steps[3].else.
  const std::string& block_place(std::uint32_t block) const { return block_places_[block]; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Places = std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>>;

  Places steps_;
  Places blocks_;
  std::vector<std::string> block_places_;
};

}  // namespace cairn
