#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "simgpu/arith/matrix.h"
#include "simgpu/exec/matrix_tile.h"
#include "simgpu/exec/memory_access.h"
#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/exec/opcodes/tensor.h"
#include "simgpu/exec/places.h"

/// wmma.load and wmma.store: tiles between memory and fragments.
namespace simgpu {
namespace {

/// A tile as it lies in memory, without gaps between its lines; at most 32 x 8 words, or 16 x 16.
using Staged = std::array<std::byte, 1024>;

/// Where each lane's bytes are, once checked and counted: generic addresses of a tile are all in
/// the space of the first one.
template <unsigned kBytes, AccessKind kKind>
std::array<std::byte*, kWarpSize> locate(const Lowered* in, Warp& warp,
                                         const LaneAddresses& addresses, bool shared,
                                         const std::uint8_t* values) {
  std::array<std::byte*, kWarpSize> places{};
  const auto fill = [&](const auto& at) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) places[lane] = at.lane(lane);
  };
  if (shared) {
    alignas(64) std::array<std::uint32_t, kWarpSize> offsets;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      offsets[lane] =
          addresses[lane] > 0xFFFFFFFFU ? 0xFFFFFFFFU : static_cast<std::uint32_t>(addresses[lane]);
    }
    fill(prepare_shared<kBytes, kKind>(in, warp, offsets.data(), 0, values));
  } else {
    fill(prepare_global<kBytes, kKind, true>(in, warp, addresses.data(), 0, values));
  }
  return places;
}

/// How a tile is cut into pieces, one for a lane: eight lines by a register's width, one such block
/// after the other, as the machine's own ldmatrix and paired stores go through them. All numbers
/// are powers of two.
class Pieces {
 public:
  Pieces(const MatrixTile& tile, std::uint64_t alignment) {
    const unsigned block_width = tile.is_input() ? 16U : kBlockRows * bits_of(tile.type) / 8;
    const unsigned width = std::min(tile.line_bytes(), block_width);
    // A lane's share of a line: all of it, or the two neighbours that it holds of C.
    const bool is_whole = tile.is_input() || bits_of(tile.type) == 16;
    bytes_ = std::min({width, is_whole ? 16U : bits_of(tile.type) / 4,
                       static_cast<unsigned>(std::min<std::uint64_t>(alignment, 16))});
    const unsigned lines = std::min(tile.lines(), kBlockRows);
    in_line_ = log2(width / bytes_);
    lines_ = log2(lines);
    line_blocks_ = log2(tile.lines() / lines);
    count_ = tile.lines() * tile.line_bytes() / bytes_;
  }

  unsigned bytes() const { return bytes_; }  ///< of a piece
  unsigned count() const { return count_; }

  struct Place {
    unsigned line, byte;
  };
  Place place(unsigned piece) const {
    const unsigned block = piece >> (lines_ + in_line_);
    return {low_bits(block, line_blocks_) << lines_ | low_bits(piece >> in_line_, lines_),
            (block >> line_blocks_ << in_line_ | low_bits(piece, in_line_)) * bytes_};
  }

 private:
  static unsigned log2(unsigned power) { return static_cast<unsigned>(std::countr_zero(power)); }
  static unsigned low_bits(unsigned value, unsigned count) { return value & ((1U << count) - 1); }

  unsigned bytes_, count_;
  // Logarithms: pieces of a block's line, its lines, and blocks on top of each other.
  unsigned in_line_, lines_, line_blocks_;
};

template <unsigned kBytes, AccessKind kKind>
void move_pieces(const Lowered* in, Warp& warp, const MatrixTile& tile, const Pieces& pieces,
                 bool shared, std::uint64_t base, std::uint64_t stride, Staged& staged) {
  for (unsigned first = 0; first < pieces.count(); first += kWarpSize) {
    const unsigned lanes = std::min(kWarpSize, pieces.count() - first);
    LaneAddresses addresses{};
    std::array<unsigned, kWarpSize> at{};
    std::array<std::uint8_t, std::size_t{kBytes} * kWarpSize> values;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const Pieces::Place place = pieces.place(first + lane);
      addresses[lane] = base + place.line * stride + place.byte;
      at[lane] = place.line * tile.line_bytes() + place.byte;
      if constexpr (kKind == AccessKind::store) {
        std::memcpy(&values[std::size_t{lane} * kBytes], &staged[at[lane]], kBytes);
      }
    }
    warp.mask = lanes == kWarpSize ? 0xFFFFFFFFU : (1U << lanes) - 1;
    const auto places = locate<kBytes, kKind>(in, warp, addresses, shared,
                                              kKind == AccessKind::store ? values.data() : nullptr);
    warp.mask = 0xFFFFFFFFU;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      if constexpr (kKind == AccessKind::store) {
        std::memcpy(places[lane], &staged[at[lane]], kBytes);
      } else {
        std::memcpy(&staged[at[lane]], places[lane], kBytes);
      }
    }
  }
}

