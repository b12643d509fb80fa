#pragma once

#include "measure.cuh"

// Instructions that compute in registers. Each is a chain: step() needs what the last one gave.
namespace instructions {

template <typename T>
__device__ T operand(unsigned zero, int i) {
  // Not known to the compiler, between 0.5 and 1 as a number in all formats of 32 bits.
  return static_cast<T>(threadIdx.x % 32 + i + 1 + zero) / static_cast<T>(64);
}
template <>
__device__ inline unsigned operand<unsigned>(unsigned zero, int i) {
  return 0x38013801u + zero + (threadIdx.x % 32) * 0x20002u + i;
}
template <>
__device__ inline unsigned long long operand<unsigned long long>(unsigned zero, int i) {
  return 0x3801380112345671ull + zero + i + threadIdx.x % 32 * 0x100000001ull;
}

__device__ inline unsigned bits(float x) { return __float_as_uint(x); }
__device__ inline unsigned bits(double x) { return __double2hiint(x) ^ __double2loint(x); }
__device__ inline unsigned bits(unsigned x) { return x; }
__device__ inline unsigned bits(unsigned long long x) {
  return static_cast<unsigned>(x) ^ static_cast<unsigned>(x >> 32);
}

/// An instruction sequence TEXT from %0 to %0, with operands %1 and %2 that stay.
#define INSTRUCTION(TYPE, NAME, OPERAND, CONSTRAINT, STEPS, TEXT)            \
  struct TYPE {                                                              \
    static constexpr const char* kName = NAME;                               \
    static constexpr int kSteps = STEPS;                                     \
    OPERAND x, y, z;                                                         \
    __device__ void start(const Operands& operands, int i) {                 \
      x = operand<OPERAND>(operands.zero, i);                                \
      y = operand<OPERAND>(operands.zero, i + 5);                            \
      z = operand<OPERAND>(operands.zero, 3 * i + 11);                       \
    }                                                                        \
    __device__ void step() {                                                 \
      asm volatile(TEXT : "+" CONSTRAINT(x) : CONSTRAINT(y), CONSTRAINT(z)); \
    }                                                                        \
    __device__ unsigned result() const { return bits(x); }                   \
  }

INSTRUCTION(Fadd, "add.f32", float, "f", 64, "add.f32 %0, %0, %1;");
INSTRUCTION(Fmul, "mul.f32", float, "f", 64, "mul.f32 %0, %0, %1;");
INSTRUCTION(Ffma, "fma.f32", float, "f", 64, "fma.rn.f32 %0, %0, %1, %2;");
INSTRUCTION(Fmin, "min.f32+max.f32", float, "f", 64, "min.f32 %0, %0, %1; max.f32 %0, %0, %2;");
INSTRUCTION(Dadd, "add.f64", double, "d", 64, "add.f64 %0, %0, %1;");
INSTRUCTION(Dmul, "mul.f64", double, "d", 64, "mul.f64 %0, %0, %1;");
INSTRUCTION(Dfma, "fma.f64", double, "d", 64, "fma.rn.f64 %0, %0, %1, %2;");
// Sums alone would be put together (three operands an instruction, or a product).
INSTRUCTION(Iadd, "add.s32+xor", unsigned, "r", 64, "add.u32 %0, %0, %1; xor.b32 %0, %0, %2;");
INSTRUCTION(Iadd64, "add.s64+xor.b64", unsigned long long, "l", 64,
            "add.u64 %0, %0, %1; xor.b64 %0, %0, %2;");
INSTRUCTION(Imad, "mad.lo.s32", unsigned, "r", 64, "mad.lo.u32 %0, %0, %1, %2;");
INSTRUCTION(Imul, "mul.lo.s32", unsigned, "r", 64, "mul.lo.u32 %0, %0, %1;");
INSTRUCTION(Imulhi, "mul.hi.u32", unsigned, "r", 64, "mul.hi.u32 %0, %0, %1;");
INSTRUCTION(MadWide, "mad.wide.u32 (and half an add.s64)", unsigned long long, "l", 64,
            "{ .reg .u32 a, b, c, d; mov.b64 {a, b}, %0; mov.b64 {c, d}, %1;"
            " mad.wide.u32 %0, a, c, %0; }");
INSTRUCTION(Imul64, "mul.lo.u64", unsigned long long, "l", 16, "mul.lo.u64 %0, %0, %1;");
INSTRUCTION(Imin, "min.s32+xor", unsigned, "r", 64, "min.s32 %0, %0, %1; xor.b32 %0, %0, %2;");
INSTRUCTION(Dp4a, "dp4a", unsigned, "r", 64, "dp4a.u32.u32 %0, %0, %1, %2;");
INSTRUCTION(Shf, "shf.l.wrap", unsigned, "r", 64, "shf.l.wrap.b32 %0, %0, %1, %2;");
INSTRUCTION(Shl, "shl+xor", unsigned, "r", 64, "shl.b32 %0, %1, %0; xor.b32 %0, %0, %2;");
INSTRUCTION(Lop3, "lop3", unsigned, "r", 64, "lop3.b32 %0, %0, %1, %2, 0xe8;");
INSTRUCTION(Prmt, "prmt", unsigned, "r", 64, "prmt.b32 %0, %0, %1, %2;");
INSTRUCTION(Bfe, "bfe.u32 (variable place)", unsigned, "r", 64, "bfe.u32 %0, %1, %0, 5;");
INSTRUCTION(Popc, "popc", unsigned, "r", 64, "popc.b32 %0, %0;");
INSTRUCTION(Clz, "clz", unsigned, "r", 64, "clz.b32 %0, %0;");
INSTRUCTION(Brev, "brev+xor", unsigned, "r", 64, "brev.b32 %0, %0; xor.b32 %0, %0, %1;");
INSTRUCTION(Select, "setp+selp", unsigned, "r", 64,
            "{ .reg .pred p; setp.lt.s32 p, %0, %1; selp.b32 %0, %1, %2, p; }");
INSTRUCTION(Hfma2, "fma.f16x2", unsigned, "r", 64, "fma.rn.f16x2 %0, %0, %1, %2;");
INSTRUCTION(Hadd2, "add.f16x2", unsigned, "r", 64, "add.f16x2 %0, %0, %1;");
INSTRUCTION(Bfma2, "fma.bf16x2", unsigned, "r", 64, "fma.rn.bf16x2 %0, %0, %1, %2;");
INSTRUCTION(Ex2, "ex2.approx.ftz", float, "f", 64, "ex2.approx.ftz.f32 %0, %0;");
INSTRUCTION(Lg2, "lg2.approx.ftz", float, "f", 64, "lg2.approx.ftz.f32 %0, %0;");
// The reciprocal of a reciprocal would be left out.
INSTRUCTION(Rcp, "rcp.approx.ftz+add.f32", float, "f", 64,
            "rcp.approx.ftz.f32 %0, %0; add.f32 %0, %0, %1;");
INSTRUCTION(Rsqrt, "rsqrt.approx.ftz", float, "f", 64, "rsqrt.approx.ftz.f32 %0, %0;");
INSTRUCTION(Sin, "sin.approx.ftz (with its scaling)", float, "f", 64, "sin.approx.ftz.f32 %0, %0;");
INSTRUCTION(Tanh, "tanh.approx", float, "f", 64, "tanh.approx.f32 %0, %0;");
INSTRUCTION(CvtS32, "cvt.s32.f32+cvt.f32.s32", float, "f", 64,
            "{ .reg .s32 i; cvt.rzi.s32.f32 i, %0; cvt.rn.f32.s32 %0, i; }");
INSTRUCTION(CvtF16, "cvt.f16.f32+cvt.f32.f16", float, "f", 64,
            "{ .reg .b16 h; cvt.rn.f16.f32 h, %0; cvt.f32.f16 %0, h; }");
INSTRUCTION(CvtBf16, "cvt.bf16.f32+shl", unsigned, "r", 64,
            "{ .reg .f32 f; .reg .b16 h, n; mov.b16 n, 0; mov.b32 f, %0; cvt.rn.bf16.f32 h, f;"
            " mov.b32 %0, {n, h}; }");
INSTRUCTION(CvtF64, "cvt.f32.f64+cvt.f64.f32", double, "d", 64,
            "{ .reg .f32 f; cvt.rn.f32.f64 f, %0; cvt.f64.f32 %0, f; }");
INSTRUCTION(CvtRound, "cvt.rpi.f32.f32+add.f32", float, "f", 64,
            "cvt.rpi.f32.f32 %0, %0; add.f32 %0, %0, %1;");
INSTRUCTION(DivF32, "div.rn.f32", float, "f", 8, "div.rn.f32 %0, %1, %0;");
INSTRUCTION(SqrtF32, "sqrt.rn.f32", float, "f", 8, "sqrt.rn.f32 %0, %0;");
INSTRUCTION(DivF64, "div.rn.f64", double, "d", 8, "div.rn.f64 %0, %1, %0;");
INSTRUCTION(SqrtF64, "sqrt.rn.f64", double, "d", 8, "sqrt.rn.f64 %0, %0;");
INSTRUCTION(DivU32, "div.u32", unsigned, "r", 8, "div.u32 %0, %1, %0;");
INSTRUCTION(Shfl, "shfl.bfly", unsigned, "r", 64, "shfl.sync.bfly.b32 %0, %0, 1, 31, -1;");
INSTRUCTION(ShflIdx, "shfl.idx", unsigned, "r", 64, "shfl.sync.idx.b32 %0, %1, %0, 31, -1;");
INSTRUCTION(Ballot, "setp+vote.ballot", unsigned, "r", 64,
            "{ .reg .pred p; setp.ne.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1; }");
INSTRUCTION(Redux, "redux.add", unsigned, "r", 64, "redux.sync.add.u32 %0, %0, -1;");
INSTRUCTION(Match, "match.any (lanes alike)", unsigned, "r", 16, "match.any.sync.b32 %0, %0, -1;");
INSTRUCTION(Syncwarp, "bar.warp.sync", unsigned, "r", 64, "bar.warp.sync -1;");
INSTRUCTION(Bar, "bar.sync", unsigned, "r", 64, "bar.sync 0;");
INSTRUCTION(MembarCta, "membar.cta", unsigned, "r", 16, "membar.cta;");
INSTRUCTION(MembarGl, "membar.gl", unsigned, "r", 16, "membar.gl;");
INSTRUCTION(MembarSys, "membar.sys", unsigned, "r", 16, "membar.sys;");

/// mma.sync with dependent accumulators.
#define MATRIX(TYPE, NAME, ACCUMULATOR, CONSTRAINT, TEXT)                                 \
  struct TYPE {                                                                           \
    static constexpr const char* kName = NAME;                                            \
    static constexpr int kSteps = 32;                                                     \
    ACCUMULATOR d[4];                                                                     \
    unsigned a[4], b[2];                                                                  \
    __device__ void start(const Operands& operands, int i) {                              \
      for (int k = 0; k < 4; ++k) d[k] = static_cast<ACCUMULATOR>(operands.zero + k + i); \
      for (int k = 0; k < 4; ++k) a[k] = operand<unsigned>(operands.zero, k);             \
      for (int k = 0; k < 2; ++k) b[k] = operand<unsigned>(operands.zero, k + 7);         \
    }                                                                                     \
    __device__ void step() {                                                              \
      asm volatile(TEXT                                                                   \
                   : "+" CONSTRAINT(d[0]), "+" CONSTRAINT(d[1]), "+" CONSTRAINT(d[2]),    \
                     "+" CONSTRAINT(d[3])                                                 \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));   \
    }                                                                                     \
    __device__ unsigned result() const {                                                  \
      return bits(d[0]) ^ bits(d[1]) ^ bits(d[2]) ^ bits(d[3]);                           \
    }                                                                                     \
  }
