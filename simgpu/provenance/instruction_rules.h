#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/isa/lowered.h"
#include "simgpu/provenance/byte_moves.h"

namespace simgpu {

/// How the results of an instruction get their origins.
enum class OriginRule : std::uint8_t {
  none,     ///< it has no results
  cleared,  ///< they are made of nothing that was loaded
  unknown,  ///< nobody follows what they are made of
  lost,     ///< nobody follows what it does to memory
  whole,    ///< of all of each operand
  halves,   ///< each half, of 16 bits, of the same half of each operand
  packed,   ///< the upper half of the first operand, the lower half of the second
  moved,    ///< byte by byte, as ByteMoves says
  chosen,   ///< of one of two operands
  shuffled,
  of_lanes,  ///< of all lanes that the instruction names: votes, matches, reductions
  transposed,
  loaded,
  stored,
  atomic,
  matrices_loaded,
  matrices_stored,
  tile_loaded,
  tile_stored,
  multiplied,
  copied_later,
  copied_in_bulk,
  copies_closed,    ///< cp.async.commit_group
  copies_awaited,   ///< cp.async.wait_group, wait_all
  copies_arriving,  ///< cp.async.mbarrier.arrive: nobody can tell later from now
  called,
  left,
};

enum class OriginSpace : std::uint8_t { global, shared, local, frame, parameter, generic };

/// An instruction of a kernel, as whoever follows origins has to know it.
struct InstructionOrigins {
  OriginRule rule = OriginRule::none;
  OriginSpace space = OriginSpace::global;
  unsigned count = 1;  ///< elements of a load or store
  unsigned bytes = 0;  ///< of each
  /// Registers, by number; kNoRegister for literals. Of `loaded` and the rules of matrices, in the
  /// order of the instruction's list.
  std::vector<std::uint32_t> results = {}, operands = {};
  bool has_moves = false;  ///< `moves` is known
  ByteMoves moves = {};
};

InstructionOrigins origins_of_instruction(const LoweredKernel& kernel, std::uint32_t index);

}  // namespace simgpu
