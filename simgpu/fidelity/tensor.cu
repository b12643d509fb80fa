#include <mma.h>

#include <cmath>
#include <cstring>

#include "values.h"

/// Products of tensor cores: whole tiles of random and of chosen elements.
namespace {

using fidelity::Buffer;
using fidelity::Random;
using fidelity::u16;
using fidelity::u32;
using fidelity::u64;

/// An instruction on registers of 32 bits; elements have `bits`, accumulators `sum_bits`.
struct Shape {
  const char* item;
  char kind;      ///< of A and B: h, b, t (tf32), d, i (s8), u (u8)
  char sum_kind;  ///< h, f, d, i
  int m, n, k;
  int bits, sum_bits;
};

#define MMA(name, na, nb, nc, ...)                                                              \
  struct name {                                                                                 \
    static constexpr int kA = na, kB = nb, kC = nc;                                             \
    static __device__ void of(const u32* a, const u32* b, const u32* c, u32* d) { __VA_ARGS__ } \
  }

#define MMA_422(name, text)                                                                       \
  MMA(name, 4, 2, 4,                                                                              \
      asm volatile(text " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"              \
                   : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                               \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), \
                     "r"(c[1]), "r"(c[2]), "r"(c[3]));)
#define MMA_214(name, text)                                                            \
  MMA(name, 2, 1, 4,                                                                   \
      asm volatile(text " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"               \
                   : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                    \
                   : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), \
                     "r"(c[3]));)

MMA_422(F16F32, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
MMA_422(Bf16F32, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
MMA_422(Tf32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32");
MMA_422(S8, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32");
MMA_422(S8Sat, "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32");
MMA_422(U8, "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32");
MMA_214(F16F32K8, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32");
MMA_214(Bf16F32K8, "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32");
MMA_214(Tf32K4, "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32");
MMA(F16F16, 4, 2, 2,
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, "
                 "{%6,%7}, {%8,%9};"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]),
                   "r"(c[1])););
MMA(F64, 2, 2, 4, const u64 x = a[0] | u64{a[1]} << 32; const u64 y = b[0] | u64{b[1]} << 32;
    const u64 z0 = c[0] | u64{c[1]} << 32; const u64 z1 = c[2] | u64{c[3]} << 32; u64 r0; u64 r1;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%5};"
                 : "=l"(r0), "=l"(r1)
                 : "l"(x), "l"(y), "l"(z0), "l"(z1));
    d[0] = static_cast<u32>(r0); d[1] = static_cast<u32>(r0 >> 32); d[2] = static_cast<u32>(r1);
    d[3] = static_cast<u32>(r1 >> 32););

template <class M>
__global__ void multiply(const u32* in, u32* out) {
  constexpr int kAll = M::kA + M::kB + M::kC;
  u32 a[M::kA], b[M::kB], c[M::kC], d[M::kC];
  in += threadIdx.x * kAll;
  for (int i = 0; i < M::kA; ++i) a[i] = in[i];
  for (int i = 0; i < M::kB; ++i) b[i] = in[M::kA + i];
  for (int i = 0; i < M::kC; ++i) c[i] = in[M::kA + M::kB + i];
  M::of(a, b, c, d);
  for (int i = 0; i < M::kC; ++i) out[threadIdx.x * M::kC + i] = d[i];
}

/// Elements as bits, rows first. B is kept with k first, too: b[k * n + column].
struct Tile {
  std::vector<u64> a, b, c;
};

u64 encode(char kind, double x) {
  switch (kind) {
    case 'd':
      return fidelity::bits(x);
    case 'h': {  // Exact values only, but for results below the least denormal.
      if (x == 0) return std::signbit(x) ? 0x8000 : 0;
      int e = 0;
      const double f = std::frexp(std::fabs(x), &e);
      const u64 sign = x < 0 ? 0x8000 : 0;
      if (e < -13) return sign | static_cast<u64>(std::ldexp(std::fabs(x), 24));
      if (e > 16) return sign | 0x7c00;
      return sign | static_cast<u64>(e + 14) << 10 | static_cast<u64>((f * 2 - 1) * 1024);
    }
    case 'b':
      return fidelity::bits(static_cast<float>(x)) >> 16;
    case 'i':
    case 'u':
      return static_cast<u64>(static_cast<long long>(x));
    default:
      return fidelity::bits(static_cast<float>(x));
  }
}