#define SIX_REGISTERS "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"

MATRIX(MmaF16, "mma.m16n8k16.f32.f16", float, "f",
       "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " SIX_REGISTERS);
MATRIX(MmaF16Short, "mma.m16n8k8.f32.f16", float, "f",
       "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
       "{%0,%1,%2,%3}, {%4,%5}, {%8}, {%0,%1,%2,%3};");
MATRIX(MmaBf16, "mma.m16n8k16.f32.bf16", float, "f",
       "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 " SIX_REGISTERS);
MATRIX(MmaTf32, "mma.m16n8k8.f32.tf32", float, "f",
       "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 " SIX_REGISTERS);
MATRIX(MmaHalf, "mma.m16n8k16.f16.f16", unsigned, "r",
       "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
       "{%0,%1}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1};");
MATRIX(MmaS8, "mma.m16n8k32.s32.s8", unsigned, "r",
       "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " SIX_REGISTERS);

struct MmaF64 {
  static constexpr const char* kName = "mma.m8n8k4.f64";
  static constexpr int kSteps = 32;
  double d[2], a, b;
  __device__ void start(const Operands& operands, int i) {
    d[0] = d[1] = operand<double>(operands.zero, i);
    a = b = operand<double>(operands.zero, i + 3);
  }
  __device__ void step() {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(d[0]), "+d"(d[1])
                 : "d"(a), "d"(b));
  }
  __device__ unsigned result() const { return bits(d[0]) ^ bits(d[1]); }
};

}  // namespace instructions
