#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace simgpu {

/// When the warps of a block store what others of it wait for: flags, locks, mbarriers. A warp that
/// looks at a place again and again until another has stored there comes no sooner than that, and
/// how often it looks meanwhile is no work of its own.
class FlagTimes {
 public:
  /// What a warp has done so far.
  struct Done {
    std::uint64_t slots = 0;
    std::uint64_t time = 0;  ///< Warp::own_time()
    std::uint64_t way = 0;   ///< Warp::way()
  };
  /// What a warp has waited for.
  struct Wait {
    std::uint64_t until = 0;          ///< the time of the last store; 0: there was none
    std::uint64_t time = 0, way = 0;  ///< of the warp, spent with looking
  };

  void clear() { looks_.clear(); }
  /// Whether any warp has looked anywhere.
  bool any() const { return !looks_.empty(); }
  /// The warp has looked at a place, and may do so again until another has stored there.
  void look(std::uint16_t warp, const std::byte* place, const Done& done);
  /// What ends when the warp comes back to a place at which it has looked, if another has stored
  /// there since.
  Wait come_back(std::uint16_t warp, const std::byte* place, const Done& done);
  void store(std::uint16_t warp, const std::byte* place, std::uint64_t time);

 private:
  struct Look {
    std::uint16_t warp = 0;
    Done last;  ///< when it looked last
    Wait wait;
  };
  Look* find(std::uint16_t warp, const std::byte* place);

  std::unordered_map<const std::byte*, std::vector<Look>> looks_;
};

}  // namespace simgpu
