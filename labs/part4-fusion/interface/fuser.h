#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "toolkit/cuda_library.h"

// A compiler for pointwise expressions: any of them becomes one kernel.

/// What a node computes in fp32, from its operands a, b and c.
enum class Op {
  input,     ///< an element of inputs[node.input]
  constant,  ///< node.constant: any float, infinities and NaN among them
  add,       ///< a + b
  sub,       ///< a - b
  mul,       ///< a * b
  div,       ///< a / b
  min,       ///< the smaller of a and b; if one is NaN, the other
  max,       ///< the larger of a and b; if one is NaN, the other
  neg,       ///< -a
  abs,       ///< |a|
  exp,       ///< e^a
  tanh,      ///< tanh(a)
  sqrt,      ///< the square root of a
  rsqrt,     ///< 1 / sqrt(a)
  select,    ///< a > 0 ? b : c
};

struct Node {
  Op op = Op::constant;
  /// Places of the operands in Expression::nodes, -1 where there is none.
  int a = -1, b = -1, c = -1;
  int input = -1;
  float constant = 0.0f;
};

/// Operands come before the nodes that use them, several nodes may use the same operand, and the
/// last node is the result. There may be thousands of nodes. A value that is used twice is one
/// node: source text that repeats it for each use doubles in length with every such node.
struct Expression {
  std::vector<Node> nodes;
};

/// What arrays are stored as. Arithmetic is fp32 for both.
enum class Storage { float32, float16 };

/// A kernel that was compiled while the program ran.
struct FusedKernel {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
};

/// Kernels that have been compiled already, by a key that tells any two of them apart, such as
/// their source. Unloads them when it is destroyed.
struct KernelCache {
  KernelCache() = default;
  ~KernelCache() {
    for (const auto& [source, kernel] : kernels) cudaLibraryUnload(kernel.library);
  }
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  std::map<std::string, FusedKernel> kernels;
};

/// out[i] = expression(inputs[0][i], inputs[1][i], …) for i = 0 … count - 1.
///
///   inputs, out: device pointers to `count` elements each, as cudaMalloc returns them
///                out overlaps no input
///
/// count is at least 1 and may be larger than 2^31. There may be more inputs than the expression
/// uses. One kernel does it all: it reads each array that is used, once, and writes out once, in
/// one launch on `stream`, and nobody waits for it. Its source is written, compiled with NVRTC and
/// loaded (cudaLibraryLoadData) when the cache does not have it yet; another call with an equal
/// expression and the same storage compiles nothing, however many others came between. One cache
/// serves calls with any expressions, in both storages. Constants are equal when their bits are.
///
/// Results are as accurate as CUDA's own functions (expf, tanhf, sqrtf, rsqrtf) and operators make
/// them, with numbers below the normal ones and quotients of any size, and rounded once when they
/// are stored. A multiplication and an addition may be fused.
void evaluate(KernelCache& cache, const Expression& expression, Storage storage,
              const std::vector<const void*>& inputs, void* out, std::int64_t count,
              cudaStream_t stream);
