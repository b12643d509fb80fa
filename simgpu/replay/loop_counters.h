#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "simgpu/replay/loops.h"
#include "simgpu/replay/recording.h"

namespace simgpu::replay {

/// Which registers are the counters of loops, and where they may be called so.
///
/// A register is one where the recording proves it: on the line of the loop's header, one
/// instruction changes it at the end of each iteration (RegisterValues::updates), and in all lanes
/// it has what the header's `start` gives after so many times its `k += by`, after one iteration at
/// least. One value that contradicts this takes the name from all of them: of an unrolled loop the
/// register counts in larger steps, and other variables of the compiler start elsewhere. The name
/// holds within the lines of the loop alone.
class LoopCounters {
 public:
  /// What a name stands for in a lane of a warp, at a place.
  using Names = std::function<std::optional<std::int64_t>(
      std::uint32_t warp, unsigned lane, std::uint32_t place, const std::string& name)>;

  /// A launch of the recording, and a register of its kernel.
  using Register = std::pair<std::uint32_t, std::uint32_t>;
  struct Counter {
    std::uint32_t reg = 0;
    std::uint32_t place = 0;  ///< of the loop's header, in Recording::places
    const CountedLoop* loop = nullptr;
    std::uint32_t name = kNone;  ///< in Recording::names
  };

  /// @param recording whose places are meant; it has to outlive this object, as `names` has to
  LoopCounters(const Recording& recording, Names names)
      : recording_(recording), names_(std::move(names)) {}

  void add_loops(std::uint32_t file, std::vector<CountedLoop> loops);

  /// Looks at what a warp wrote for a proof that a register is a counter, or that it is none.
  void weigh(std::uint32_t warp, const RegisterValues& written);
  /// From now on what has been proved counts. @param new_name makes a number in Recording::names
  void conclude(const std::function<std::uint32_t(const std::string&)>& new_name);

  /// The counter of that name in the innermost loop around a warp's place; nullptr where there is
  /// none.
  const Counter* find(std::uint32_t warp, std::uint32_t place, const std::string& name) const;

  /// What becomes of the names with a step.
  struct Change {
    std::vector<RegisterValues> named{};
    std::vector<std::uint32_t> unknown{};  ///< names that stand for nothing any more
  };
  /// Of steps that were left out, by what they have written.
  Change skip(std::uint32_t warp, const std::vector<RegisterValues>& written,
              const std::vector<LeftOut>& left_out);
  Change step(const Step& step);

 private:
  /// What a warp's register has; in lanes without a value it is not known to be the counter's.
  struct Held {
    std::array<std::optional<std::uint64_t>, kLanes> values{};
    std::uint32_t fresh = 0;  ///< lanes in which the loop has just been entered
    bool is_inside = false, is_shown = false;
  };

  const CountedLoop* loop_of_header(std::uint32_t place) const;
  std::optional<bool> holds(std::uint32_t warp, std::uint32_t place, const CountedLoop& loop,
                            const RegisterValues& written) const;
  bool is_inside(const Counter& counter, std::uint32_t place) const;
  std::uint32_t take(std::uint32_t warp, const Counter& counter, const RegisterValues& written);
  RegisterValues named(const Counter& counter, const Held& held, std::uint32_t lanes) const;
  Held& held(std::uint32_t warp, const Counter& counter) { return held_[{warp, counter.reg}]; }
  static void hide(const Counter& counter, Held& held, Change& change);

  const Recording& recording_;
  Names names_;
  std::map<std::uint32_t, std::vector<CountedLoop>> loops_;  ///< by file
  std::map<Register, std::uint32_t> proved_;                 ///< the header's place
  std::set<Register> refuted_;
  std::map<Register, Counter> counters_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Held> held_;  ///< by warp and register
};

}  // namespace simgpu::replay
