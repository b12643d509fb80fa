#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "simgpu/exec/engine.h"
#include "simgpu/native/native_kernels.h"

/// Holds native code against the interpreter: with SIMGPU_TEST_NATIVE=1 in the environment, every
/// launch of a test is run twice, and both have to do the same.
namespace simgpu::testing {

/// nullptr unless the environment asks for native code.
inline native::NativeKernels* native_kernels() {
  static const std::unique_ptr<native::NativeKernels> kernels =
      std::getenv("SIMGPU_TEST_NATIVE") == nullptr
          ? nullptr
          : std::make_unique<native::NativeKernels>(native::NativeOptions{.waits = true});
  return kernels.get();
}

inline void compile_for_tests(const Program& program) {
  if (native_kernels() == nullptr) return;
  EXPECT_TRUE(native_kernels()->compile_all(program)) << "there is no native code";
}

/// What a launch can change: the contents of all memory, and what of it is initialised.
class MemoryImage {
 public:
  explicit MemoryImage(const DeviceMemory& memory) {
    for (const Allocation& allocation : memory.live_allocations()) {
      Copy copy{allocation.base, std::vector<std::byte>(allocation.bytes), {}};
      memory.read(copy.base, copy.bytes);
      const std::uint8_t* const shadow = memory.shadow(copy.base);
      copy.shadow.assign(shadow, shadow + (allocation.bytes + 7) / 8);
      copies_.push_back(std::move(copy));
    }
  }
  void put_back(DeviceMemory& memory) const {
    for (const Copy& copy : copies_) {
      memory.write(copy.base, copy.bytes);
      std::memcpy(memory.shadow(copy.base), copy.shadow.data(), copy.shadow.size());
    }
  }
  bool operator==(const MemoryImage&) const = default;
  /// Where two images of the same allocations differ first: "allocation 1, byte 24: 7f, not ff".
  std::string difference(const MemoryImage& other) const {
    std::ostringstream text;
    for (std::size_t i = 0; i < std::min(copies_.size(), other.copies_.size()); ++i) {
      const auto& [base, bytes, shadow] = copies_[i];
      if (shadow != other.copies_[i].shadow) text << "allocation " << i << ", what is written; ";
      const auto at = std::ranges::mismatch(bytes, other.copies_[i].bytes);
      if (at.in1 == bytes.end()) continue;
      text << "allocation " << i << ", byte " << at.in1 - bytes.begin() << ": " << std::hex
           << std::to_integer<int>(*at.in1) << ", not " << std::to_integer<int>(*at.in2);
      break;
    }
    return text.str();
  }

 private:
  struct Copy {
    std::uint64_t base = 0;
    std::vector<std::byte> bytes;
    std::vector<std::uint8_t> shadow;
    bool operator==(const Copy&) const = default;
  };
  std::vector<Copy> copies_;
};

inline void expect_same(const LaunchResult& native, const LaunchResult& interpreted) {
  EXPECT_EQ(native.status, interpreted.status);
  EXPECT_TRUE(native.counters == interpreted.counters) << "the counters differ";
  EXPECT_TRUE(native.executed == interpreted.executed) << "the counts by instruction differ";
  EXPECT_TRUE(native.findings == interpreted.findings) << "the findings differ";
  EXPECT_EQ(native.printed, interpreted.printed);
  EXPECT_EQ(native.sampled_blocks, interpreted.sampled_blocks);
  EXPECT_EQ(native.touched, interpreted.touched);
}

/// execute(), after the same without checkers, interpreted and natively, when the environment asks
/// for it.
inline LaunchResult execute_both(const Program& program, const LaunchRequest& request,
                                 DeviceMemory& memory, const gpu_spec::GpuSpec& gpu,
                                 EngineOptions options) {
  if (native_kernels() == nullptr) return execute(program, request, memory, gpu, options);
  const MemoryImage before(memory);
  EngineOptions unchecked = options;
  unchecked.checkers = false;
  const LaunchResult interpreted = execute(program, request, memory, gpu, unchecked);
  const MemoryImage after(memory);
  before.put_back(memory);
  unchecked.native = native_kernels();
  const LaunchResult native = execute(program, request, memory, gpu, unchecked);
  expect_same(native, interpreted);
  const MemoryImage natively(memory);
  EXPECT_TRUE(natively == after) << natively.difference(after);
  before.put_back(memory);
  return execute(program, request, memory, gpu, options);
}

}  // namespace simgpu::testing
