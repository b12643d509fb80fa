#include <dlfcn.h>

#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "check.h"

// Kernels that a program loads while it runs: PTX text, and what NVRTC compiles.

const char* kPtx = R"(
.version 8.0
.target sm_80
.address_size 64

.global .align 4 .u32 offset = 5;

.visible .entry add_offset(.param .u64 data, .param .u32 factor) {
  .reg .u64 %rd<4>;
  .reg .u32 %r<6>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [factor];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r3, [offset];
  mad.lo.u32 %r4, %r2, %r1, %r3;
  st.global.u32 [%rd1], %r4;
  ret;
}

.visible .entry nothing() {
  ret;
}
)";

cudaLibrary_t load(const char* text) {
  cudaLibrary_t library = nullptr;
  CHECK(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
  return library;
}

/// Runs add_offset on 32 threads and expects `offset` plus a multiple in each element.
void expect_offsets(cudaKernel_t kernel, unsigned offset) {
  unsigned* data;
  unsigned factor = 3, host[32];
  CHECK(cudaMalloc(&data, sizeof host));
  void* arguments[] = {&data, &factor};
  CHECK(cudaLaunchKernel(kernel, 1, 32, arguments, 0, nullptr));
  CHECK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < 32; ++i) EXPECT(host[i] == 3 * i + offset);
  CHECK(cudaFree(data));
}

void kernels_and_variables_of_a_library() {
  cudaLibrary_t library = load(kPtx);
  unsigned count = 0;
  CHECK(cudaLibraryGetKernelCount(&count, library));
  EXPECT(count == 2);
  cudaKernel_t all[4] = {}, kernel, again, none;
  CHECK(cudaLibraryEnumerateKernels(all, 4, library));
  CHECK(cudaLibraryGetKernel(&kernel, library, "add_offset"));
  CHECK(cudaLibraryGetKernel(&again, library, "add_offset"));
  EXPECT(kernel == again && (kernel == all[0] || kernel == all[1]) && all[2] == nullptr);
  EXPECT_ERROR(cudaLibraryGetKernel(&none, library, "absent"), cudaErrorSymbolNotFound);
  const char* name = nullptr;
  CHECK(cudaFuncGetName(&name, kernel));
  EXPECT(std::strcmp(name, "add_offset") == 0);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, kernel));
  EXPECT(attributes.numRegs > 0 && attributes.ptxVersion == 80);
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
  CHECK(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        64 * 1024, 0));

  expect_offsets(kernel, 5);
  void* offset = nullptr;
  size_t bytes = 0;
  CHECK(cudaLibraryGetGlobal(&offset, &bytes, library, "offset"));
  EXPECT(bytes == sizeof(unsigned));
  EXPECT_ERROR(cudaLibraryGetGlobal(&offset, &bytes, library, "absent"), cudaErrorSymbolNotFound);
  CHECK(cudaLibraryGetGlobal(&offset, nullptr, library, "offset"));
  const unsigned value = 70;
  CHECK(cudaMemcpy(offset, &value, sizeof value, cudaMemcpyHostToDevice));
  expect_offsets(kernel, 70);

  CHECK(cudaLibraryUnload(library));
  EXPECT_ERROR(cudaLaunchKernel(kernel, 1, 32, nullptr, 0, nullptr),
               cudaErrorInvalidResourceHandle);
  EXPECT_ERROR(cudaLibraryUnload(library), cudaErrorInvalidResourceHandle);
  EXPECT_ERROR(cudaLibraryGetKernelCount(&count, library), cudaErrorInvalidResourceHandle);
}

void a_library_survives_a_reset() {
  cudaLibrary_t library = load(kPtx);
  cudaKernel_t kernel;
  CHECK(cudaLibraryGetKernel(&kernel, library, "add_offset"));
  CHECK(cudaDeviceReset());
  expect_offsets(kernel, 5);
  CHECK(cudaLibraryUnload(library));
}

