#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "grader/device/sim/sim_device.h"
#include "grader/device/testing/scaling.h"

/// What the tests of a simulated GPU share.
namespace rooflab {

inline DeviceOptions sim_options() {
  const std::filesystem::path build = ROOFLAB_BINARY_DIR;
  DeviceOptions result = test_options();
  result.simgpu_device = build / "bin" / "simgpu-device";
  result.runtime_libraries = build / "lib" / "simgpu";
  return result;
}

class SimDeviceTest : public testing::Test {
 protected:
  RunOutcome run(const std::string& entry, const std::string& library = "libgpu_tasks.so",
                 std::chrono::duration<double> time_limit = std::chrono::seconds(60),
                 bool timed = false) {
    RunRequest request = request_of(problem_, entry, library, time_limit);
    request.timed = timed;
    return device_.run(request);
  }

  Problem problem_ = scaling_problem();
  SimDevice device_{"a100", sim_options()};
};

inline std::vector<float> floats_in(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// A request that calls the function again, with all inputs one larger and another factor.
inline RunRequest request_twice(const Problem& problem, const std::string& entry) {
  RunRequest request = request_of(problem, entry, "libgpu_tasks.so", std::chrono::seconds(60));
  request.fresh = [&problem](int) {
    Problem other = problem;
    std::vector<float> x = floats_in(other.tensors[0].data);
    for (float& value : x) value += 1;
    std::memcpy(other.tensors[0].data.data(), x.data(), other.tensors[0].data.size());
    other.parameters["alpha"] = 5.0;
    return other;
  };
  request.further = {{}};
  return request;
}

}  // namespace rooflab
