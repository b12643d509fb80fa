#pragma once

#include <cooperative_groups.h>

#include <chrono>

#include "measure.cuh"

// Topic launch: what launches, events and copies take, on the device and for the host.
namespace instructions {

__global__ void empty() {}
__global__ void empty_with_arguments(Operands, Operands, Operands) {}
__global__ void __launch_bounds__(256) many_registers(Operands operands) {
  // Live all at once, so that a thread gets about 128 registers.
  unsigned values[112];
#pragma unroll
  for (int i = 0; i < 112; ++i) values[i] = operands.narrow[i * 32 + operands.zero];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 112; ++i) {
    if (values[i] == 1 + operands.zero) operands.sink[i] = values[i] + values[111 - i];
  }
}
__global__ void grid_barriers(int count) {
  for (int i = 0; i < count; ++i) cooperative_groups::this_grid().sync();
}

/// Microseconds of the host for `count` calls and the wait for them, each.
template <typename Call>
double host_microseconds(Measure& m, int count, Call call) {
  std::vector<double> times;
  for (int run = -1; run < m.runs; ++run) {
    check(cudaDeviceSynchronize(), "synchronize");
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) call();
    check(cudaDeviceSynchronize(), "synchronize");
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    if (run >= 0) times.push_back(took.count() / count);
  }
  return median(times);
}

inline void launches(Measure& m) {
  const int count = m.small ? 20 : 500;
  const auto each = [&](const char* item, auto call) {
    const double us = m.microseconds([&] {
      for (int i = 0; i < count; ++i) call();
    });
    m.print("launch", item, us / count, "us");
  };
  each("empty kernel after kernel", [] { empty<<<1, 32>>>(); });
  each("empty kernel on all SMs after kernel", [&] { empty<<<m.sms, 1024>>>(); });
  each("empty kernel with 72 bytes of arguments",
       [&] { empty_with_arguments<<<1, 32>>>(m.operands, m.operands, m.operands); });
  m.print("launch", "one empty kernel between events", m.microseconds([] { empty<<<1, 32>>>(); }),
          "us");
  m.print("launch", "two events with nothing between", m.microseconds([] {}), "us");
  const auto empty_and_wait = [] {
    empty<<<1, 32>>>();
    cudaDeviceSynchronize();
  };
  m.print("launch", "empty kernel and wait, host", host_microseconds(m, count, empty_and_wait),
          "us");
  m.print("launch", "empty kernels, host", host_microseconds(m, count, [] { empty<<<1, 32>>>(); }),
          "us");
  cudaEvent_t event;
  check(cudaEventCreate(&event), "event");
  m.print("launch", "event record, host",
          host_microseconds(m, count, [&] { cudaEventRecord(event); }), "us");
  each("empty kernel and event record", [&] {
    empty<<<1, 32>>>();
    cudaEventRecord(event);
  });
  check(cudaEventDestroy(event), "event");
}

inline void graphs(Measure& m) {
  cudaStream_t stream;
  check(cudaStreamCreate(&stream), "stream");
  for (const int nodes : {1, 10, 100}) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
    for (int i = 0; i < nodes; ++i) empty<<<1, 32, 0, stream>>>();
    check(cudaStreamEndCapture(stream, &graph), "capture");
    check(cudaGraphInstantiate(&executable, graph, 0), "graph");
    const int count = m.small ? 3 : 50;
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start), "event");
    check(cudaEventCreate(&stop), "event");
    std::vector<double> times;
    for (int run = -1; run < m.runs; ++run) {
      check(cudaEventRecord(start, stream), "event");
      for (int i = 0; i < count; ++i) check(cudaGraphLaunch(executable, stream), "graph");
      check(cudaEventRecord(stop, stream), "event");
      check(cudaEventSynchronize(stop), "graph");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, start, stop), "event");
      if (run >= 0) times.push_back(1e3 * milliseconds / count);
    }
    const std::string name = "graph of " + std::to_string(nodes) + " empty kernels";
    m.print("launch", name, median(times), "us");
    m.print("launch", name + ", each", median(times) / nodes, "us");
    check(cudaEventDestroy(start), "event");
    check(cudaEventDestroy(stop), "event");
    check(cudaGraphExecDestroy(executable), "graph");
    check(cudaGraphDestroy(graph), "graph");
  }
  check(cudaStreamDestroy(stream), "stream");
}

