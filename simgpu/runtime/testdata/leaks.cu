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

int main(int, char** arguments) {
  if (std::strncmp(arguments[1], "handles", 7) == 0) {
    make_handles(std::strcmp(arguments[1], "handles-destroyed") == 0);
    return 0;
  }
  lose();
  if (std::strcmp(arguments[1], "reset") == 0) CHECK(cudaDeviceReset());
  if (std::strcmp(arguments[1], "fail") == 0) return 3;
}
