#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/socket.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "simgpu/cublas/blas_request.h"
#include "simgpu/device/cuda_error.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/raw_guest_testing.h"
#include "simgpu/device/wire.h"

// What a guest that dies, lies or floods does to the device process: nothing.
namespace simgpu::hostile_guest_test {
namespace {

using protocol::GuestOperation;
using ::testing::HasSubstr;

constexpr std::uint64_t kMebi = 1 << 20;

std::size_t open_descriptors(const DeviceProcess& device) {
  const std::filesystem::path folder = "/proc/" + std::to_string(device.process_id()) + "/fd";
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(HostileGuest, IsCutOffWhenItsMessageIsOverTheLimit) {
  DeviceProcess device = start();
  RawGuest guest(device);
  wire::Writer writer;
  writer.put(wire::Header{.bytes = 0xFFFFFFFF, .tag = 1});
  guest.send_bytes(writer.bytes());
  EXPECT_FALSE(guest.answer().connected);
  expect_healthy(device);
}

TEST(HostileGuest, IsCutOffWhenTheOperationIsUnknown) {
  DeviceProcess device = start();
  for (const std::uint32_t operation :
       {0u, static_cast<std::uint32_t>(GuestOperation::count), 0xFFFFu}) {
    RawGuest guest(device);
    guest.send_message(operation, {});
    EXPECT_FALSE(guest.answer().connected);
  }
  expect_healthy(device);
}

TEST(HostileGuest, SurvivesNoOperationWithTooFewOrTooManyBytes) {
  DeviceProcess device = start();
  const std::vector<std::byte> long_payload(5000, std::byte{0x5A});
  for (std::uint32_t i = 1; i < static_cast<std::uint32_t>(GuestOperation::count); ++i) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{3}, long_payload.size()}) {
      RawGuest guest(device);
      guest.send_message(i, std::span(long_payload).first(bytes));
      guest.answer();  // an error or a closed connection; either way the device goes on
    }
  }
  expect_healthy(device);
}

TEST(HostileGuest, ChangesNothingOutsideWithRandomRequests) {
  DeviceProcess device = start();
  std::mt19937_64 random(7);  // NOLINT(cert-msc51-cpp): the same attack every time
  for (int i = 0; i < 2000; ++i) {
    RawGuest guest(device);
    std::vector<std::byte> payload(random() % 200);
    for (std::byte& byte : payload) byte = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
    guest.send_message(1 + static_cast<std::uint32_t>(random()) %
                               (static_cast<std::uint32_t>(GuestOperation::count) - 1),
                       payload);
    guest.hang_up();
  }
  expect_healthy(device);
}

TEST(HostileGuest, HoldsNobodyUpWithHalfAMessage) {
  DeviceProcess device = start();
  RawGuest guest(device);
  const std::array<std::byte, 3> half{};
  guest.send_bytes(half);
  device.mark();  // would wait for ever if the device waited for the guest
  EXPECT_EQ(device.collect().kernels.size(), 0u);
  expect_healthy(device);
}

TEST(HostileGuest, DoesNothingBetweenTheRecordsAndTheNextCall) {
  DeviceProcess device = start();
  const std::uint64_t address = device.allocate(4, "out");
  RawGuest guest(device);
  device.mark();
  device.collect();
  guest.request(
      GuestOperation::fill,
      protocol::FillRequest{.address = address, .pitch = 4, .width = 4, .height = 1, .value = 7});
  const auto first_byte = [&] {
    std::array<std::byte, 4> bytes{};
    device.read(address, bytes);
    return std::to_integer<int>(bytes[0]);
  };
  EXPECT_EQ(first_byte(), 0) << "its answer was read before";
  device.mark();
  EXPECT_EQ(guest.answer().error, CudaError::success);
  EXPECT_EQ(first_byte(), 7);
  EXPECT_EQ(device.collect().memory.size(), 1U) << "and counts with what comes next";
}