char value_kind(char kind) { return kind == 't' ? 'f' : kind == 'u' ? 'i' : kind; }

/// A finite value whose exponent is within `spread` of that of one.
u64 value_near_one(char kind, int spread, Random& random) {
  if (kind == 'i' || kind == 'u') return random.next();
  const double significand = 1 + std::floor(std::ldexp(random.below(1U << 20), -20) * 128) / 128;
  const double x = std::ldexp(significand, static_cast<int>(random.below(2 * spread + 1)) - spread);
  return encode(kind, random.below(2) == 0 ? x : -x);
}

Tile random_tile(const Shape& shape, int spread, u64 seed) {
  Random random(seed);
  Tile tile;
  for (int i = 0; i < shape.m * shape.k; ++i)
    tile.a.push_back(value_near_one(shape.kind, spread, random));
  for (int i = 0; i < shape.k * shape.n; ++i)
    tile.b.push_back(value_near_one(shape.kind, spread, random));
  for (int i = 0; i < shape.m * shape.n; ++i)
    tile.c.push_back(value_near_one(shape.sum_kind, spread, random));
  return tile;
}

/// Any bits of any exponent, and special values one time in `rarity`.
Tile special_tile(const Shape& shape, u32 rarity, u64 seed) {
  Random random(seed);
  const auto fill = [&](std::vector<u64>& to, int size, char kind) {
    const std::vector<u64> special = fidelity::specials(value_kind(kind));
    for (int i = 0; i < size; ++i) {
      to.push_back(rarity != 0 && random.below(rarity) == 0
                       ? special[random.below(static_cast<u32>(special.size()))]
                       : fidelity::random_value(value_kind(kind), random));
    }
  };
  Tile tile;
  fill(tile.a, shape.m * shape.k, shape.kind);
  fill(tile.b, shape.k * shape.n, shape.kind);
  fill(tile.c, shape.m * shape.n, shape.sum_kind);
  return tile;
}

using Element = double (*)(int, int, const Shape&);

Tile chosen_tile(const Shape& shape, Element a, Element b, Element c) {
  Tile tile;
  for (int i = 0; i < shape.m; ++i) {
    for (int k = 0; k < shape.k; ++k) tile.a.push_back(encode(shape.kind, a(i, k, shape)));
  }
  for (int k = 0; k < shape.k; ++k) {
    for (int j = 0; j < shape.n; ++j) tile.b.push_back(encode(shape.kind, b(k, j, shape)));
  }
  for (int i = 0; i < shape.m; ++i) {
    for (int j = 0; j < shape.n; ++j) tile.c.push_back(encode(shape.sum_kind, c(i, j, shape)));
  }
  return tile;
}

double two_to(int e) { return std::ldexp(1.0, e); }

struct Chosen {
  const char* name;
  Element a, b, c;
};

