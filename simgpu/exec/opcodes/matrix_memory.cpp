#include <array>
#include <cstring>

#include "simgpu/arith/matrix.h"
#include "simgpu/exec/memory_access.h"
#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/exec/opcodes/tensor.h"

/// ldmatrix, stmatrix and movmatrix: matrices of 8 x 8 elements of 16 bits between shared memory
/// and registers. Of `count` matrices, lane 8i+r names the 16 bytes of row r of matrix i; register
/// i holds matrix i as fragments do (exec/fragment.h).
namespace simgpu {
namespace {

constexpr unsigned kRowBytes = 16;
constexpr unsigned kMatrixBytes = kBlockRows * kRowBytes;
using Matrix = std::array<std::byte, kMatrixBytes>;

/// Fields of Lowered::option.
constexpr std::uint32_t kCountMask = 7;
constexpr std::uint32_t kTransposed = 8;
constexpr std::uint32_t kGenericAddress = 16;

Matrix transposed(const Matrix& matrix) {
  Matrix result;
  arith::transpose_8x8_halves(matrix.data(), kRowBytes, result.data(), kRowBytes);
  return result;
}

Matrix matrix_in(const std::byte* slot) {
  Matrix matrix;
  std::memcpy(matrix.data(), slot, kMatrixBytes);
  return matrix;
}

/// The lanes that name rows execute the access.
class RowLanes {
 public:
  RowLanes(Warp& warp, unsigned matrices) : warp_(warp) {
    warp.mask = matrices == 4 ? 0xFFFFFFFFU : (1U << kBlockRows * matrices) - 1;
  }
  ~RowLanes() { warp_.mask = 0xFFFFFFFFU; }
  RowLanes(const RowLanes&) = delete;
  RowLanes& operator=(const RowLanes&) = delete;

 private:
  Warp& warp_;
};

/// a: addresses of rows.
template <AccessKind kKind>
Prepared<std::uint32_t> prepare_rows(const Lowered* in, Warp& warp, const std::uint8_t* values) {
  if ((in->option & kGenericAddress) == 0) {
    return prepare_shared<kRowBytes, kKind>(in, warp, addresses32(warp, in->a), in->immediate,
                                            values);
  }
  LaneAddresses addresses;
  add_offset(addresses, addresses64(warp, in->a), in->immediate);
  const auto offsets = shared_offsets(addresses);
  return prepare_shared<kRowBytes, kKind>(in, warp, offsets.data(), 0, values);
}

/// The registers are in the list.
const Lowered* load_matrices(const Lowered* in, Warp& warp) {
  require_full_warp(in, warp);
  const unsigned count = in->option & kCountMask;
  const RowLanes lanes(warp, count);
  const auto rows = prepare_rows<AccessKind::load>(in, warp, nullptr);
  // All rows are read before a register is written: one may hold the addresses.
  std::array<Matrix, 4> matrices;
  for (unsigned row = 0; row < kBlockRows * count; ++row) {
    std::memcpy(&matrices[row / kBlockRows][row % kBlockRows * kRowBytes], rows.lane(row),
                kRowBytes);
  }
  for (unsigned i = 0; i < count; ++i) {
    const bool turn = (in->option & kTransposed) != 0;
    const Matrix matrix = turn ? transposed(matrices[i]) : matrices[i];
    std::memcpy(warp.regs + warp.lists[in->list + i], matrix.data(), kMatrixBytes);
  }
  return in + 1;
}

const Lowered* store_matrices(const Lowered* in, Warp& warp) {
  require_full_warp(in, warp);
  const unsigned count = in->option & kCountMask;
  const RowLanes lanes(warp, count);
  std::array<std::uint8_t, std::size_t{4} * kMatrixBytes> values;
  for (unsigned i = 0; i < count; ++i) {
    Matrix matrix = matrix_in(warp.regs + warp.lists[in->list + i]);
    if ((in->option & kTransposed) != 0) matrix = transposed(matrix);
    std::memcpy(&values[i * kMatrixBytes], matrix.data(), kMatrixBytes);
  }
  const auto rows = prepare_rows<AccessKind::store>(in, warp, values.data());
  for (unsigned row = 0; row < kBlockRows * count; ++row) {
    std::memcpy(rows.lane(row), &values[row * kRowBytes], kRowBytes);
  }
  return in + 1;
}

const Lowered* move_matrix(const Lowered* in, Warp& warp) {
  require_full_warp(in, warp);
  const Matrix matrix = transposed(matrix_in(warp.regs + in->a));
  std::memcpy(warp.regs + in->dst, matrix.data(), kMatrixBytes);
  return in + 1;
}

// Building.

void build_matrices(KernelBuilder& builder, bool load) {
  const ptx::Instruction& instruction = builder.instruction();
  const unsigned count = instruction.has("x4") ? 4 : instruction.has("x2") ? 2 : 1;
  if (builder.operand_count() != 2) builder.refuse(instruction.spelling());
  const bool shared = instruction.has("shared") || instruction.has("shared::cta");
  const Address address =
      builder.address(load ? 1 : 0, shared ? ptx::Space::shared : ptx::Space::generic);
  const std::vector<Ref> refs = fragment_registers(builder, load ? 0 : 1, count, 'i', load);
  using enum InstructionClass;
  Pending& pending = builder.emit(load ? &load_matrices : &store_matrices,
                                  {.cls = load ? shared_load : shared_store});
  pending.a = address.base;
  pending.immediate = address.offset;
  pending.option =
      count | (instruction.has("trans") ? kTransposed : 0) | (shared ? 0 : kGenericAddress);
  pending.is_memory = true;
  pending.access_bytes = kMatrixBytes * count / kWarpSize;
  (load ? pending.outs : pending.ins) = refs;
}

void build_load(KernelBuilder& builder) { build_matrices(builder, true); }
void build_store(KernelBuilder& builder) { build_matrices(builder, false); }

void build_move(KernelBuilder& builder) {
  const Ref a = builder.source(std::size_t{1}, 'i');
  const Ref dst = builder.destination(std::size_t{0}, 'i');
  Pending& pending = builder.emit(&move_matrix, {.cls = InstructionClass::warp_exchange});
  pending.a = a;
  pending.dst = dst;
}

}  // namespace

OpcodeFile matrix_memory_opcodes() {
  const char* const form = "sync aligned m8n8 x1|x2|x4 [trans] [shared|shared::cta] b16";
  return {.built = {{"ldmatrix", build_load, {form}},
                    {"stmatrix", build_store, {form}},
                    {"movmatrix", build_move, {"sync aligned m8n8 trans b16"}}}};
}

}  // namespace simgpu