TEST(HostileGuest, IsRecordedByTheFunctionThatItCalled) {
  using protocol::SharedKind;
  DeviceProcess device = start();
  RawGuest guest(device);
  device.mark();
  for (const auto kind :
       {SharedKind::managed, SharedKind::malloc_host, SharedKind::host_alloc, SharedKind{9}}) {
    guest.request(GuestOperation::allocate_shared, std::uint64_t{64}, kind);
    EXPECT_EQ(guest.answer().connected, kind != SharedKind{9});
  }
  const auto calls = device.collect().api_calls;
  EXPECT_EQ(calls.at("cudaMallocManaged"), 1U);
  EXPECT_EQ(calls.at("cudaMallocHost"), 1U);
  EXPECT_EQ(calls.at("cudaHostAlloc"), 1U);
  EXPECT_EQ(calls.size(), 3U);
}

TEST(HostileGuest, MayDieInTheMiddleOfACopy) {
  DeviceProcess device = start();
  RawGuest guest(device);
  const std::uint64_t address = guest.allocate(10'000'000);
  wire::Writer writer;
  writer.put(wire::Header{.bytes = protocol::kChunkBytes,
                          .tag = static_cast<std::uint32_t>(GuestOperation::copy_to_device)});
  writer.put(protocol::CopyRequest{
      .address = address, .pitch = 10'000'000, .width = 10'000'000, .height = 1});
  writer.append(std::vector<std::byte>(1000));
  guest.send_bytes(writer.bytes());
  guest.hang_up();
  expect_healthy(device);
}

TEST(HostileGuest, DoesNotStopTheDeviceByLeavingItsAnswers) {
  DeviceProcess device = start();
  RawGuest guest(device);
  const std::uint64_t address = guest.allocate(protocol::kChunkBytes);
  const protocol::CopyRequest request{.address = address,
                                      .pitch = protocol::kChunkBytes,
                                      .width = protocol::kChunkBytes,
                                      .height = 1};
  for (int i = 0; i < 50; ++i) guest.request(GuestOperation::copy_from_device, request);
  device.mark();
  EXPECT_NO_THROW(device.collect());
  guest.hang_up();
  expect_healthy(device);
}

TEST(HostileGuest, CannotCopyOutsideOfAllocationsWhateverTheNumbers) {
  DeviceProcess device = start();
  RawGuest guest(device);
  const std::uint64_t address = guest.allocate(4096);
  const std::uint64_t huge = ~std::uint64_t{0};
  const std::array<protocol::CopyRequest, 6> attempts{{
      {.address = address, .pitch = 4097, .width = 4097, .height = 1},
      {.address = address - 1, .pitch = 1, .width = 1, .height = 1},
      {.address = address, .pitch = 64, .width = 64, .height = 65},
      {.address = address, .pitch = huge, .width = 2, .height = 2},
      {.address = address, .pitch = 1, .width = huge, .height = huge},
      {.address = 0, .pitch = 8, .width = 8, .height = 1},
  }};
  for (const protocol::CopyRequest& attempt : attempts) {
    guest.request(GuestOperation::copy_from_device, attempt);
    EXPECT_EQ(guest.answer().error, CudaError::invalid_value);
  }
}

TEST(HostileGuest, CannotReachOutsideOfAllocationsThroughBlasWhateverTheNumbers) {
  // Extents that are a multiple of 2^64 bytes, or close to one, and so look small where they wrap.
  constexpr std::int64_t kStride = std::int64_t{1} << 32;
  constexpr std::int32_t kBatch = (1 << 30) + 1;
  constexpr std::int32_t kMost = 0x7FFFFFFF;
  const std::array<blas::Request, 3> attempts{{
      {.m = 1,
       .n = 1,
       .k = 1,
       .batch = kBatch,
       .lda = 1,
       .ldb = 1,
       .ldc = 1,
       .stride_a = kStride,
       .stride_b = kStride,
       .stride_c = kStride},
      {.m = 1, .n = 1, .k = 1, .batch = kBatch, .lda = 1, .ldb = 1, .ldc = 1, .stride_c = kStride},
      {.m = 1,
       .n = kMost,
       .k = 1,
       .batch = 13,
       .lda = 1,
       .ldb = 1,
       .ldc = kMost,
       .stride_c = std::int64_t{1} << 30},
  }};
  DeviceProcess device = start();
  device.set_checkers(false);
  for (blas::Request attempt : attempts) {
    RawGuest guest(device);
    attempt.a = attempt.b = attempt.c = guest.allocate(4096);
    attempt.alpha = 1;
    guest.request(GuestOperation::blas, attempt);
    EXPECT_TRUE(guest.answer().connected);
    guest.request(GuestOperation::device_synchronize);
    EXPECT_EQ(guest.answer().error, CudaError::illegal_address);
  }
  expect_healthy(device);
}

