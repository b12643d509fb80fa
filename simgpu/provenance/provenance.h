#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simgpu/exec/launch_context.h"
#include "simgpu/exec/step_observer.h"
#include "simgpu/provenance/block_origins.h"
#include "simgpu/provenance/instruction_rules.h"
#include "simgpu/provenance/origin_report.h"

namespace simgpu {

/// Follows which loads went into each value of the launches that it observes: through registers,
/// shared and local memory, exchanges between lanes, atomics and tensor instructions, and in global
/// memory from launch to launch. Whoever changes that memory otherwise has to say so.
///
/// Values alone are followed: not what an address or a condition was computed from. What is not
/// followed exactly is `unknown`, so that answers with it are incomplete, and never wrong.
class Provenance final : public StepObserver {
 public:
  static constexpr std::size_t kMostReads = 4096;

  explicit Provenance(std::size_t most_nodes = OriginSets::kMostNodes) : sets_(most_nodes) {}

  void begin_launch(const LaunchContext& launch) override;
  void begin_block(std::uint64_t block) override;
  void before(const Lowered& in, const Warp& warp, std::uint32_t lanes) override;
  void after(const Lowered& in, const Warp& warp, std::uint32_t lanes) override;

  // What happens to global memory between launches.

  /// The host wrote what it has.
  void host_wrote(std::uint64_t address, std::uint64_t bytes);
  /// The host read something. From now on, what it writes and passes to kernels may be made of it.
  void host_read() { host_knows_ = true; }
  void copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  void cleared(std::uint64_t address, std::uint64_t bytes);
  /// A library's routine reads bytes, and stores what it computed.
  OriginSet read(std::uint64_t address, unsigned bytes);
  void computed(std::uint64_t address, unsigned bytes, OriginSet set);
  OriginSet unite(OriginSet one, OriginSet other) { return sets_.unite(one, other); }
  /// Somebody stored whom nobody follows.
  void stored_unknown(std::uint64_t address, std::uint64_t bytes);
  void released(std::uint64_t address, std::uint64_t bytes) { global_.forget(address, bytes); }
  /// Something was done to memory that nobody follows, and nobody can say where.
  void lose_track() { lost_ = true; }

  /// @param bytes at most 16
  MemoryOrigin origin_of(std::uint64_t address, std::uint64_t bytes);
  /// Bytes of this process's memory that it takes.
  std::size_t bytes() const;

 private:
  using Lanes = WarpOrigins::Lanes;
  struct Place {
    OriginSpace space = OriginSpace::global;
    std::uint64_t address = 0;
  };
  /// What an instruction's registers said before it was executed.
  struct Step {
    std::array<std::uint64_t, kWarpSize> addresses{};
    std::array<std::uint64_t, kWarpSize> values{};   ///< sources of copies, values to compare with
    std::array<std::uint32_t, kWarpSize> sources{};  ///< lanes, or bytes to copy
    std::uint32_t predicate = 0;
    std::uint32_t stack_pointer = 0;
    const CallSite* call = nullptr;
  };
  /// An instruction that a warp executes.
  struct Site {
    std::uint32_t number = 0;
    std::uint64_t block = 0;
    std::uint32_t first_thread = 0;  ///< of the warp
  };

  /// A load that becomes an event once it turns out to read from outside.
  struct Event {
    LoadEvent load;
    std::optional<std::uint32_t> number = {};
  };

  BlockOrigins& block_of(const Warp& warp);
  InstructionOrigins& rule_of(std::uint32_t index);
  std::uint32_t site_number(std::uint32_t index);
  Site site_of(const Lowered& in, const Warp& warp);
  Event event_of(const Site& site, unsigned lane, std::uint64_t address) const;
  StoreNote note_of(const Site& site, unsigned lane) const;

