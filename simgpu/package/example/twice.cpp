#include <simgpu/simulated_gpu.h>

#include <cstdio>
#include <vector>

// y[i] = 2 * x[i], for one block of as many threads as there are elements.
constexpr const char* kTwice = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 x, .param .u64 y)
{
  .reg .f32 %f<3>; .reg .b32 %r<2>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd5], %f2;
  ret;
}
)";

int main() {
  simgpu::SimulatedGpu gpu({.gpu = "h100-sxm"});
  const std::vector<float> x = {1, 2, 3};
  const std::uint64_t in = gpu.upload(x);
  const std::uint64_t out = gpu.allocate(x.size() * sizeof(float));
  gpu.launch(gpu.load(kTwice), "twice", {1}, {3}, {in, out});
  for (const float y : gpu.download<float>(out, x.size())) std::printf("%g ", y);

  const simgpu::Activity activity = gpu.collect();
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    std::printf("%s: %.2f us (modelled)\n", kernel.name.c_str(), kernel.time.total_us);
  }
  return activity.findings.empty() ? 0 : 1;
}
