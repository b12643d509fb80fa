#include "labs/toolkit/profiler/category.h"

#include <gtest/gtest.h>

namespace rooflab {
namespace {

struct Case {
  const char* name;
  KernelCategory category;
};

class Classify : public ::testing::TestWithParam<Case> {};

TEST_P(Classify, KnowsWhatAKernelComputes) {
  EXPECT_EQ(classify(GetParam().name), GetParam().category) << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(
    Names, Classify,
    ::testing::Values(
        Case{"ampere_sgemm_128x64_tn", KernelCategory::gemm},
        Case{"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize32x32x8", KernelCategory::gemm},
        Case{"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16>(Params)", KernelCategory::gemm},
        Case{"void cublasLt::splitKreduce_kernel<32, 16, int, float>(int)", KernelCategory::gemm},
        Case{"cublas_sgemv", KernelCategory::gemm},
        Case{"void at::native::vectorized_elementwise_kernel<4, at::native::softmax_functor>(int)",
             KernelCategory::elementwise},
        Case{"fused_add(float const*, float*)", KernelCategory::elementwise},
        Case{"compute_address(int*)", KernelCategory::other},  // "add" is no word of it
        Case{"triton_poi_fused_mul_sigmoid_0", KernelCategory::elementwise},
        Case{"void softmax_warp_forward<float>(float*)", KernelCategory::softmax},
        Case{"cunn_SoftMaxForward", KernelCategory::softmax},
        Case{"vectorized_layer_norm_kernel", KernelCategory::layernorm},
        Case{"rmsnorm_rows(float*)", KernelCategory::layernorm},
        Case{"add_rms_norm", KernelCategory::layernorm},
        Case{"flash_fwd_softmax_kernel", KernelCategory::other},
        Case{"Memcpy HtoD", KernelCategory::memory}, Case{"Memset", KernelCategory::memory},
        Case{"", KernelCategory::other}, Case{"\xff<\"", KernelCategory::other}));

TEST(CountKernels, CountsWhatRanOnTheDevice) {
  Profile profile;
  const auto add = [&](ProfiledEvent::Kind kind, const char* name) {
    ProfiledEvent& event = profile.events.emplace_back();
    event.kind = kind;
    event.name = name;
  };
  add(ProfiledEvent::Kind::kernel, "sgemm");
  add(ProfiledEvent::Kind::kernel, "sgemm");
  add(ProfiledEvent::Kind::kernel, "softmax");
  add(ProfiledEvent::Kind::kernel, "layernorm");
  add(ProfiledEvent::Kind::kernel, "gelu");
  add(ProfiledEvent::Kind::kernel, "scan");
  add(ProfiledEvent::Kind::copy, "Memcpy DtoH");
  add(ProfiledEvent::Kind::memset, "Memset");
  add(ProfiledEvent::Kind::api, "cudaLaunchKernel");
  add(ProfiledEvent::Kind::range, "softmax");
  const KernelCounts counts = count_kernels(profile);
  EXPECT_EQ(counts.gemm, 2);
  EXPECT_EQ(counts.softmax, 1);
  EXPECT_EQ(counts.layernorm, 1);
  EXPECT_EQ(counts.elementwise, 1);
  EXPECT_EQ(counts.other, 1);
  EXPECT_EQ(counts.memory, 2);
  EXPECT_EQ(counts.total, 8);
}

}  // namespace
}  // namespace rooflab
