#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/model/loop_nest.h"
#include "simgpu/model/work.h"

/// The way of the mean warp as something that can be walked: a list of places.
namespace simgpu::model {

/// One place of the way.
struct Place {
  enum class Kind : std::uint8_t {
    code,   ///< instructions [first, last)
    maybe,  ///< goes on behind it with a probability, else at `behind`
    loop,   ///< a loop begins
    turn,   ///< of a loop a turn ends; the next begins at `behind`
  };
  Kind kind = Kind::code;
  std::uint32_t first = 0, last = 0;
  double probability = 1;
  /// Of `maybe`: all warps of a block decide alike, since there are barriers behind it.
  bool is_common = false;
  std::uint32_t behind = 0;
  std::uint32_t loop = 0;  ///< number of `loop` and `turn`
};

struct LoopOfWay {
  static constexpr std::uint32_t kNone = ~0U;

  double times = 1;             ///< turns of each entry
  std::uint32_t turns = 1;      ///< of these, as many as are walked
  std::uint32_t outer = kNone;  ///< the loop around it
  double entries = 1;           ///< in each turn of that
};

struct WarpWay {
  std::vector<Place> places;
  std::vector<LoopOfWay> loops;
  double instructions = 0;  ///< that a warp starts as it walks
};

/// @param steps of find_steps() for the work's program
/// @param most_turns of each loop that are walked
WarpWay warp_way(const Work& work, const std::vector<Step>& steps, std::uint32_t most_turns);

}  // namespace simgpu::model
