// Calls of libraries that the simulated GPU does not have, declared as far as they are used here.
#include <cuda_runtime.h>

#include <cstdio>

extern "C" {
int cublasHgemm();
int cublasLtCreate(void** handle);
int cusparseCreate(void** handle);
const char* cusparseGetErrorString(int status);
int curandCreateGenerator(void** generator, int type);
int cufftPlan1d(int* plan, int size, int type, int batch);
int cusolverDnCreate(void** handle);
int cudnnCreate(void** handle);
const char* cudnnGetErrorString(int status);
int ncclCommInitAll(void** communicators, int count, const int* devices);
}

/// A program that looks at no status, as many do.
int main() {
  void* handle = nullptr;
  int plan = 0;
  cublasHgemm();
  cublasLtCreate(&handle);
  std::printf("%s\n", cusparseGetErrorString(cusparseCreate(&handle)));
  curandCreateGenerator(&handle, 100);
  cufftPlan1d(&plan, 256, 0x29, 1);
  cusolverDnCreate(&handle);
  std::printf("%s\n", cudnnGetErrorString(cudnnCreate(&handle)));
  ncclCommInitAll(&handle, 1, nullptr);
  std::printf("1234 GFLOP/s\n");
  return 0;
}
