#include "ops.cuh"

/// Instructions that PTX has for sm_90 alone. Code of another architecture does not have them, and
/// its lines say so; simgpu refuses those that it does not know.
namespace {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define SM90_ASM(...) asm volatile("trap;")
#else
#define SM90_ASM(...) asm volatile(__VA_ARGS__)
#endif

__global__ void probe() {}

#define SM90_1(R, A, text)                                                                      \
  struct FIDELITY_LINE(Op) {                                                                    \
    static __device__ ::fidelity::u64 of(::fidelity::u64 a, ::fidelity::u64, ::fidelity::u64) { \
      TYPE_##R result = static_cast<TYPE_##A>(a);                                               \
      SM90_ASM(text " %0, %1;" : "=" REG_##R(result) : REG_##A(static_cast<TYPE_##A>(a)));      \
      return result;                                                                            \
    }                                                                                           \
  };                                                                                            \
  ADD_OP_WITH(text, #R #A, nullptr)
#define SM90_2(R, A, B, text)                                                                     \
  struct FIDELITY_LINE(Op) {                                                                      \
    static __device__ ::fidelity::u64 of(::fidelity::u64 a, ::fidelity::u64 b, ::fidelity::u64) { \
      TYPE_##R result = static_cast<TYPE_##A>(a + b);                                             \
      SM90_ASM(text " %0, %1, %2;"                                                                \
               : "=" REG_##R(result)                                                              \
               : REG_##A(static_cast<TYPE_##A>(a)), REG_##B(static_cast<TYPE_##B>(b)));           \
      return result;                                                                              \
    }                                                                                             \
  };                                                                                              \
  ADD_OP_WITH(text, #R #A #B, nullptr)

SM90_1(b, b, "ex2.approx.ftz.bf16");
SM90_1(B, B, "ex2.approx.ftz.bf16x2");
SM90_1(b, b, "tanh.approx.bf16");
SM90_1(B, B, "tanh.approx.bf16x2");
SM90_2(b, b, b, "add.rn.bf16");
SM90_2(b, b, b, "sub.rn.bf16");
SM90_2(b, b, b, "mul.rn.bf16");
SM90_2(B, B, B, "add.rn.bf16x2");
SM90_2(B, B, B, "mul.rn.bf16x2");
SM90_2(w, f, f, "cvt.rn.satfinite.e4m3x2.f32");
SM90_2(w, f, f, "cvt.rn.satfinite.e5m2x2.f32");
SM90_2(w, f, f, "cvt.rn.satfinite.relu.e4m3x2.f32");
SM90_1(w, H, "cvt.rn.satfinite.e4m3x2.f16x2");
SM90_1(w, H, "cvt.rn.satfinite.e5m2x2.f16x2");
SM90_1(H, w, "cvt.rn.f16x2.e4m3x2");
SM90_1(H, w, "cvt.rn.f16x2.e5m2x2");
SM90_1(f, b, "cvt.f32.bf16");
SM90_1(b, i, "cvt.rn.bf16.s32");
SM90_1(b, i, "cvt.rz.bf16.u32");
SM90_1(b, h, "cvt.rn.bf16.f16");
SM90_1(h, b, "cvt.rz.f16.bf16");
SM90_1(i, b, "cvt.rzi.s32.bf16");
SM90_1(b, d, "cvt.rn.bf16.f64");
SM90_1(i, f, "cvt.rn.tf32.f32");
SM90_1(i, f, "cvt.rz.relu.tf32.f32");
SM90_2(f, f, f, "min.xorsign.abs.f32");
SM90_2(h, h, h, "max.xorsign.abs.f16");
SM90_2(B, B, B, "min.NaN.xorsign.abs.bf16x2");
SM90_2(H, H, H, "min.s16x2");
SM90_2(H, H, H, "max.u16x2");
SM90_2(H, H, H, "add.u16x2");
SM90_2(H, H, H, "max.relu.s16x2");

void sm90() {
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, probe) != cudaSuccess || attributes.ptxVersion < 90) {
    std::printf("sm90 code -> absent\n");
    return;
  }
  fidelity::run_ops("sm90", fidelity::ops_here());
}
TOPIC("sm90", sm90);

}  // namespace
