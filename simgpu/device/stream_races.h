#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/device/executable_graph.h"
#include "simgpu/device/stream_order.h"
#include "simgpu/exec/engine.h"
#include "simgpu/finding.h"

namespace simgpu {

/// "stream 2", "the default stream"
std::string stream_in_words(std::uint64_t stream_number);

/// Finds work on two streams (RL0315), or nodes of one graph (RL0317), that touch the same memory
/// without order, some of it by writing; and work that is not ordered with the stream of whoever
/// calls the program's function (RL0325). What it keeps is bounded: of work that a stream repeats,
/// the last is enough, and of very much other work that the host does not wait for the places of
/// the oldest are forgotten. What comes and is not ordered behind that is counted: whether it
/// races, nobody can say.
class StreamRaces {
 public:
  /// Pieces of work that are kept in mind.
  static constexpr std::size_t kMostWork = 1024;

  /// Bytes [begin, end) that a copy or a fill touches.
  struct Range {
    std::uint64_t begin = 0, end = 0;
    bool writes = false;
    bool operator==(const Range&) const = default;
  };
  /// A node of one launch of a graph.
  struct Node {
    std::uint64_t launch = 0;  ///< of the graph; 0: no node
    std::shared_ptr<const GraphOrder> order{};
    std::uint32_t node = 0;
  };
  struct Work {
    StreamOrder::Stamp stamp{};
    std::uint64_t stream_number = 0;  ///< as records tell it
    StreamWork kind = StreamWork::copy;
    std::string name;  ///< "kernel scale", "a copy to the host"
    // Of a launch.
    std::shared_ptr<const Program> program{};  ///< keeps `kernel`
    const KernelInfo* kernel = nullptr;
    std::uint64_t launch = 0;  ///< its number since the last mark, from 1
    std::vector<TouchedSector> sectors{};
    // Of everything else.
    std::vector<Range> ranges{};
    Node node = Node();
    std::vector<HostFrame> called_from{};  ///< the call that issued it
    bool frees = false;  ///< the memory is anybody's afterwards: nothing else is kept of it
    /// The caller's, before or behind the program's function, on the stream that it was given.
    bool of_caller = false;
    /// Where calls of one function may run side by side: by instruction, atomics whose old values
    /// something uses. What its kernels share by them, such as a counter that hands out blocks'
    /// work, belongs to neither call.
    std::vector<bool> draws{};
  };

  /// What work is held against.
  enum class Against : std::uint8_t {
    all,
    callers,  ///< the caller's, and the caller's against all
  };
  /// Holds work that was just issued against what is not ordered before it. A finding names the
  /// kernel as it is mangled.
  std::vector<Finding> add(Work work, const StreamOrder& order, const DeviceMemory& memory,
                           Against against = Against::all);
  /// Whether earlier work is done before that which was issued last to a stream, or as a node.
  /// Nodes of one launch are ordered by edges alone, though they run on one stream.
  static bool is_before(const StreamOrder::Stamp& earlier, const Node& earlier_node,
                        std::uint64_t stream, const Node& node, const StreamOrder& order);
  /// Work that nothing orders behind what was forgotten.
  std::uint64_t unjudged() const { return unjudged_; }
  /// The host has waited.
  void drop_done(const StreamOrder& order);
  void forget_all() { *this = {}; }

 private:
  struct Conflict {
    std::uint64_t address = 0;
    bool earlier_writes = false, later_writes = false;
    std::uint32_t earlier_pc = 0, later_pc = 0;
  };
  static std::optional<Conflict> conflict(const Work& earlier, const Work& later);
  static Finding finding(const Work& earlier, const Work& later, const Conflict& conflict,
                         const DeviceMemory& memory);
  static Finding off_the_callers_stream(const Work& earlier, const Work& later,
                                        const Conflict& conflict, const DeviceMemory& memory);

  /// Work of which the places are no longer known.
  struct Forgotten {
    std::map<std::uint64_t, std::uint64_t> latest;  ///< by stream: the number of the last
    std::uint64_t graph_launch = 0;                 ///< the last of which nodes are forgotten
    std::vector<std::uint32_t> nodes;               ///< these

    bool may_race(const Work& work, const StreamOrder& order) const;
    void add(const Work& work);
  };
  void drop_repeated();
  bool forget_oldest();

  std::deque<Work> outstanding_;
  std::size_t kept_sectors_ = 0;
  Forgotten forgotten_;
  std::uint64_t unjudged_ = 0;
};

}  // namespace simgpu
