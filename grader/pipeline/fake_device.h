#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/contract/elements.h"
#include "grader/device/device.h"

namespace rooflab {

/// A GPU with round numbers: 1 TFLOP/s fp32, 100 GB/s, 1 us to launch, an L2 of 1 MB at 1 TB/s.
inline gpu_spec::GpuSpec round_gpu() {
  gpu_spec::GpuSpec gpu;
  gpu.id = "round";
  gpu.name = "Round GPU";
  gpu.compute_capability_major = 8;
  gpu.peak_flops = {{"fp32", 1e12}, {"bf16_tensor", 8e12}};
  gpu.dram_bytes_per_second = 100e9;
  gpu.l2_bytes_per_second = 1e12;
  gpu.l2_bytes = 1'000'000;
  gpu.launch_overhead_us = 1;
  return gpu;
}

/// A device whose runs a test scripts: each run calls `behave`.
class FakeDevice : public Device {
 public:
  using Behaviour = std::function<RunOutcome(const RunRequest&)>;
  explicit FakeDevice(Behaviour behave) : behave_(std::move(behave)), gpu_(round_gpu()) {}

  std::string id() const override { return "sim:round"; }
  std::string name() const override { return "simulated Round GPU"; }
  std::string time_kind() const override { return "modelled"; }
  const gpu_spec::GpuSpec& gpu() const override { return gpu_; }
  RunOutcome run(const RunRequest& request) override {
    ++runs;
    return behave_(request);
  }

  bool checks_every_run() const override { return !checked; }
  CheckedCall check(const RunRequest&) override {
    ++checks;
    return *checked;
  }

  int runs = 0;
  int checks = 0;
  std::optional<CheckedCall> checked;  ///< of a device that checks only when asked

 private:
  Behaviour behave_;
  gpu_spec::GpuSpec gpu_;
};

inline std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline std::vector<float> floats_of(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Contents of every tensor before a call: inputs as given, outputs poisoned.
inline std::vector<std::vector<std::byte>> untouched(const Problem& problem) {
  std::vector<std::vector<std::byte>> contents;
  for (const Tensor& tensor : problem.tensors) {
    contents.push_back(tensor.data.empty() ? std::vector<std::byte>(tensor.bytes(), kPoisonByte)
                                           : tensor.data);
  }
  return contents;
}

}  // namespace rooflab