inline void copies(Measure& m) {
  const std::size_t most = 64 << 20;
  char *a, *b, *pinned;
  check(cudaMalloc(&a, most), "cudaMalloc");
  check(cudaMalloc(&b, most), "cudaMalloc");
  check(cudaMallocHost(&pinned, most), "cudaMallocHost");
  std::vector<char> pageable(most, 1);
  const auto one = [&](const char* what, const char* size, auto call) {
    m.print("launch", std::string(what) + " " + size, m.microseconds(call), "us");
  };
  const std::pair<const char*, std::size_t> sizes[] = {
      {"4 KiB", 4 << 10}, {"1 MiB", 1 << 20}, {"64 MiB", 64 << 20}};
  for (const auto& [size, bytes] : sizes) {
    const std::size_t n = bytes;
    one("memset", size, [&] { cudaMemsetAsync(a, 0, n); });
    one("memcpy d2d", size, [&] { cudaMemcpyAsync(b, a, n, cudaMemcpyDeviceToDevice); });
    one("memcpy h2d pinned", size, [&] { cudaMemcpyAsync(a, pinned, n, cudaMemcpyHostToDevice); });
    one("memcpy d2h pinned", size, [&] { cudaMemcpyAsync(pinned, a, n, cudaMemcpyDeviceToHost); });
    one("memcpy h2d pageable", size,
        [&] { cudaMemcpy(a, pageable.data(), n, cudaMemcpyHostToDevice); });
    one("memcpy d2h pageable", size,
        [&] { cudaMemcpy(pageable.data(), a, n, cudaMemcpyDeviceToHost); });
  }
  check(cudaFree(a), "cudaFree");
  check(cudaFree(b), "cudaFree");
  check(cudaFreeHost(pinned), "cudaFreeHost");
}

inline void barriers(Measure& m) {
  for (const int threads : {32, 256, 1024}) {
    const auto time = [&](int count) {
      return m.microseconds([&] {
        void* arguments[] = {&count};
        check(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_barriers), dim3(m.sms),
                                          dim3(threads), arguments, 0, nullptr),
              "cooperative");
      });
    };
    const int count = m.small ? 2 : 100;
    const std::string with = " of " + std::to_string(threads) + " threads, a block an SM";
    if (threads == 32) m.print("launch", "cooperative kernel without a barrier", time(0), "us");
    m.print("launch", "grid barrier" + with, (time(2 * count) - time(count)) / count, "us");
  }
}

/// How fast blocks start that have next to nothing to do.
inline void block_rate(Measure& m) {
  const int most = m.small ? 20000 : 1000000;
  for (const int threads : {32, 128, 256, 512, 1024}) {
    const auto time = [&](int blocks) {
      return m.microseconds([&] { empty<<<blocks, threads>>>(); });
    };
    const double us = time(most) - time(most / 10);
    m.print("launch", "blocks of " + std::to_string(threads) + " threads", 0.9 * most / us,
            "blocks/us");
  }
  const auto time = [&](int blocks) {
    return m.microseconds([&] { many_registers<<<blocks, 256>>>(m.operands); });
  };
  const int blocks = m.small ? 20 * m.sms : 200 * m.sms;
  m.print("launch", "blocks of 256 threads with 128 registers, 112 loads",
          blocks / (time(2 * blocks) - time(blocks)), "blocks/us");
}

inline void launch(Measure& m) {
  launches(m);
  graphs(m);
  copies(m);
  barriers(m);
  block_rate(m);
}

}  // namespace instructions