// Rows and columns choose by how many bits a term is shifted on its way to the sum: row + column.
const Chosen kChosen[] = {
    {"one_large_product", [](int i, int k, const Shape&) { return k == 0 ? 1.0 : two_to(-i); },
     [](int k, int j, const Shape&) { return k == 0 ? 1.0 : two_to(-j - 8); },
     [](int, int, const Shape&) { return 0.0; }},
    {"one_large_product_rest_negative",
     [](int i, int k, const Shape&) { return k == 0 ? 1.0 : -two_to(-i); },
     [](int k, int j, const Shape&) { return k == 0 ? 1.0 : two_to(-j - 8); },
     [](int, int, const Shape&) { return 0.0; }},
    {"large_c", [](int i, int, const Shape&) { return 1.5 * two_to(-i); },
     [](int, int j, const Shape&) { return two_to(-j - 8); },
     [](int, int, const Shape&) { return 1.0; }},
    {"large_c_negative", [](int i, int, const Shape&) { return 1.5 * two_to(-i); },
     [](int, int j, const Shape&) { return two_to(-j - 8); },
     [](int, int, const Shape&) { return -1.0; }},
    {"one_small_product_to_c",
     [](int i, int k, const Shape&) { return k == 3 ? 1.5 * two_to(-i / 2) : 0.0; },
     [](int k, int j, const Shape&) {
       return k == 3 ? two_to(-j - 10) * (j % 2 == 0 ? 1 : -1) : 0.0;
     },
     [](int i, int, const Shape&) { return i % 2 == 0 ? 1.0 : 1 + two_to(-10); }},
    {"cancelling_products",
     [](int i, int k, const Shape&) { return k == 0   ? 64.0
                                             : k == 1 ? -64.0
                                                      : two_to(-i); },
     [](int k, int j, const Shape&) { return k < 2 ? 64.0 : two_to(-j - 4); },
     [](int, int, const Shape&) { return 0.0; }},
    {"cancelling_with_c", [](int i, int k, const Shape&) { return k == 0 ? 64.0 : two_to(-i); },
     [](int k, int j, const Shape&) { return k == 0 ? 64.0 : two_to(-j - 4); },
     [](int, int, const Shape&) { return -4096.0; }},
    // Which products are summed together: the large pair is at places `row` and `row + column + 1`.
    {"cancelling_at_places",
     [](int i, int k, const Shape& s) { return k == i % s.k ? 64.0 : two_to(-10); },
     [](int k, int j, const Shape& s) { return k % s.n == j ? -64.0 : 1.0; },
     [](int, int, const Shape&) { return 4096.0; }},
    {"large_at_each_place",
     [](int i, int k, const Shape& s) { return k == i % s.k ? 1.0 : two_to(-12); },
     [](int k, int j, const Shape&) { return 1.0 + 0 * k + 0 * j; },
     [](int, int j, const Shape&) { return j % 2 == 0 ? 0.0 : two_to(-j); }},
    {"overflow", [](int i, int, const Shape&) { return i % 2 == 0 ? 32768.0 : 256.0 * (i + 1); },
     [](int k, int j, const Shape&) { return k % 2 == 0 ? 2.0 + j : (j % 3 == 0 ? -2.0 : 1.0); },
     [](int, int j, const Shape& s) {
       return s.sum_kind == 'f' ? 1.9999998 * two_to(127) * (j % 2 == 0 ? 1 : -1) : 60000.0;
     }},
    {"denormal_sums", [](int i, int k, const Shape&) { return two_to(-14 - (i + k) % 10); },
     [](int k, int j, const Shape& s) {
       return s.bits == 16 && s.kind == 'h' ? two_to(-j - 10) : two_to(-j - 112 - k % 8);
     },
     [](int i, int j, const Shape& s) {
       return s.sum_kind == 'f' ? two_to(-140 + i) : two_to(-24 + (i + j) % 12);
     }},
    {"signed_zeros", [](int i, int, const Shape&) { return i % 2 == 0 ? -0.0 : 0.0; },
     [](int, int j, const Shape&) { return j % 2 == 0 ? 1.0 : -1.0; },
     [](int i, int, const Shape&) { return i % 4 < 2 ? -0.0 : 0.0; }},
};

/// Where an element of a fragment lies; all shapes are of one pattern.
template <class Each>
void each_element(int bits, int registers, bool is_b, Each each) {
  const int in_word = bits == 64 ? 1 : 32 / bits;
  const int step = bits == 64 ? 2 : 1;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r * step < registers; ++r) {
      for (int s = 0; s < in_word; ++s) {
        const int along = lane % 4 * in_word + s;
        const int row = lane / 4 + (is_b ? 0 : 8 * (r & 1));
        const int k = along + 4 * in_word * (is_b ? r : r >> 1);
        each(lane, r * step, s, row, k);
      }
    }
  }
}

