#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "simgpu/exec/engine_testing.h"
#include "simgpu/provenance/provenance.h"

namespace simgpu::testing {

/// Elements by the name of their array and their number, with how often they were read.
using Elements = std::map<std::pair<std::string, std::size_t>, std::uint64_t>;

/// Kernels that are followed, for tests that read as sentences.
class Followed : public ::testing::Test {
 protected:
  /// @param ptx a module of its own; nothing: testdata/flows.cu
  explicit Followed(const std::string& ptx = "")
      : device_(ptx.empty() ? Device::with_test_kernels() : Device(ptx)) {}

  /// An array of elements `T` that has come from outside.
  template <class T>
  std::uint64_t array(const std::string& name, const std::vector<T>& values) {
    const std::uint64_t address = device_.put(values);
    arrays_[address] = {name, sizeof(T), values.size()};
    return address;
  }
  std::uint64_t floats(const std::string& name, std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 13) + 1;
    return array(name, values);
  }

  template <class... Arguments>
  void run(const std::string& kernel, Launch launch, Arguments... arguments) {
    launch.observer = provenance_.get();
    const LaunchResult result = device_.run(kernel, launch, arguments...);
    ASSERT_EQ(result.status, LaunchStatus::ok) << kernel;
  }

  MemoryOrigin origin(std::uint64_t array, std::size_t element) {
    const std::uint32_t bytes = arrays_.at(array).bytes;
    return provenance_->origin_of(array + element * bytes, bytes);
  }
  /// What went into an element; "incomplete" is among it where more may have.
  Elements sources(std::uint64_t array, std::size_t element) {
    const MemoryOrigin found = origin(array, element);
    Elements elements;
    for (const OriginRead& read : found.reads) add(read, elements);
    if (!found.complete) elements[{"incomplete", 0}] = 1;
    return elements;
  }

  Device device_;
  std::unique_ptr<Provenance> provenance_ = std::make_unique<Provenance>();

 private:
  struct Array {
    std::string name;
    std::uint32_t bytes = 0;
    std::size_t count = 0;
  };

  void add(const OriginRead& read, Elements& elements) {
    const auto above = arrays_.upper_bound(read.address);
    ASSERT_NE(above, arrays_.begin());
    const auto& [base, array] = *std::prev(above);
    const std::uint64_t first = (read.address - base) / array.bytes;
    const std::uint64_t last = (read.address + read.bytes - 1 - base) / array.bytes;
    for (std::uint64_t i = first; i <= last; ++i) elements[{array.name, i}] += read.times;
  }

  std::map<std::uint64_t, Array> arrays_;
};

}  // namespace simgpu::testing
