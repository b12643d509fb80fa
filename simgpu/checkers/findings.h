#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/checkers/access_listener.h"

namespace simgpu {

/// Findings of a block or of a launch, each pair of instructions once, later ones only counted.
class FindingList {
 public:
  /// Is told of each finding, of those that are only counted too; nullptr: nobody.
  void listen(AccessListener* listener) { listener_ = listener; }

  void add(const RawFinding& finding) {
    if (listener_ != nullptr) listener_->found(finding);
    const Key key{finding.code, finding.pc, finding.has_other ? finding.other_pc : ~0U};
    const auto [known, is_new] = index_.try_emplace(key, findings_.size());
    if (is_new) {
      findings_.push_back(finding);
      return;
    }
    RawFinding& kept = findings_[known->second];
    const std::uint64_t occurrences = kept.occurrences + finding.occurrences;
    // Two warps make the clearer story: the lanes of one seem to run together.
    if (kept.unless_returned != finding.unless_returned) {
      if (kept.unless_returned) kept = finding;
    } else if (is_within_warp(kept) && !is_within_warp(finding)) {
      kept = finding;
    }
    kept.occurrences = occurrences;
  }

  std::vector<RawFinding> take() {
    index_.clear();
    return std::exchange(findings_, {});
  }

 private:
  static bool is_within_warp(const RawFinding& finding) {
    return finding.has_other && finding.warp == finding.other_warp;
  }

  using Key = std::tuple<Code, std::uint32_t, std::uint32_t>;
  std::map<Key, std::size_t> index_;
  std::vector<RawFinding> findings_;
  AccessListener* listener_ = nullptr;
};

/// The side of a finding that is happening now.
inline RawFinding finding_at(Code code, const WarpAccess& access, std::uint64_t block,
                             std::uint8_t lane, std::uint64_t address) {
  RawFinding finding;
  finding.code = code;
  finding.pc = access.pc;
  finding.block = block;
  finding.warp = access.warp;
  finding.lane = lane;
  finding.kind = access.kind;
  finding.bytes = access.bytes;
  finding.address = address;
  return finding;
}

/// The side of it that came before.
/// @param site has a pc, a warp, a lane and a kind
template <typename Site>
void set_other(RawFinding& finding, std::uint64_t block, const Site& site) {
  finding.has_other = true;
  finding.other_pc = site.pc;
  finding.other_block = block;
  finding.other_warp = site.warp;
  finding.other_lane = site.lane;
  finding.other_kind = site.kind;
}

}  // namespace simgpu