void put(std::vector<u32>& words, std::size_t at, int bits, int slot, u64 value) {
  if (bits == 64) {
    words[at] = static_cast<u32>(value);
    words[at + 1] = static_cast<u32>(value >> 32);
  } else {
    const u64 mask = bits == 32 ? 0xffffffff : (u64{1} << bits) - 1;
    words[at] |= static_cast<u32>((value & mask) << (bits * slot));
  }
}

void print_rows(const Shape& shape, const std::string& name, const char* what,
                const std::vector<u64>& values, int columns, int bits) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % columns == 0) {
      std::printf("tensor %s %s %s%d ->", shape.item, name.c_str(), what,
                  static_cast<int>(i) / columns);
    }
    const u64 mask = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
    std::printf(" %0*llx", bits / 4, static_cast<unsigned long long>(values[i] & mask));
    if (i % columns == static_cast<std::size_t>(columns) - 1) std::printf("\n");
  }
}

template <class M>
void run_tile(const Shape& shape, const std::string& name, const Tile& tile) {
  constexpr int kAll = M::kA + M::kB + M::kC;
  std::vector<u32> words(32 * kAll);
  each_element(shape.bits, M::kA, false, [&](int lane, int r, int s, int row, int k) {
    put(words, lane * kAll + r, shape.bits, s, tile.a[row * shape.k + k]);
  });
  each_element(shape.bits, M::kB, true, [&](int lane, int r, int s, int column, int k) {
    put(words, lane * kAll + M::kA + r, shape.bits, s, tile.b[k * shape.n + column]);
  });
  // Accumulators: two neighbours for each lane, eight rows apart.
  const auto each_sum = [&](auto each) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < shape.m * shape.n / 32; ++i) {
        each(lane, i * shape.sum_bits / 32, i % 2,
             (lane / 4 + 8 * (i / 2)) * shape.n + lane % 4 * 2 + i % 2);
      }
    }
  };
  each_sum([&](int lane, int r, int s, int element) {
    put(words, lane * kAll + M::kA + M::kB + r, shape.sum_bits, s, tile.c[element]);
  });
  Buffer<u32> in(words);
  Buffer<u32> out(32 * M::kC);
  multiply<M><<<1, 32>>>(in.device(), out.device());
  if (const cudaError_t error = fidelity::settle(); error != cudaSuccess) {
    std::printf("tensor %s %s -> %s\n", shape.item, name.c_str(), fidelity::failure(error).c_str());
    return;
  }
  const std::vector<u32>& results = out.fetch();
  std::vector<u64> sums(tile.c.size());
  each_sum([&](int lane, int r, int s, int element) {
    const std::size_t at = lane * M::kC + r;
    sums[element] = shape.sum_bits == 64   ? results[at] | u64{results[at + 1]} << 32
                    : shape.sum_bits == 16 ? results[at] >> (16 * s)
                                           : results[at];
  });
  print_rows(shape, name, "a", tile.a, shape.k, shape.bits);
  print_rows(shape, name, "b", tile.b, shape.n, shape.bits);
  print_rows(shape, name, "c", tile.c, shape.n, shape.sum_bits);
  print_rows(shape, name, "d", sums, shape.n, shape.sum_bits);
}

template <class M>
void run_shape(const Shape& shape) {
  run_tile<M>(shape, "near_one", random_tile(shape, 2, 1));
  run_tile<M>(shape, "spread_of_12", random_tile(shape, 6, 2));
  run_tile<M>(shape, "spread_of_24", random_tile(shape, 12, 3));
  run_tile<M>(shape, "any", special_tile(shape, 0, 4));
  run_tile<M>(shape, "few_special", special_tile(shape, 60, 5));
  run_tile<M>(shape, "some_special", special_tile(shape, 12, 6));
  if (shape.kind == 'i' || shape.kind == 'u') return;
  for (const Chosen& chosen : kChosen) {
    run_tile<M>(shape, chosen.name, chosen_tile(shape, chosen.a, chosen.b, chosen.c));
  }
}

