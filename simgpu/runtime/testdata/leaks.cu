#include <cstring>

#include "check.h"

__global__ void fill(int* data) { data[threadIdx.x] = 1; }

// Three allocations of one size are lost after a kernel, one is lost before it, one is freed.
void lose() {
  int *freed, *early, *pooled;
  CHECK(cudaMalloc(&freed, 128));
  CHECK(cudaMalloc(&early, 1000));
  fill<<<1, 32>>>(freed);
  for (int i = 0; i < 3; ++i) {
    int* lost;
    CHECK(cudaMalloc(&lost, 4096));
  }
  CHECK(cudaMallocAsync(&pooled, 64, nullptr));
  CHECK(cudaFree(freed));
  CHECK(cudaDeviceSynchronize());
}

// Events, streams, graphs and executable ones, of which one of each is left, and two graphs, where
// `all` is not set.
void make_handles(bool all) {
  cudaEvent_t first, second;
  CHECK(cudaEventCreate(&first));
  CHECK(cudaEventCreate(&second));
  cudaStream_t one, other;
  CHECK(cudaStreamCreate(&one));
  CHECK(cudaStreamCreate(&other));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  cudaGraph_t clone, captured;
  CHECK(cudaGraphClone(&clone, graph));
  CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamEndCapture(one, &captured));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaEventDestroy(first));
  CHECK(cudaStreamDestroy(one));
  if (!all) return;
  CHECK(cudaEventDestroy(second));
  CHECK(cudaStreamDestroy(other));
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(clone));
  CHECK(cudaGraphDestroy(captured));
}

// Pinned and registered memory, a library, a pool and a texture, which are given back where `all`
// is set.
void make_others(bool all) {
  void* pinned;
  CHECK(cudaMallocHost(&pinned, 5000));
  static float registered[1024];
  CHECK(cudaHostRegister(registered, sizeof registered, cudaHostRegisterDefault));
  const char* ptx =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing() { ret; }\n";
  cudaLibrary_t library;
  CHECK(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool;
  CHECK(cudaMemPoolCreate(&pool, &properties));
  float* texels;
  CHECK(cudaMalloc(&texels, 256));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = texels;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 256;
  cudaTextureDesc sampling = {};
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
  CHECK(cudaFree(texels));
  if (!all) return;
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaMemPoolDestroy(pool));
  CHECK(cudaLibraryUnload(library));
  CHECK(cudaHostUnregister(registered));
  CHECK(cudaFreeHost(pinned));
}

int main(int, char** arguments) {
  if (std::strncmp(arguments[1], "others", 6) == 0) {
    make_others(std::strcmp(arguments[1], "others-given-back") == 0);
    return 0;
  }
  if (std::strncmp(arguments[1], "handles", 7) == 0) {
    make_handles(std::strcmp(arguments[1], "handles-destroyed") == 0);
    return 0;
  }
  lose();
  if (std::strcmp(arguments[1], "reset") == 0) CHECK(cudaDeviceReset());
  if (std::strcmp(arguments[1], "fail") == 0) return 3;
}
