#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "grader/contract/elements.h"
#include "grader/device/device.h"
#include "grader/device/open_device.h"
#include "grader/device/testing/folders.h"

/// What the tests of every device run: y = alpha x, and the libraries that do it, built for tests.
namespace rooflab {

inline constexpr std::int64_t kElements = 1000;

/// x[i] = i / 2, alpha = 3, y still to be written.
inline Problem scaling_problem() {
  std::vector<float> x(kElements);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i) * 0.5F;
  }
  Tensor input{.name = "x", .role = Role::input, .shape = {kElements}, .data = {}};
  input.data.resize(x.size() * sizeof(float));
  std::memcpy(input.data.data(), x.data(), input.data.size());
  Tensor output{.name = "y", .role = Role::output, .shape = {kElements}, .data = {}};
  return {.parameters = {{"n", kElements}, {"alpha", 3.0}}, .tensors = {input, output}};
}

/// Every element of y, exactly.
inline void expect_scaled(const RunOutcome& outcome) {
  ASSERT_EQ(outcome.outputs.size(), 2U);
  for (std::size_t i = 0; i < kElements; ++i) {
    ASSERT_EQ(element_at(ElementType::float32, outcome.outputs[1], i),
              1.5 * static_cast<double>(i));
  }
}

/// Options that hold for any device of this build tree.
inline DeviceOptions test_options() {
  DeviceOptions options;
  options.gpu_specs = checkout_folder() / "specs" / "gpus";
  options.guest_program = build_folder() / "bin" / "rooflab-guest";
  return options;
}

/// @param library a file name in the build tree's tests/
inline RunRequest request_of(const Problem& problem, const std::string& entry,
                             const std::string& library, std::chrono::duration<double> time_limit) {
  RunRequest request;
  request.library = build_folder() / "tests" / library;
  request.entry = entry;
  request.problem = &problem;
  request.time_limit = time_limit;
  return request;
}

}  // namespace rooflab