/// The wmma interface, whose fragments only the instruction knows.
template <class In, class Stored, class Sum, int kDepth>
__global__ void wmma_product(const Stored* a, const Stored* b, const Sum* c, Sum* d) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, kDepth, In, row_major> left;
  fragment<matrix_b, 16, 16, kDepth, In, col_major> right;
  fragment<accumulator, 16, 16, kDepth, Sum> sum;
  load_matrix_sync(left, a, kDepth);
  load_matrix_sync(right, b, kDepth);
  load_matrix_sync(sum, c, 16, mem_row_major);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(d, sum, 16, mem_row_major);
}

template <class In, class Stored, class Sum, int kDepth>
void run_wmma(const char* item, char kind, char sum_kind) {
  const Shape shape{item, kind, sum_kind, 16, 16, kDepth, 8 * sizeof(Stored), 8 * sizeof(Sum)};
  const auto narrow = []<class T>(const std::vector<u64>& from, T) {
    std::vector<T> to(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) std::memcpy(&to[i], &from[i], sizeof(T));
    return to;
  };
  for (const int spread : {2, 8}) {
    const Tile tile = random_tile(shape, spread, static_cast<u64>(spread));
    Buffer<Stored> a(narrow(tile.a, Stored{})), b(narrow(tile.b, Stored{}));
    Buffer<Sum> c(narrow(tile.c, Sum{})), d(std::size_t{256});
    wmma_product<In, Stored, Sum, kDepth>
        <<<1, 32>>>(a.device(), b.device(), c.device(), d.device());
    const std::string name = "spread_of_" + std::to_string(2 * spread);
    if (const cudaError_t error = fidelity::settle(); error != cudaSuccess) {
      std::printf("tensor %s %s -> %s\n", item, name.c_str(), fidelity::failure(error).c_str());
      continue;
    }
    std::vector<u64> sums(256);
    for (std::size_t i = 0; i < 256; ++i) {
      if (i == 0) d.fetch();
      std::memcpy(&sums[i], &d.fetch()[i], sizeof(Sum));
    }
    print_rows(shape, name, "d", sums, 16, shape.sum_bits);
  }
}

void tensor() {
  run_shape<F16F32>({"m16n8k16.f32.f16", 'h', 'f', 16, 8, 16, 16, 32});
  run_shape<F16F16>({"m16n8k16.f16.f16", 'h', 'h', 16, 8, 16, 16, 16});
  run_shape<Bf16F32>({"m16n8k16.f32.bf16", 'b', 'f', 16, 8, 16, 16, 32});
  run_shape<F16F32K8>({"m16n8k8.f32.f16", 'h', 'f', 16, 8, 8, 16, 32});
  run_shape<Bf16F32K8>({"m16n8k8.f32.bf16", 'b', 'f', 16, 8, 8, 16, 32});
  run_shape<Tf32>({"m16n8k8.f32.tf32", 't', 'f', 16, 8, 8, 32, 32});
  run_shape<Tf32K4>({"m16n8k4.f32.tf32", 't', 'f', 16, 8, 4, 32, 32});
  run_shape<F64>({"m8n8k4.f64", 'd', 'd', 8, 8, 4, 64, 64});
  run_shape<S8>({"m16n8k32.s8", 'i', 'i', 16, 8, 32, 8, 32});
  run_shape<S8Sat>({"m16n8k32.s8.satfinite", 'i', 'i', 16, 8, 32, 8, 32});
  run_shape<U8>({"m16n8k32.u8", 'u', 'i', 16, 8, 32, 8, 32});
  run_wmma<__half, __half, float, 16>("wmma.f32.f16", 'h', 'f');
  run_wmma<__half, __half, __half, 16>("wmma.f16.f16", 'h', 'h');
  run_wmma<__nv_bfloat16, __nv_bfloat16, float, 16>("wmma.f32.bf16", 'b', 'f');
  run_wmma<nvcuda::wmma::precision::tf32, float, float, 8>("wmma.f32.tf32", 't', 'f');
  run_wmma<signed char, signed char, int, 16>("wmma.s32.s8", 'i', 'i');
}
TOPIC("tensor", tensor);

}  // namespace
