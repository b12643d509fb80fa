#include <cublas_v2.h>

#include "fault.h"

/// What products of cuBLAS touch beside their matrices: scalars in device memory, a workspace.
namespace {

constexpr int kSize = 32;
constexpr std::size_t kWorkspaceBytes = 1 << 20;

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

/// Matrices that are there before anything else.
float *matrix() {
  float *const values = zeros<float>(kSize * kSize);
  cudaDeviceSynchronize();
  return values;
}

void multiply(cublasHandle_t handle, const float *scalar, const float *a, float *c) {
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSize, kSize, kSize, scalar, a, kSize, a, kSize,
              scalar, c, kSize);
}

/// FAULT workspace_freed_too_early RL0201 out-of-bounds host "the handle has it still"
void workspace_freed_too_early(bool wrong) {
  const float one = 1;
  float *const a = matrix(), *const c = matrix(), *const workspace = unwritten<float>(kSize);
  cublasHandle_t handle = nullptr;
  cublasCreate(&handle);
  cublasSetWorkspace(handle, workspace, kSize * sizeof(float));
  if (wrong) cudaFree(workspace);
  multiply(handle, &one, a, c);
  cudaDeviceSynchronize();
  cublasDestroy(handle);
}

/// FAULT workspace_of_two_streams RL0315 global-race host "cublas_sgemm"
void workspace_of_two_streams(bool wrong) {
  const float one = 1;
  float *const a = matrix(), *const c = matrix(), *const d = matrix();
  char *const workspace = unwritten<char>(2 * kWorkspaceBytes);
  cudaStream_t streams[] = {new_stream(), new_stream()};
  cublasHandle_t handle = nullptr;
  cublasCreate(&handle);
  for (int i = 0; i < 2; ++i) {
    cublasSetStream(handle, streams[i]);
    cublasSetWorkspace(handle, workspace + (wrong ? 0 : i * kWorkspaceBytes), kWorkspaceBytes);
    multiply(handle, &one, a, i == 0 ? c : d);
  }
  for (cudaStream_t stream : streams) cudaStreamSynchronize(stream);
  for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
  cublasDestroy(handle);
}

/// FAULT scalar_of_another_stream RL0315 global-race host "cublas_sgemm"
void scalar_of_another_stream(bool wrong) {
  float *const a = matrix(), *const c = matrix(), *const scalar = matrix();
  cudaStream_t stream = new_stream(), other = new_stream();
  cublasHandle_t handle = nullptr;
  cublasCreate(&handle);
  cublasSetStream(handle, stream);
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  multiply(handle, scalar, a, c);
  cudaMemsetAsync(scalar, 1, sizeof(float), wrong ? other : stream);
  cudaDeviceSynchronize();
  cudaStreamDestroy(stream);
  cudaStreamDestroy(other);
  cublasDestroy(handle);
}

#define ROOFLAB_FAULT(name) \
  Fault { #name, name }
const std::vector<Fault> faults{
    ROOFLAB_FAULT(workspace_freed_too_early),
    ROOFLAB_FAULT(workspace_of_two_streams),
    ROOFLAB_FAULT(scalar_of_another_stream),
};

}  // namespace

int main(int count, char **arguments) { return run_faults(faults, count, arguments); }
