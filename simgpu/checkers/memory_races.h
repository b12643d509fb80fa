#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/checkers/findings.h"
#include "simgpu/checkers/kept_races.h"
#include "simgpu/checkers/warp_order.h"

namespace simgpu {

/// Races of a block's threads in one stretch of memory: its shared memory, or a piece of global
/// memory. For each unit (a word, or less once the kernel makes
/// narrower accesses) it knows the last writer, two readers and two who updated it by an atomic, of
/// different warps where there are such: enough to name one conflicting thread for any access that
/// races. Plain stores race with all of them, plain loads with stores and atomics.
class MemoryRaces {
 public:
  /// What findings are called.
  struct Codes {
    Code overwritten = "RL0301";
    Code read_early = "RL0302";
    Code stored_twice = "RL0303";
  };
  /// What is recorded of one byte at most, where the kernel makes accesses of single bytes.
  static constexpr std::size_t kRecordBytes = 44, kUpdateBytes = 24;
  static constexpr std::size_t kMostRecordBytes = kRecordBytes + kUpdateBytes;
  MemoryRaces() = default;
  explicit MemoryRaces(const Codes& codes) : codes_(codes) {}

  /// To be called before order.begin_block: everything recorded before is ordered before the new
  /// block.
  void begin_block(std::uint64_t block, std::uint32_t shared_bytes, WarpOrder& order);
  /// The stretch is another one from now on, `base` its first byte's address in findings.
  /// @param forgets whether something recorded is not ordered before what comes
  void begin_stretch(std::uint64_t block, std::uint64_t base, std::uint32_t bytes, bool forgets);
  /// @param stride the lanes' distance, where it is known to be the same throughout
  void access(const WarpAccess& access, const std::optional<std::int64_t>& stride,
              const WarpOrder& order, FindingList& findings);
  /// What is known of accesses since `interval`, of a stretch that has to make room for another.
  KeptRaces keep_since(WarpOrder::Time interval) const;
  /// The stretch, of which nothing is known yet, is one again of which `kept` is known.
  void restore(const KeptRaces& kept);
  /// Memory that the records take.
  std::size_t record_bytes() const {
    return write_time_.size() * kRecordBytes + updates_.size() * kUpdateBytes;
  }
  /// An asynchronous copy is done for the lanes of `access`: a store of theirs, made now.
  void copy_done(const WarpAccess& access, const WarpOrder& order);

 private:
  using Time = WarpOrder::Time;
  /// When a copy that is still under way writes: later than anything.
  static constexpr Time kUnderWay = 0xffff'ffffU;

  /// Thread and instruction of a recorded access.
  struct Site {
    std::uint32_t pc = 0;
    std::uint8_t warp = 0;  ///< of at most 32
    std::uint8_t lane = 0;
    AccessKind kind = AccessKind::load;
    bool meets_atomics = false;
  };
  static Site site_of(const WarpAccess& access, std::uint8_t lane) {
    return {access.pc, static_cast<std::uint8_t>(access.warp), lane, access.kind,
            access.meets_atomics};
  }
  struct Use {
    Time time = 0;  ///< 0: none
    Site site;
  };
  /// Two uses, of different warps where there are such.
  struct Uses {
    Use first, second;
  };

  void restore_use(KeptRaces::Slot slot, std::size_t unit, const Use& use, std::uint32_t value);
  void resize(std::uint32_t bytes);
  void refine(std::uint32_t unit_bytes);
  /// Neighbouring units that all lanes of a warp touch together, all of them the same or each its
  /// own.
  struct Run {
    std::size_t first = 0, count = 0;
    bool same = false;             ///< all lanes touch all of it
    std::uint32_t lane_units = 1;  ///< units of each lane, unless they are the same
    std::uint8_t lane(std::size_t unit) const {
      return same ? std::uint8_t{0} : static_cast<std::uint8_t>(unit / lane_units);
    }
  };
  bool written_since(const Run& run, Time interval) const;
  bool read_together(const Run& run, const WarpAccess& access, const WarpOrder& order);
  bool write_together(const Run& run, const WarpAccess& access, const WarpOrder& order);
  bool updated_since(std::size_t unit, Time interval) const {
    return !updates_.empty() && updates_[unit].first.time >= interval;
  }
  /// The use that races with an access, if one of the two does.
  static const Use* racing(const Use& first, const Use& second, const WarpAccess& access,
                           std::uint8_t lane, const WarpOrder& order);
  static void keep(Use& first, Use& second, const Use& now, const WarpOrder& order);
  void update(std::size_t unit, const WarpAccess& access, std::uint8_t lane, const WarpOrder& order,
              FindingList& findings);
  void access_lane(const WarpAccess& access, std::uint8_t lane, const WarpOrder& order,
                   FindingList& findings);
  void read(std::size_t unit, const WarpAccess& access, std::uint8_t lane, const WarpOrder& order,
            FindingList& findings);
  void write(std::size_t unit, std::uint32_t value, const WarpAccess& access, std::uint8_t lane,
             const WarpOrder& order, FindingList& findings);
  void report(Code code, std::size_t unit, const Use& other, const WarpAccess& access,
              std::uint8_t lane, FindingList& findings) const;

  Codes codes_;
  std::uint64_t block_ = 0;
  std::uint64_t base_ = 0;
  std::uint32_t bytes_ = 0;
  std::uint32_t unit_bytes_ = 4;
  bool copies_under_way_ = false;  ///< there were some in this block
  // One entry per unit.
  std::vector<Time> write_time_;
  std::vector<Time>
      settled_;  ///< the interval in which two warps' reads are known: more add nothing
  std::vector<Site> writer_;
  std::vector<std::uint32_t> value_;
  std::vector<Use> reader_, other_reader_;
  std::vector<Uses> updates_;  ///< by atomics; empty before the first one
  static_assert(2 * sizeof(Time) + sizeof(Site) + sizeof(std::uint32_t) + 2 * sizeof(Use) ==
                    kRecordBytes &&
                sizeof(Uses) == kUpdateBytes);
};

}  // namespace simgpu
