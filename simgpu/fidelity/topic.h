#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

/// A topic is a function that prints lines `topic item inputs -> result`. It runs in a process of
/// its own, and is there because a source of this folder says TOPIC.
namespace fidelity {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Topic {
  std::string name;
  void (*run)();
};

inline std::vector<Topic>& topics() {
  static std::vector<Topic> all;
  return all;
}

struct Registration {
  Registration(const char* name, void (*run)()) { topics().push_back({name, run}); }
};

#define FIDELITY_JOIN_(a, b) a##b
#define FIDELITY_JOIN(a, b) FIDELITY_JOIN_(a, b)
#define FIDELITY_LINE(name) FIDELITY_JOIN(name, __LINE__)

/// TOPIC("name", function);
#define TOPIC(name, function) \
  static const ::fidelity::Registration FIDELITY_LINE(registration_) { name, function }

/// The error that a launch and what it did came to. After it the device is as new.
inline cudaError_t settle() {
  const cudaError_t launched = cudaGetLastError();
  const cudaError_t ended = cudaDeviceSynchronize();
  const cudaError_t error = launched != cudaSuccess ? launched : ended;
  if (error != cudaSuccess) {
    cudaGetLastError();
    cudaDeviceReset();
  }
  return error;
}

/// What a line says of an item that gave no result: simgpu's way to refuse is an error, too.
inline std::string failure(cudaError_t error) {
  if (error == cudaErrorNotSupported) return "refused";
  return cudaGetErrorName(error);
}

/// A buffer of both sides, for one kernel.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::vector<T> values) : host_(std::move(values)) {
    cudaMalloc(&device_, host_.size() * sizeof(T) + 256);
    cudaMemcpy(device_, host_.data(), host_.size() * sizeof(T), cudaMemcpyHostToDevice);
  }
  explicit Buffer(std::size_t size) : Buffer(std::vector<T>(size)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    cudaFree(device_);
    cudaGetLastError();  // A reset has freed it before.
  }

  T* device() { return device_; }
  const std::vector<T>& fetch() {
    cudaMemcpy(host_.data(), device_, host_.size() * sizeof(T), cudaMemcpyDeviceToHost);
    return host_;
  }

 private:
  std::vector<T> host_;
  T* device_ = nullptr;
};

/// Some numbers without a pattern, the same in every run.
class Random {
 public:
  explicit Random(u64 seed) : state_(seed * 0x9e3779b97f4a7c15U + 0x1234567) {}
  u64 next() {
    state_ += 0x9e3779b97f4a7c15U;
    u64 z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  u32 below(u32 bound) { return static_cast<u32>(next() >> 33) % bound; }

 private:
  u64 state_;
};

}  // namespace fidelity
