#include <cstdint>
#include <utility>

#include "simgpu/exec/lanes.h"

/// Shared memory of the blocks of a cluster, by their ranks. A launch without clusters, which is
/// all that there is here, has clusters of one block: its rank is 0, and its memory is where it is.
namespace simgpu {
namespace {

/// The address in the block of that rank. Of a rank that the cluster does not have, one where there
/// is no memory: whoever uses it is told.
template <class Address>
Address mapa(Address address, std::uint32_t rank) {
  return rank == 0 ? address : static_cast<Address>(-1);
}

template <class Address>
std::uint32_t getctarank(Address /*address*/) {
  return 0;
}

}  // namespace

OpcodeFile cluster_opcodes() {
  constexpr Cost kInteger{.cls = InstructionClass::integer};
  std::vector<OpcodeRow> rows{
      {"mapa[.shared::cluster].u32", lanes<&mapa<std::uint32_t>>(), kInteger},
      {"mapa[.shared::cluster].u64", lanes<&mapa<std::uint64_t>>(), kInteger},
      {"getctarank[.shared::cluster].u32", lanes<&getctarank<std::uint32_t>>(), kInteger},
      {"getctarank[.shared::cluster].u64", lanes<&getctarank<std::uint64_t>>(), kInteger}};
  return {.rows = std::move(rows)};
}

}  // namespace simgpu