/// (rows, columns) to (columns, rows).
template <class T>
void turn(const Staged& from, unsigned rows, unsigned columns, Staged& to) {
  for (unsigned i = 0; i < rows; ++i) {
    for (unsigned j = 0; j < columns; ++j) {
      std::memcpy(&to[(j * rows + i) * sizeof(T)], &from[(i * columns + j) * sizeof(T)], sizeof(T));
    }
  }
}

void turn_halves(const Staged& from, unsigned rows, unsigned columns, Staged& to) {
  for (unsigned i = 0; i < rows; i += 8) {
    for (unsigned j = 0; j < columns; j += 8) {
      arith::transpose_8x8_halves(&from[2 * (i * columns + j)], std::size_t{2} * columns,
                                  &to[2 * (j * rows + i)], std::size_t{2} * rows);
    }
  }
}

Staged turned(const Staged& staged, TileType type, unsigned rows, unsigned columns) {
  Staged result;
  switch (bits_of(type)) {
    case 8:
      turn<std::uint8_t>(staged, rows, columns, result);
      break;
    case 16:
      turn_halves(staged, rows, columns, result);
      break;
    case 32:
      turn<std::uint32_t>(staged, rows, columns, result);
      break;
    default:
      turn<std::uint64_t>(staged, rows, columns, result);
      break;
  }
  return result;
}

/// Of an address or a stride that the machine would refuse.
template <AccessKind kKind>
[[noreturn]] void fail_misaligned(const Lowered* in, const Warp& warp, const MatrixTile& tile,
                                  bool shared, std::uint64_t base, std::uint64_t stride) {
  const ThreadBlock& block = *warp.block;
  const std::string alignment = std::to_string(tile.alignment());
  const std::uint64_t past = base % tile.alignment();
  const std::string message =
      past != 0 ? "A tile must start at a multiple of " + alignment + " bytes, but this one is " +
                      std::to_string(past) + " bytes past one"
                : "The " + std::string(tile.by_column ? "columns" : "rows") +
                      " of a tile must start at multiples of " + alignment +
                      " bytes, but its leading dimension makes them " + std::to_string(stride) +
                      " bytes apart";
  const std::string action = std::string(kKind == AccessKind::load ? "reads" : "writes") +
                             " a tile of " + (shared ? "shared" : "global") + " memory";
  Place place = shared ? place_in_shared(block.launch.kernel, base, block.memory.shared_bytes())
                       : place_in_global(block.launch.memory, base, tile.line_bytes());
  place.detail = FindingDetail::tile;
  block.failures.fail(
      in, warp, 0,
      {.code = "RL0204", .message = message, .action = action, .place = std::move(place)});
}

