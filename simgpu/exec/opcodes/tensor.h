#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simgpu/exec/fragment.h"
#include "simgpu/lower/builder.h"

/// What the files on tensor instructions share.
namespace simgpu {

/// The modifiers of a wmma or mma instruction, read once.
struct TensorModifiers {
  ProductShape shape;
  std::vector<bool> by_column;  ///< .row and .col in the order written
  std::vector<TileType> types;  ///< likewise
  char matrix = 0;              ///< of wmma.load and wmma.store: a, b, c or d
};
TensorModifiers tensor_modifiers(const ptx::Instruction& instruction);

/// What mma or wmma.mma multiplies; packed into Lowered::immediate. Its registers are in the list:
/// d, a, b, c.
struct TensorProduct {
  ProductShape shape;
  TileType a = TileType::f16, b = TileType::f16, c = TileType::f32, d = TileType::f32;
  bool saturates = false;
  bool is_xor = false;
  bool is_wmma = false;
  bool pads_inputs = false;  ///< A and B have eight registers, however few they need

  InputFragment fragment_a() const { return {shape.m, shape.k, a, true}; }
  InputFragment fragment_b() const { return {shape.n, shape.k, b, false}; }
  SumFragment fragment_c() const { return {shape.m, shape.n, c}; }
  SumFragment fragment_d() const { return {shape.m, shape.n, d}; }
  unsigned input_registers(const InputFragment& fragment) const {
    return pads_inputs ? 8 : fragment.registers();
  }

  std::int64_t encode() const;
  static TensorProduct decode(std::int64_t bits);
};

/// The kinds of products that wmma.mma has, wmma.load and wmma.store included, or those of mma.
bool has_wmma_input(const ProductShape& shape, TileType input);
bool has_wmma_sum(const ProductShape& shape, TileType sum);

/// Fails the launch unless all 32 lanes execute the instruction.
void require_full_warp(const Lowered* in, Warp& warp);

/// The registers of a fragment as operands. PTX gives f16 tiles of wmma eight registers in every
/// shape; those that their elements do not need stay unused. @throws Unsupported for another number
std::vector<Ref> fragment_registers(KernelBuilder& builder, std::size_t operand, unsigned count,
                                    char kind, bool writes);

void build_wmma_move(KernelBuilder& builder);

}  // namespace simgpu
