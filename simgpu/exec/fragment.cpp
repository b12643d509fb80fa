#include "simgpu/exec/fragment.h"

#include <charconv>
#include <cstring>

#include "simgpu/arith/half.h"
#include "simgpu/arith/matrix.h"

namespace simgpu {
namespace {

/// Calls visit(row block, column block, slot) for the registers of an input fragment.
template <class Visit>
void each_block(const InputFragment& fragment, FragmentSlots slots, Visit visit) {
  const unsigned rows = fragment.row_blocks();
  const unsigned columns = fragment.column_blocks();
  for (unsigned i = 0; i < rows; ++i) {
    for (unsigned j = 0; j < columns; ++j) visit(i, j, slots[fragment.register_of(i, j)]);
  }
}
template <class Visit>
void each_block(const SumFragment& fragment, FragmentSlots slots, Visit visit) {
  const unsigned rows = fragment.rows / kBlockRows;
  const unsigned columns = fragment.columns / kBlockRows;
  for (unsigned i = 0; i < rows; ++i) {
    for (unsigned j = 0; j < columns; ++j) {
      const unsigned first = fragment.register_of(i, j);
      visit(i, j, slots[first], slots[first + fragment.per_block() - 1]);
    }
  }
}

/// Elements of a block's row, and of a block.
constexpr unsigned kHalves = 8;
constexpr unsigned kWords = 4;
constexpr unsigned kBlockBytes = 128;

/// 8 x 8 elements of 16 bits, row g of them to `to + g * stride`.
void widen_block(TileType type, const std::byte* from, float* to, std::size_t stride) {
  if (type == TileType::f16) {
    arith::widen_f16_8x8(from, to, stride);
    return;
  }
  for (unsigned g = 0; g < kBlockRows; ++g) {
    std::array<std::uint16_t, kHalves> halves;
    std::memcpy(halves.data(), from + g * sizeof(halves), sizeof(halves));
    for (unsigned i = 0; i < kHalves; ++i) {
      to[g * stride + i] = arith::float_of(std::uint32_t{halves[i]} << 16);
    }
  }
}

template <class T>
T element(const std::byte* slot, unsigned i) {
  T value;
  std::memcpy(&value, slot + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void unpack_words(const SumFragment& fragment, FragmentSlots slots, T* to) {
  each_block(fragment, slots,
             [&](unsigned i, unsigned j, const std::byte* even, const std::byte* odd) {
               for (unsigned g = 0; g < kBlockRows; ++g) {
                 T* const row = to + (i * kBlockRows + g) * fragment.columns + j * kBlockRows;
                 constexpr std::size_t kBytes = kLanesPerRow * sizeof(T);
                 std::memcpy(row, even + g * kBytes, kBytes);
                 std::memcpy(row + kLanesPerRow, odd + g * kBytes, kBytes);
               }
             });
}

template <class T>
void pack_words(const SumFragment& fragment, const T* from, FragmentSlots slots) {
  each_block(fragment, slots, [&](unsigned i, unsigned j, std::byte* even, std::byte* odd) {
    for (unsigned g = 0; g < kBlockRows; ++g) {
      const T* const row = from + (i * kBlockRows + g) * fragment.columns + j * kBlockRows;
      constexpr std::size_t kBytes = kLanesPerRow * sizeof(T);
      std::memcpy(even + g * kBytes, row, kBytes);
      std::memcpy(odd + g * kBytes, row + kLanesPerRow, kBytes);
    }
  });
}

unsigned number_at(std::string_view& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::optional<TileType> tile_type_of(std::string_view modifier) {
  constexpr std::array<std::string_view, 11> kNames{"f16", "bf16", "tf32", "f32", "f64", "s8",
                                                    "u8",  "s4",   "u4",   "b1",  "s32"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == modifier) return static_cast<TileType>(i);
  }
  return std::nullopt;
}

bool is_signed(TileType type) { return type == TileType::s8 || type == TileType::s4; }

std::optional<ProductShape> product_shape_of(std::string_view modifier) {
  ProductShape shape;
  for (const auto& [letter, number] :
       {std::pair{'m', &shape.m}, {'n', &shape.n}, {'k', &shape.k}}) {
    if (modifier.empty() || modifier.front() != letter) return std::nullopt;
    modifier.remove_prefix(1);
    *number = number_at(modifier);
    if (*number == 0) return std::nullopt;
  }
  if (!modifier.empty()) return std::nullopt;
  return shape;
}

void unpack_a(const InputFragment& fragment, FragmentSlots slots, float* to) {
  const std::size_t k = fragment.k;
  each_block(fragment, slots, [&](unsigned i, unsigned j, const std::byte* slot) {
    float* const first = to + i * kBlockRows * k;
    if (fragment.type != TileType::tf32) {
      widen_block(fragment.type, slot, first + j * kHalves, k);
      return;
    }
    for (unsigned at = 0; at < kWarpSize; ++at) {
      first[at / kWords * k + j * kWords + at % kWords] =
          arith::tf32_operand(element<std::uint32_t>(slot, at));
    }
  });
}

void unpack_a(const InputFragment& fragment, FragmentSlots slots, double* to) {
  each_block(fragment, slots, [&](unsigned i, unsigned j, const std::byte* slot) {
    for (unsigned at = 0; at < kWarpSize; ++at) {
      to[(i * kBlockRows + at / kWords) * fragment.k + j * kWords + at % kWords] =
          element<double>(slot, at);
    }
  });
}

void unpack_b(const InputFragment& fragment, FragmentSlots slots, float* to) {
  const std::size_t n = fragment.rows;
  each_block(fragment, slots, [&](unsigned i, unsigned j, const std::byte* slot) {
    float* const first = to + i * kBlockRows;
    if (fragment.type != TileType::tf32) {
      std::array<std::byte, kBlockBytes> ordered;
      std::array<std::byte, kBlockBytes> columns;
      for (unsigned g = 0; g < kBlockRows; ++g) {
        std::memcpy(&ordered[computed_column(g) * 16], slot + g * 16, 16);
      }
      arith::transpose_8x8_halves(ordered.data(), 16, columns.data(), 16);
      widen_block(fragment.type, columns.data(), first + j * kHalves * n, n);
      return;
    }
    for (unsigned at = 0; at < kWarpSize; ++at) {
      first[(j * kWords + at % kWords) * n + computed_column(at / kWords)] =
          arith::tf32_operand(element<std::uint32_t>(slot, at));
    }
  });
}

void unpack_b(const InputFragment& fragment, FragmentSlots slots, double* to) {
  each_block(fragment, slots, [&](unsigned i, unsigned j, const std::byte* slot) {
    for (unsigned at = 0; at < kWarpSize; ++at) {
      to[(j * kWords + at % kWords) * fragment.rows + i * kBlockRows +
         computed_column(at / kWords)] = element<double>(slot, at);
    }
  });
}

void unpack_integers(const InputFragment& fragment, FragmentSlots slots, std::int16_t* to) {
  const bool nibbles = bits_of(fragment.type) == 4;
  const bool sign = is_signed(fragment.type);
  each_block(fragment, slots, [&](unsigned i, unsigned j, const std::byte* slot) {
    for (unsigned g = 0; g < kBlockRows; ++g) {
      const unsigned row = i * kBlockRows + (fragment.is_a ? g : computed_column(g));
      std::int16_t* out = to + row * fragment.k + j * (nibbles ? 32U : 16U);
      for (unsigned byte = 0; byte < 16; ++byte) {
        const auto bits = std::to_integer<std::uint8_t>(slot[g * 16 + byte]);
        if (nibbles) {
          // The sign bit of four is subtracted twice: 8 to 15 are -8 to -1.
          const int low = bits & 15;
          const int high = bits >> 4;
          *out++ = static_cast<std::int16_t>(sign ? low - (low & 8) * 2 : low);
          *out++ = static_cast<std::int16_t>(sign ? high - (high & 8) * 2 : high);
        } else {
          *out++ = static_cast<std::int16_t>(sign ? static_cast<std::int8_t>(bits) : int{bits});
        }
      }
    }
  });
}

void unpack_bits(const InputFragment& fragment, FragmentSlots slots, std::uint32_t* to) {
  const unsigned words = fragment.k / 32;
  each_block(fragment, slots, [&](unsigned i, unsigned j, const std::byte* slot) {
    for (unsigned g = 0; g < kBlockRows; ++g) {
      const unsigned row = i * kBlockRows + (fragment.is_a ? g : computed_column(g));
      std::memcpy(to + row * words + j * kWords, slot + g * 16, 16);
    }
  });
}

void unpack_sums(const SumFragment& fragment, FragmentSlots slots, float* to) {
  if (fragment.type != TileType::f16) {
    unpack_words(fragment, slots, to);
    return;
  }
  each_block(fragment, slots, [&](unsigned i, unsigned j, const std::byte* slot, const std::byte*) {
    std::array<float, 64> block;
    widen_block(TileType::f16, slot, block.data(), kHalves);
    float* const first = to + i * kBlockRows * fragment.columns + j * kBlockRows;
    for (unsigned at = 0; at < 64; ++at) {
      first[at / 8 * fragment.columns + computed_column(at % 8)] = block[at];
    }
  });
}
void unpack_sums(const SumFragment& fragment, FragmentSlots slots, double* to) {
  unpack_words(fragment, slots, to);
}
void unpack_sums(const SumFragment& fragment, FragmentSlots slots, std::int32_t* to) {
  unpack_words(fragment, slots, to);
}

void pack_sums(const SumFragment& fragment, const float* from, FragmentSlots slots) {
  if (fragment.type != TileType::f16) {
    pack_words(fragment, from, slots);
    return;
  }
  each_block(fragment, slots, [&](unsigned i, unsigned j, std::byte* slot, std::byte*) {
    const float* const first = from + i * kBlockRows * fragment.columns + j * kBlockRows;
    std::array<std::uint16_t, 64> block;
    for (unsigned at = 0; at < 64; ++at) {
      block[at] = arith::f32_to_f16(first[at / 8 * fragment.columns + computed_column(at % 8)]);
    }
    std::memcpy(slot, block.data(), sizeof(block));
  });
}
void pack_sums(const SumFragment& fragment, const double* from, FragmentSlots slots) {
  pack_words(fragment, from, slots);
}
void pack_sums(const SumFragment& fragment, const std::int32_t* from, FragmentSlots slots) {
  pack_words(fragment, from, slots);
}

}  // namespace simgpu
