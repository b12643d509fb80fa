#include "simgpu/device/kept_variables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace simgpu::kept_variables_test {
namespace {

class KeptVariablesTest : public ::testing::Test {
 protected:
  std::uint64_t add(const std::string& name, std::uint64_t bytes) {
    const std::uint64_t address = memory_.allocate(bytes, name).value();
    module_.symbols[name] = {.address = address, .bytes = bytes, .shared = nullptr};
    memory_.fill(address, 1, bytes);
    return address;
  }
  int first_byte(std::uint64_t address) const {
    return std::to_integer<int>(*memory_.host(address));
  }

  DeviceMemory memory_{std::uint64_t{64} << 20};
  LoadedModule module_;
  KeptVariables kept_;
};

TEST_F(KeptVariablesTest, HoldWhatTheyHeldWhenTheyWereKept) {
  const std::uint64_t a = add("a", 100), b = add("b", 4);
  kept_.keep(module_, memory_);
  memory_.fill(a, 7, 100);
  kept_.restore(memory_);
  EXPECT_EQ(first_byte(a), 1);
  memory_.fill(b, 8, 4);
  kept_.keep(module_, memory_);
  memory_.fill(b, 9, 4);
  kept_.restore(memory_);
  EXPECT_EQ(first_byte(b), 8);
}

TEST_F(KeptVariablesTest, StayAsTheyAreWhereTheyAreTooLarge) {
  const std::uint64_t large = add("large", KeptVariables::kMostBytes);
  const std::uint64_t small = add("small", 4);
  kept_.keep(module_, memory_);
  memory_.fill(large, 7, KeptVariables::kMostBytes);
  memory_.fill(small, 7, 4);
  kept_.restore(memory_);
  EXPECT_EQ(first_byte(large), 1) << "it came first and fills what may be kept";
  EXPECT_EQ(first_byte(small), 7);
}

TEST_F(KeptVariablesTest, MayBeGone) {
  const std::uint64_t a = add("a", 100);
  kept_.keep(module_, memory_);
  memory_.release(a);
  kept_.restore(memory_);
  EXPECT_EQ(memory_.find(a), nullptr);
}

}  // namespace
}  // namespace simgpu::kept_variables_test