void a_library_from_a_file() {
  const char* file = "library.ptx";
  std::ofstream(file) << kPtx;
  cudaLibrary_t library;
  CHECK(cudaLibraryLoadFromFile(&library, file, nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t kernel;
  CHECK(cudaLibraryGetKernel(&kernel, library, "add_offset"));
  expect_offsets(kernel, 5);
  CHECK(cudaLibraryUnload(library));
  EXPECT_ERROR(
      cudaLibraryLoadFromFile(&library, "absent", nullptr, nullptr, 0, nullptr, nullptr, 0),
      cudaErrorFileNotFound);
}

void attributes_of_a_launch() {
  cudaLibrary_t library = load(kPtx);
  cudaKernel_t kernel;
  CHECK(cudaLibraryGetKernel(&kernel, library, "nothing"));
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  attribute.id = cudaLaunchAttributePriority;
  CHECK(cudaLaunchKernelExC(&config, kernel, nullptr));
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  CHECK(cudaLaunchKernelExC(&config, kernel, nullptr));
  attribute.val.clusterDim.x = 2;
  EXPECT_ERROR(cudaLaunchKernelExC(&config, kernel, nullptr), cudaErrorNotSupported);
  CHECK(cudaLibraryUnload(library));
}

void errors_of_bad_images() {
  cudaLibrary_t library;
  const auto error_of = [&](const char* text) {
    return cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0);
  };
  EXPECT_ERROR(error_of(""), cudaErrorInvalidKernelImage);
  EXPECT_ERROR(error_of("no PTX"), cudaErrorInvalidKernelImage);
  EXPECT_ERROR(error_of("\x7F"
                        "ELF"),
               cudaErrorNoKernelImageForDevice);
  EXPECT_ERROR(error_of(".version 8.0\n.target sm_80\n.visible .entry broken( {"),
               cudaErrorInvalidPtx);
  EXPECT_ERROR(error_of(".version 8.0\n.target sm_100\n.address_size 64\n"), cudaErrorInvalidPtx);
  cudaJitOption option = cudaJitMaxRegisters;
  void* value = nullptr;
  EXPECT_ERROR(cudaLibraryLoadData(&library, kPtx, &option, &value, 1, nullptr, nullptr, 0),
               cudaErrorNotSupported);
}

// NVRTC, which may be absent where this is compiled: by its C interface alone.
using nvrtcProgram = struct Opaque*;
template <typename Function>
Function* find(void* library, const char* name) {
  auto* function = reinterpret_cast<Function*>(dlsym(library, name));
  EXPECT(function != nullptr);
  return function;
}

std::string compile(const char* nvrtc, const char* source) {
  void* library = dlopen(nvrtc, RTLD_NOW);
  if (library == nullptr) std::printf("%s\n", dlerror());
  EXPECT(library != nullptr);
  nvrtcProgram program;
  EXPECT(find<int(nvrtcProgram*, const char*, const char*, int, const char* const*,
                  const char* const*)>(library, "nvrtcCreateProgram")(
             &program, source, "program.cu", 0, nullptr, nullptr) == 0);
  const char* options[] = {"--gpu-architecture=compute_80", "-lineinfo"};
  EXPECT(find<int(nvrtcProgram, int, const char* const*)>(library, "nvrtcCompileProgram")(
             program, 2, options) == 0);
  size_t bytes = 0;
  EXPECT(find<int(nvrtcProgram, size_t*)>(library, "nvrtcGetPTXSize")(program, &bytes) == 0);
  std::string ptx(bytes, '\0');
  EXPECT(find<int(nvrtcProgram, char*)>(library, "nvrtcGetPTX")(program, ptx.data()) == 0);
  return ptx;
}

void a_kernel_that_nvrtc_compiles(const char* nvrtc) {
  const std::string ptx = compile(nvrtc, R"(
    extern "C" __global__ void blend(const float* a, const float* b, float* out, int count) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < count) out[i] = tanhf(a[i]) * 0.5f + b[i];
    })");
  cudaLibrary_t library = load(ptx.c_str());
  cudaKernel_t kernel;
  CHECK(cudaLibraryGetKernel(&kernel, library, "blend"));
  int count = 1000;
  std::vector<float> host(count);
  for (int i = 0; i < count; ++i) host[i] = 0.001f * static_cast<float>(i);
  float *a, *b;
  CHECK(cudaMalloc(&a, count * sizeof(float)));
  CHECK(cudaMalloc(&b, count * sizeof(float)));
  CHECK(cudaMemcpy(a, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(b, 0, count * sizeof(float)));
  void* arguments[] = {&a, &b, &b, &count};
  CHECK(cudaLaunchKernel(kernel, 4, 256, arguments, 0, nullptr));
  std::vector<float> back(count);
  CHECK(cudaMemcpy(back.data(), b, count * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; ++i) EXPECT(std::abs(back[i] - 0.5f * std::tanh(host[i])) <= 1e-6f);
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaLibraryUnload(library));
}

// With the path of libnvrtc: its kernel alone.
int main(int count, char** arguments) {
  if (count == 2) {
    a_kernel_that_nvrtc_compiles(arguments[1]);
    std::printf("the compiled kernel is right\n");
    return 0;
  }
  kernels_and_variables_of_a_library();
  a_library_survives_a_reset();
  a_library_from_a_file();
  attributes_of_a_launch();
  errors_of_bad_images();
  std::printf("libraries are right\n");
}