/// a: address, b: stride in elements; the fragment's registers are in the list.
template <AccessKind kKind>
const Lowered* move_tile(const Lowered* in, Warp& warp) {
  require_full_warp(in, warp);
  const MatrixTile tile = MatrixTile::decode(in->option);
  std::uint64_t base = pairs(warp, in->a)[0] + static_cast<std::uint64_t>(in->immediate);
  bool shared = tile.space == TileSpace::shared;
  if (tile.space == TileSpace::generic && base - kSharedWindow < kWindowBytes) {
    shared = true;
    base -= kSharedWindow;
  }
  const std::uint64_t stride = std::uint64_t{words(warp, in->b)[0]} * bits_of(tile.type) / 8;
  if ((base | stride) % tile.alignment() != 0) {
    fail_misaligned<kKind>(in, warp, tile, shared, base, stride);
  }
  const FragmentSlots slots{warp.regs, warp.lists + in->list};
  const std::uint64_t all = base | stride | 16;
  const Pieces pieces(tile, all & -all);
  alignas(64) Staged staged;
  if constexpr (kKind == AccessKind::store) {
    each_stretch(tile, [&](unsigned at, unsigned i, unsigned in_slot, unsigned bytes) {
      std::memcpy(&staged[at], slots[i] + in_slot, bytes);
    });
    if (tile.is_turned()) {
      staged = turned(staged, tile.type, tile.line_elements(), tile.lines());
    }
  }
  const auto move = [&](auto bytes) {
    move_pieces<decltype(bytes)::value, kKind>(in, warp, tile, pieces, shared, base, stride,
                                               staged);
  };
  switch (pieces.bytes()) {
    case 16:
      move(std::integral_constant<unsigned, 16>{});
      break;
    case 8:
      move(std::integral_constant<unsigned, 8>{});
      break;
    case 4:
      move(std::integral_constant<unsigned, 4>{});
      break;
    case 2:
      move(std::integral_constant<unsigned, 2>{});
      break;
    default:
      move(std::integral_constant<unsigned, 1>{});
      break;
  }
  if constexpr (kKind == AccessKind::load) {
    if (tile.is_turned()) staged = turned(staged, tile.type, tile.lines(), tile.line_elements());
    each_stretch(tile, [&](unsigned at, unsigned i, unsigned in_slot, unsigned bytes) {
      std::memcpy(slots[i] + in_slot, &staged[at], bytes);
    });
    if (tile.space == TileSpace::generic) note_generic_load(warp, !shared);
  }
  return shared ? in + 1 : after_global(in, warp);
}

}  // namespace

void build_wmma_move(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  const TensorModifiers modifiers = tensor_modifiers(instruction);
  const bool load = instruction.has("load");
  MatrixTile tile;
  tile.shape = modifiers.shape;
  tile.type = modifiers.types[0];
  tile.by_column = modifiers.by_column[0];
  tile.matrix = modifiers.matrix == 'd' ? 'c' : modifiers.matrix;
  tile.space = instruction.has("global")                                     ? TileSpace::global
               : instruction.has("shared") || instruction.has("shared::cta") ? TileSpace::shared
                                                                             : TileSpace::generic;
  const bool is_known =
      tile.is_input() ? has_wmma_input(tile.shape, tile.type) : has_wmma_sum(tile.shape, tile.type);
  // Elements of less than a byte are never apart.
  const bool is_whole = bits_of(tile.type) >= 8 || !tile.is_turned();
  const std::size_t operands = builder.operand_count();
  if (!is_known || !is_whole || operands < 2 || operands > 3) {
    builder.refuse(instruction.spelling());
  }
  Address address = builder.address(
      load ? 1 : 0, tile.space == TileSpace::shared ? ptx::Space::shared : ptx::Space::generic);
  if (tile.space == TileSpace::shared) {
    const Ref wide = builder.new_register(SlotKind::pair);
    Pending& widen = builder.emit_hidden(hidden::kWiden);
    widen.a = address.base;
    widen.dst = wide;
    address.base = wide;
  }
  const Ref stride = operands > 2 ? builder.source(std::size_t{2}, 'i')
                                  : builder.constant(tile.line_elements(), 4);
  const bool pads = tile.is_input() && tile.type == TileType::f16;
  const std::vector<Ref> refs =
      fragment_registers(builder, load ? 0 : 1, pads ? 8 : tile.registers(),
                         tile.type == TileType::f64 ? 'd' : 'i', load);
  using enum InstructionClass;
  const InstructionClass cls = tile.space == TileSpace::shared ? (load ? shared_load : shared_store)
                               : tile.space == TileSpace::global
                                   ? (load ? global_load : global_store)
                                   : generic_access;
  Pending& pending = builder.emit(
      load ? &move_tile<AccessKind::load> : &move_tile<AccessKind::store>, {.cls = cls});
  pending.a = address.base;
  pending.immediate = address.offset;
  pending.b = stride;
  pending.option = tile.encode();
  pending.is_memory = true;
  pending.access_bytes = tile.lines() * tile.line_bytes() / kWarpSize;
  (load ? pending.outs : pending.ins) = refs;
}

}  // namespace simgpu