TEST(HostileGuest, CannotLoadWhatIsNoProgram) {
  DeviceProcess device = start();
  RawGuest guest(device);
  guest.request(GuestOperation::module_begin, std::uint64_t{100});
  EXPECT_EQ(guest.answer().error, CudaError::success);
  guest.send_message(static_cast<std::uint32_t>(GuestOperation::module_data),
                     std::vector<std::byte>(100, std::byte{0x42}));
  EXPECT_EQ(guest.answer().error, CudaError::success);
  guest.request(GuestOperation::module_end);
  EXPECT_EQ(guest.answer().error, CudaError::invalid_kernel_image);
  guest.request(GuestOperation::launch,
                protocol::LaunchMessage{
                    .module = 1, .kernel = 0, .stream = 0, .grid = {1, 1, 1}, .block = {1, 1, 1}});
  EXPECT_EQ(guest.answer().error, CudaError::invalid_device_function);
}

/// A request of 64 bytes of payload, of which `sent` are there.
std::vector<std::byte> piece_of_request(std::uint32_t operation, std::size_t sent) {
  wire::Writer writer;
  writer.put(wire::Header{.bytes = 64, .tag = operation});
  writer.append(std::vector<std::byte>(64, std::byte{1}));
  const auto bytes = writer.bytes().first(sent);
  return {bytes.begin(), bytes.end()};
}

TEST(HostileGuest, MayDieInTheMiddleOfEveryOperation) {
  DeviceProcess device = start();
  for (std::uint32_t i = 1; i < static_cast<std::uint32_t>(GuestOperation::count); ++i) {
    for (const std::size_t sent :
         {std::size_t{4}, std::size_t{8}, std::size_t{71}, std::size_t{72}}) {
      RawGuest guest(device);
      guest.send_bytes(piece_of_request(i, sent));
      guest.hang_up();
    }
  }
  expect_healthy(device);
}

