#include "simgpu/device/allocations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace simgpu::allocations_test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

/// With as little of a device as it takes.
class AllocationsTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kLimit = std::uint64_t{128} << 20;

  std::uint64_t allocate(std::uint64_t bytes) {
    std::uint64_t address = 0;
    EXPECT_EQ(allocations_.allocate(bytes, &address), CudaError::success);
    return address;
  }

  const gpu_spec::GpuSpec gpu_;
  const DeviceOptions options_{.memory_limit = kLimit};
  DeviceMemory memory_{kLimit};
  Timeline timeline_;
  ActivityLog log_;
  Fault fault_{log_};
  SinceMark since_mark_;
  MemoryPools pools_;
  LoadedModules modules_{gpu_, options_, memory_, log_};
  HostFindings host_findings_{options_, memory_, log_, fault_, since_mark_};
  Streams streams_{gpu_, options_, memory_, timeline_, log_, modules_, pools_};
  Allocations allocations_{options_, memory_, timeline_, log_, pools_, streams_, host_findings_};
};

TEST_F(AllocationsTest, KnowWhereTheyWereMade) {
  const std::uint64_t first = allocate(256);
  allocations_.note_kernel(std::make_shared<const std::string>("scale"));
  const std::uint64_t second = allocate(512);
  EXPECT_EQ(allocations_.live().at(first).number, 1U);
  EXPECT_EQ(allocations_.live().at(first).after, nullptr);
  EXPECT_EQ(allocations_.live().at(second).number, 2U);
  EXPECT_EQ(*allocations_.live().at(second).after, "scale");
}

TEST_F(AllocationsTest, BelongToTheGuestAlone) {
  const std::uint64_t trusted = memory_.allocate(256, "an input").value();
  EXPECT_EQ(allocations_.release(trusted), CudaError::invalid_value);
  EXPECT_THAT(log_.activity().findings, SizeIs(1));
  allocate(256);
  allocations_.release_all();
  EXPECT_THAT(allocations_.live(), IsEmpty());
  EXPECT_NE(memory_.find(trusted), nullptr);
  EXPECT_EQ(memory_.allocated(), 256U);
  EXPECT_EQ(allocations_.live().at(allocate(256)).number, 1U) << "of the next guest";
}

TEST_F(AllocationsTest, OfPoolsLeaveTheirMemoryToThePool) {
  std::uint64_t address = 0;
  ASSERT_EQ(allocations_.allocate_from_pool(256, 0, &address), CudaError::success);
  EXPECT_EQ(allocations_.free_bytes(), kLimit - MemoryPool::kStep);
  EXPECT_EQ(allocations_.release_on(address, Timeline::kLegacyStream), CudaError::success);
  EXPECT_EQ(allocations_.free_bytes(), kLimit - MemoryPool::kStep) << "the pool keeps it";
  streams_.synchronize(timeline_.all_done());
  EXPECT_EQ(allocations_.free_bytes(), kLimit);
}

TEST_F(AllocationsTest, OfPinnedMemoryAreNotFreedAsOthers) {
  SharedBlock block;
  ASSERT_EQ(allocations_.allocate_shared(4096, Sharing::pinned, &block), CudaError::success);
  EXPECT_EQ(allocations_.release(block.address), CudaError::invalid_value);
  EXPECT_EQ(allocations_.release_pinned(block.address), CudaError::success);
  EXPECT_EQ(allocations_.release_pinned(block.address), CudaError::invalid_value);
}

TEST_F(AllocationsTest, OfFailedIndependentCallsAreFreedOnceTheyAreMuch) {
  const std::uint64_t before = allocate(kLimit / 2);
  allocations_.begin_independent_call(false);
  const std::uint64_t small = allocate(kLimit / 16);
  allocations_.begin_independent_call(true);
  EXPECT_TRUE(allocations_.live().contains(small)) << "the next call may use it";
  const std::uint64_t of_right_one = allocate(kLimit / 16);
  allocations_.begin_independent_call(false);
  const std::uint64_t more = allocate(kLimit / 8);
  SharedBlock pinned;
  ASSERT_EQ(allocations_.allocate_shared(4096, Sharing::pinned, &pinned), CudaError::success);
  allocations_.begin_independent_call(true);
  EXPECT_FALSE(allocations_.live().contains(small));
  EXPECT_FALSE(allocations_.live().contains(more));
  EXPECT_THAT(allocations_.pinned(), IsEmpty());
  EXPECT_TRUE(allocations_.live().contains(before));
  EXPECT_TRUE(allocations_.live().contains(of_right_one));
}

TEST_F(AllocationsTest, HaveALimit) {
  std::uint64_t address = 0;
  EXPECT_EQ(allocations_.allocate(kLimit + 1, &address), CudaError::memory_allocation);
  EXPECT_EQ(address, 0U);
  allocate(kLimit);
}

}  // namespace
}  // namespace simgpu::allocations_test
