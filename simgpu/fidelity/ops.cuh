#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include "values.h"

/// Items that compute one value of up to three: a struct with a device function each, and a kernel
/// of its own, so that one that is refused takes no other with it.
namespace fidelity {

using Inputs = std::vector<std::array<u64, 3>>;

struct Op {
  std::string item;
  std::string kinds;  ///< of the result, then of each input
  void (*launch)(const u64* in, u64* out, int n);
  Inputs (*inputs)(const std::string& kinds) = nullptr;
};

template <class F>
__global__ void apply(const u64* in, u64* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = F::of(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
}

template <class F>
void launch_apply(const u64* in, u64* out, int n) {
  apply<F><<<(n + 127) / 128, 128>>>(in, out, n);
}

/// Special values in every pairing, the first of them in every triple, and others without pattern.
inline Inputs usual_inputs(const std::string& kinds) {
  Random random(kinds.size() * 257 + static_cast<unsigned char>(kinds[1]));
  const std::size_t count = kinds.size() - 1;
  const std::size_t most = count == 1 ? 64 : count == 2 ? 12 : 5;
  std::array<std::vector<u64>, 3> lists;
  for (std::size_t i = 0; i < 3; ++i) {
    lists[i] = i < count ? specials(kinds[i + 1]) : std::vector<u64>{0};
    if (lists[i].size() > most) lists[i].resize(most);
  }
  Inputs inputs;
  for (const u64 a : lists[0]) {
    for (const u64 b : lists[1]) {
      for (const u64 c : lists[2]) inputs.push_back({a, b, c});
    }
  }
  for (int n = 0; n < 30; ++n) {
    std::array<u64, 3> row{};
    for (std::size_t i = 0; i < count; ++i) row[i] = random_value(kinds[i + 1], random);
    inputs.push_back(row);
  }
  return inputs;
}

inline void run_op(const char* topic, const Op& op) {
  const Inputs rows = op.inputs != nullptr ? op.inputs(op.kinds) : usual_inputs(op.kinds);
  std::vector<u64> words;
  for (const auto& row : rows) words.insert(words.end(), row.begin(), row.end());
  Buffer<u64> in(words);
  Buffer<u64> out(rows.size());
  op.launch(in.device(), out.device(), static_cast<int>(rows.size()));
  if (const cudaError_t error = settle(); error != cudaSuccess) {
    std::printf("%s %s -> %s\n", topic, op.item.c_str(), failure(error).c_str());
    return;
  }
  const std::vector<u64>& results = out.fetch();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::printf("%s %s", topic, op.item.c_str());
    for (std::size_t k = 1; k < op.kinds.size(); ++k) {
      std::printf(" %0*llx", bits_of(op.kinds[k]) / 4, static_cast<unsigned long long>(rows[i][k - 1]));
    }
    std::printf(" -> %0*llx\n", bits_of(op.kinds[0]) / 4, static_cast<unsigned long long>(results[i]));
  }
}

inline void run_ops(const char* topic, const std::vector<Op>& ops) {
  for (const Op& op : ops) run_op(topic, op);
}

/// One list of items for each source; sources are one topic.
static std::vector<Op>& ops_here() {
  static std::vector<Op> ops;
  return ops;
}

static inline bool add_op(Op op) {
  ops_here().push_back(std::move(op));
  return true;
}

/// The name of an inline PTX text: up to its operands, of a block all of it without spaces.
inline std::string opcode(std::string text) {
  if (text.front() != '{') return text.substr(0, text.find(' '));
  std::ranges::replace(text, ' ', '_');
  return text;
}

template <class To, class From>
__device__ inline To reinterpret(From from) {
  To to;
  static_assert(sizeof(To) == sizeof(From));
  memcpy(&to, &from, sizeof to);
  return to;
}

template <class T>
__device__ inline T take(u64 word) {
  if constexpr (sizeof(T) == 8) return reinterpret<T>(word);
  else if constexpr (sizeof(T) == 4) return reinterpret<T>(static_cast<u32>(word));
  else if constexpr (sizeof(T) == 2) return reinterpret<T>(static_cast<u16>(word));
  else return reinterpret<T>(static_cast<std::uint8_t>(word));
}

template <class T>
__device__ inline u64 word_of(T value) {
  if constexpr (sizeof(T) == 8) return reinterpret<u64>(value);
  else if constexpr (sizeof(T) == 4) return reinterpret<u32>(value);
  else if constexpr (sizeof(T) == 2) return reinterpret<u16>(value);
  else return reinterpret<std::uint8_t>(value);
}

// Registers of PTX and constraints of inline assembly, by kind.
#define TYPE_f ::fidelity::u32
#define TYPE_i ::fidelity::u32
#define TYPE_s ::fidelity::u32
#define TYPE_p ::fidelity::u32
#define TYPE_H ::fidelity::u32
#define TYPE_B ::fidelity::u32
#define TYPE_d ::fidelity::u64
#define TYPE_l ::fidelity::u64
#define TYPE_h ::fidelity::u16
#define TYPE_b ::fidelity::u16
#define TYPE_w ::fidelity::u16
#define REG_f "r"
#define REG_i "r"
#define REG_s "r"
#define REG_p "r"
#define REG_H "r"
#define REG_B "r"
#define REG_d "l"
#define REG_l "l"
#define REG_h "h"
#define REG_b "h"
#define REG_w "h"

#define ADD_OP_WITH(item, kinds, inputs)         \
  const bool FIDELITY_LINE(added_) = ::fidelity::add_op( \
      {item, kinds, ::fidelity::launch_apply<FIDELITY_LINE(Op)>, inputs})

// PTX1(kind of result, kind of input, "opcode %0, %1;"): one for each line, at namespace scope.
#define PTX1_OF(R, A, text, inputs)                                                      \
  struct FIDELITY_LINE(Op) {                                                             \
    static __device__ ::fidelity::u64 of(::fidelity::u64 a, ::fidelity::u64, ::fidelity::u64) { \
      TYPE_##R result;                                                                   \
      asm volatile(text : "=" REG_##R(result) : REG_##A(static_cast<TYPE_##A>(a)));      \
      return result;                                                                     \
    }                                                                                    \
  };                                                                                     \
  ADD_OP_WITH(::fidelity::opcode(text), #R #A, inputs)
#define PTX1(R, A, text) PTX1_OF(R, A, text, nullptr)

#define PTX2(R, A, B, text)                                                              \
  struct FIDELITY_LINE(Op) {                                                             \
    static __device__ ::fidelity::u64 of(::fidelity::u64 a, ::fidelity::u64 b, ::fidelity::u64) { \
      TYPE_##R result;                                                                   \
      asm volatile(text                                                                  \
                   : "=" REG_##R(result)                                                 \
                   : REG_##A(static_cast<TYPE_##A>(a)), REG_##B(static_cast<TYPE_##B>(b))); \
      return result;                                                                     \
    }                                                                                    \
  };                                                                                     \
  ADD_OP_WITH(::fidelity::opcode(text), #R #A #B, nullptr)

#define PTX3(R, A, B, C, text)                                                           \
  struct FIDELITY_LINE(Op) {                                                             \
    static __device__ ::fidelity::u64 of(::fidelity::u64 a, ::fidelity::u64 b, ::fidelity::u64 c) { \
      TYPE_##R result;                                                                   \
      asm volatile(text                                                                  \
                   : "=" REG_##R(result)                                                 \
                   : REG_##A(static_cast<TYPE_##A>(a)), REG_##B(static_cast<TYPE_##B>(b)), \
                     REG_##C(static_cast<TYPE_##C>(c)));                                 \
      return result;                                                                     \
    }                                                                                    \
  };                                                                                     \
  ADD_OP_WITH(::fidelity::opcode(text), #R #A #B #C, nullptr)

// CALL("kinds", expression of x, y and z, type): what a function of CUDA's library gives.
#define CALL_NAMED(item, kinds, type, expression)                                         \
  struct FIDELITY_LINE(Op) {                                                             \
    static __device__ ::fidelity::u64 of(::fidelity::u64 a, ::fidelity::u64 b, ::fidelity::u64 c) { \
      [[maybe_unused]] const type x = ::fidelity::take<type>(a);                         \
      [[maybe_unused]] const type y = ::fidelity::take<type>(b);                         \
      [[maybe_unused]] const type z = ::fidelity::take<type>(c);                         \
      return ::fidelity::word_of(expression);                                            \
    }                                                                                    \
  };                                                                                     \
  ADD_OP_WITH(item, kinds, nullptr)
#define CALL(kinds, type, expression) CALL_NAMED(#expression, kinds, type, expression)

}  // namespace fidelity