  // Of memory.
  static Place place_of(OriginSpace space, std::uint64_t address);
  ValueOrigins load(Event& event, BlockOrigins& block, std::uint32_t warp, unsigned lane,
                    const Place& place, unsigned bytes);
  ValueOrigins load_global(Event& event, std::uint64_t address, unsigned bytes);
  OriginSet outside(Event& event, std::uint64_t address, unsigned bytes);
  void store(const Site& site, BlockOrigins& block, std::uint32_t warp, unsigned lane,
             const Place& place, unsigned bytes, ValueOrigins value);
  bool is_shared_with_host(std::uint64_t address) const;

  // By rule.
  void look_at_addresses(const Lowered& in, const Warp& warp, const InstructionOrigins& rule);
  void look_at_lanes(const Lowered& in, const Warp& warp, std::uint32_t lanes,
                     const InstructionOrigins& rule);
  void look_at_copies(const Lowered& in, const Warp& warp, std::uint32_t lanes,
                      const InstructionOrigins& rule);
  void set_all(const InstructionOrigins& rule, WarpOrigins& warp, std::uint32_t lanes,
               ValueOrigins value);
  void compute(const InstructionOrigins& rule, WarpOrigins& warp, std::uint32_t lanes);
  ValueOrigins halves_united(ValueOrigins one, ValueOrigins other);
  ValueOrigins halves_of(const InstructionOrigins& rule, const WarpOrigins& warp, unsigned lane);
  ValueOrigins packed_of(const InstructionOrigins& rule, const WarpOrigins& warp, unsigned lane);
  ValueOrigins moved_of(const InstructionOrigins& rule, const WarpOrigins& warp, unsigned lane);
  void shuffle(const InstructionOrigins& rule, WarpOrigins& own, std::uint32_t lanes,
               const Warp& warp);
  void unite_lanes(const InstructionOrigins& rule, WarpOrigins& own, std::uint32_t lanes,
                   const Warp& warp);
  void transpose(const InstructionOrigins& rule, WarpOrigins& own);
  void access(const InstructionOrigins& rule, const Site& site, const Warp& warp,
              std::uint32_t lanes);
  void update(const InstructionOrigins& rule, const Lowered& in, const Site& site, const Warp& warp,
              std::uint32_t lanes);
  void move_matrices(const InstructionOrigins& rule, const Lowered& in, const Site& site,
                     const Warp& warp);
  void move_tile(const InstructionOrigins& rule, const Lowered& in, const Site& site,
                 const Warp& warp);
  void multiply(const InstructionOrigins& rule, const Lowered& in, WarpOrigins& own);
  void copy_later(const InstructionOrigins& rule, const Site& site, const Warp& warp,
                  std::uint32_t lanes);
  void copy_in_bulk(const Site& site, const Warp& warp, std::uint32_t lanes);
  void deliver(const AsyncCopies::Copy& copy, std::uint32_t lanes, BlockOrigins& block);
  void await_copies(WarpOrigins& own, BlockOrigins& block, std::uint32_t lanes,
                    std::uint32_t allowed);
  void call(WarpOrigins& own, std::uint32_t lanes);
  void leave(WarpOrigins& own, std::uint32_t lanes);
  void copy_frame(WarpOrigins& own, unsigned lane, std::uint64_t to, std::uint64_t from,
                  std::uint32_t bytes);

  OriginSets sets_;
  ByteOrigins values_{sets_};
  GlobalOrigins global_;
  bool host_knows_ = false;
  bool lost_ = false;

  const DeviceMemory* memory_ = nullptr;

  // Of the launch that runs.
  const LaunchContext* launch_ = nullptr;
  std::vector<std::unique_ptr<InstructionOrigins>> rules_;
  std::vector<std::uint32_t> site_numbers_;
  std::vector<std::pair<const void*, std::unique_ptr<BlockOrigins>>> blocks_;
  Step step_;

  struct LaunchShape {
    Dim3 grid, block;
  };
  std::vector<LaunchShape> launches_{1};                         ///< 0: none
  std::vector<std::pair<std::string, std::uint32_t>> sites_{1};  ///< file and line; 0: none
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> known_sites_;
};

}  // namespace simgpu