TEST(HostileGuest, WaitsForItselfWhenItFloodsWithoutReading) {
  DeviceProcess device = start();
  RawGuest guest(device);
  wire::Writer flood;
  constexpr std::uint32_t kRequests = 1'000'000;
  for (std::uint32_t i = 0; i < kRequests; ++i) {
    flood.put(
        wire::Header{.bytes = 0, .tag = static_cast<std::uint32_t>(GuestOperation::memory_info)});
  }
  std::size_t sent = 0;
  int refused = 0;
  while (sent < flood.bytes().size() && refused < 100) {
    const auto rest = flood.bytes().subspan(sent);
    const ssize_t count =
        send(guest.descriptor(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) sent += static_cast<std::size_t>(count);
    if (count > 0) continue;
    ++refused;
    device.mark();  // the trusted side's turn comes all the same
  }
  EXPECT_LT(sent, flood.bytes().size()) << "somebody took in all of it";
  EXPECT_LT(peak_memory_of(device), 64 * kMebi);
  expect_healthy(device);
}

TEST(HostileGuest, CannotHandOverDescriptors) {
  DeviceProcess device = start();
  RawGuest guest(device);
  guest.allocate(16);
  const std::size_t before = open_descriptors(device);
  for (int i = 0; i < 200; ++i) {
    wire::Writer writer;
    writer.put(
        wire::Header{.bytes = 0, .tag = static_cast<std::uint32_t>(GuestOperation::memory_info)});
    const int number = guest.descriptor();
    iovec part{.iov_base = const_cast<std::byte*>(writer.bytes().data()),
               .iov_len = writer.bytes().size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof number)> ancillary{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.data();
    message.msg_controllen = ancillary.size();
    cmsghdr* item = CMSG_FIRSTHDR(&message);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof number);
    std::memcpy(CMSG_DATA(item), &number, sizeof number);
    ASSERT_GT(sendmsg(guest.descriptor(), &message, MSG_NOSIGNAL), 0);
    ASSERT_TRUE(guest.answer().connected);
  }
  EXPECT_EQ(open_descriptors(device), before);
  expect_healthy(device);
}

TEST(HostileGuest, HasABoundedNumberOfHandles) {
  constexpr int kAtOnce = 100;
  DeviceProcess device = start();
  RawGuest guest(device);
  const auto last_of = [&](int count, GuestOperation operation, const auto&... values) {
    CudaError last = CudaError::success;
    for (int i = 0; i < count; i += kAtOnce) {
      for (int j = 0; j < kAtOnce; ++j) guest.request(operation, values...);
      for (int j = 0; j < kAtOnce; ++j) last = guest.answer().error;
    }
    return last;
  };
  EXPECT_EQ(last_of(20'000, GuestOperation::allocate, std::uint64_t{1}), CudaError::success);
  EXPECT_EQ(last_of(50'000, GuestOperation::event_create, std::uint32_t{0}), CudaError::success);
  EXPECT_EQ(last_of(60'000, GuestOperation::stream_create, std::uint32_t{0}, std::int32_t{0}),
            CudaError::memory_allocation);
  EXPECT_EQ(last_of(5'000, GuestOperation::graph_end), CudaError::memory_allocation);
  EXPECT_EQ(last_of(1'000, GuestOperation::allocate, ~std::uint64_t{0}),
            CudaError::memory_allocation);
  EXPECT_EQ(last_of(1'000, GuestOperation::module_begin, ~std::uint64_t{0}),
            CudaError::memory_allocation);
  EXPECT_LT(peak_memory_of(device), 256 * kMebi);
  expect_healthy(device);
}

TEST(HostileGuest, CannotAskForAProductWithoutEnd) {
  DeviceProcess device = start(1, 1'000'000);
  RawGuest guest(device);
  constexpr std::int32_t kMost = 0x7FFFFFFF;
  blas::Request product{.m = 1, .n = 1, .k = 1, .batch = kMost, .lda = 1, .ldb = 1, .ldc = 1};
  for (const blas::Routine routine : {blas::Routine::gemm, blas::Routine::scal}) {
    product.routine = routine;
    product.a = product.b = product.c = guest.allocate(4096);
    guest.request(GuestOperation::fill,
                  protocol::FillRequest{.address = product.a, .width = 4096, .height = 1});
    ASSERT_EQ(guest.answer().error, CudaError::success);
    device.mark();
    guest.request(GuestOperation::blas, product);
    const CudaError error = guest.answer().error;
    if (routine != blas::Routine::gemm) {
      EXPECT_EQ(error, CudaError::invalid_value) << "vectors have no batch";
      break;
    }
    guest.request(GuestOperation::device_synchronize);
    EXPECT_EQ(guest.answer().error, CudaError::launch_timeout);
    const Activity activity = device.collect();
    ASSERT_EQ(activity.findings.size(), 1u);
    EXPECT_EQ(activity.findings[0].code, Code("RL0319"));
    EXPECT_THAT(activity.findings[0].message, HasSubstr("a batch of 2147483647"));
    device.mark();
    guest.request(GuestOperation::reset);
    ASSERT_EQ(guest.answer().error, CudaError::success);
  }
  expect_healthy(device);
}

TEST(HostileGuest, LeavesTheNextOneAllOfTheDevice) {
  DeviceProcess device = start();
  device.mark();
  {
    RawGuest hostile(device);
    for (int i = 0; i < 64; ++i) hostile.allocate(std::uint64_t{128} << 20);
    hostile.request(GuestOperation::host_dereference, std::uint64_t{0});
    hostile.request(GuestOperation::graph_nodes, std::uint64_t{1});
  }
  RawGuest next(device);
  next.request(GuestOperation::memory_info);
  const RawGuest::Answer answer = next.answer();
  const Activity activity = device.collect();
  EXPECT_EQ(activity.allocated, 0u);
  EXPECT_EQ(activity.api_calls.at("cudaMalloc"), 64u) << "the log still tells what it did";
  wire::Reader reader(answer.data);
  EXPECT_GE(reader.get<std::uint64_t>(), std::uint64_t{1} << 30);
}

}  // namespace
}  // namespace simgpu::hostile_guest_test
