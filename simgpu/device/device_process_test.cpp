#include "simgpu/device/device_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "simgpu/cublas/blas_request.h"
#include "simgpu/device/cuda_error.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/raw_guest_testing.h"
#include "simgpu/device/wire.h"

// The device process as its two kinds of client see it; the guest here writes its bytes by hand.
namespace simgpu {
namespace {

using protocol::GuestOperation;
using ::testing::HasSubstr;

/// The device still works for the trusted side and for the next guest.
void expect_healthy(DeviceProcess& device) {
  const std::array<std::byte, 3> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  std::array<std::byte, 3> back{};
  const std::uint64_t address = device.allocate(bytes.size(), "probe");
  device.write(address, bytes);
  device.read(address, back);
  EXPECT_EQ(back, bytes);
  device.release(address);
  RawGuest next(device);
  EXPECT_NE(next.allocate(16), 0u);
}

TEST(DeviceProcess, KeepsWhatTheTrustedSideWrites) {
  DeviceProcess device = start();
  std::vector<std::byte> bytes(3'000'001);
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same bytes every time
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  const std::uint64_t address = device.allocate(bytes.size(), "A");
  device.write(address, bytes);
  std::vector<std::byte> back(bytes.size());
  device.read(address, back);
  EXPECT_EQ(back, bytes);
  device.fill(address, 0xCD, 10);
  device.read(address, std::span(back).first(11));
  EXPECT_EQ(back[9], std::byte{0xCD});
  EXPECT_EQ(back[10], bytes[10]);
}

TEST(DeviceProcess, RefusesRangesOutsideOfAnAllocation) {
  DeviceProcess device = start();
  const std::uint64_t address = device.allocate(64, "A");
  std::array<std::byte, 65> bytes{};
  EXPECT_THROW(device.write(address, bytes), DeviceProcessError);
  EXPECT_THROW(device.read(address + 60, std::span(bytes).first(5)), DeviceProcessError);
  EXPECT_THROW(device.release(address + 1), DeviceProcessError);
}

TEST(DeviceProcess, SharesAllocationsWithTheGuestByAddress) {
  DeviceProcess device = start();
  const std::uint64_t address = device.allocate(4, "A");
  RawGuest guest(device);
  const std::uint32_t value = 0xDEADBEEF;
  guest.request(GuestOperation::copy_to_device,
                protocol::CopyRequest{.address = address, .pitch = 4, .width = 4, .height = 1},
                value);
  EXPECT_EQ(guest.answer().error, CudaError::success);
  std::uint32_t seen = 0;
  device.read(address, std::as_writable_bytes(std::span(&seen, 1)));
  EXPECT_EQ(seen, value);
}

TEST(DeviceProcess, DoesNotLetTheGuestFreeWhatIsNotItsOwn) {
  DeviceProcess device = start();
  const std::uint64_t address = device.allocate(64, "A");
  RawGuest guest(device);
  guest.request(GuestOperation::release, address);
  EXPECT_EQ(guest.answer().error, CudaError::invalid_value);
  EXPECT_NO_THROW(device.fill(address, 1, 64));
}

TEST(DeviceProcess, KeepsWhatTheTrustedSideSharesWhenTheGuestResetsItsDevice) {
  DeviceProcess device = start();
  const std::uint32_t value = 0xDEADBEEF;
  const std::uint64_t shared = device.allocate(sizeof value, "A");
  device.write(shared, std::as_bytes(std::span(&value, 1)));
  RawGuest guest(device);
  const std::uint64_t own = guest.allocate(64);
  guest.request(GuestOperation::reset);
  EXPECT_EQ(guest.answer().error, CudaError::success);
  const auto fill = [&](std::uint64_t address) {
    guest.request(GuestOperation::fill,
                  protocol::FillRequest{
                      .address = address, .pitch = 4, .width = 4, .height = 1, .value = 0xAB});
    return guest.answer().error;
  };
  EXPECT_EQ(fill(own), CudaError::invalid_value);
  std::uint32_t seen = 0;
  device.read(shared, std::as_writable_bytes(std::span(&seen, 1)));
  EXPECT_EQ(seen, value);
  EXPECT_EQ(fill(shared), CudaError::success);
  device.read(shared, std::as_writable_bytes(std::span(&seen, 1)));
  EXPECT_EQ(seen, 0xABABABABu);
}

TEST(DeviceProcess, TellsOfMemoryThatTheGuestKeepsAndNotOfItsOwn) {
  DeviceProcess device = start();
  device.allocate(1000, "A");
  RawGuest guest(device);
  device.mark();
  guest.allocate(4096);
  EXPECT_TRUE(device.collect().findings.empty()) << "it may still be freed";
  device.report_leaks();
  const Activity activity = device.collect();
  ASSERT_EQ(activity.findings.size(), 1u);
  EXPECT_EQ(activity.findings[0].kind, FindingKind::leak);
  EXPECT_THAT(activity.findings[0].object, HasSubstr("allocation of 4096 bytes"));
}

TEST(DeviceProcess, TellsWhatHappenedSinceTheMark) {
  DeviceProcess device = start();
  const std::uint64_t kept = device.allocate(1000, "A");
  RawGuest guest(device);
  device.mark();
  const std::uint64_t address = guest.allocate(4096);
  guest.request(
      GuestOperation::fill,
      protocol::FillRequest{.address = address, .pitch = 4096, .width = 4096, .height = 1});
  EXPECT_EQ(guest.answer().error, CudaError::success);
  guest.request(GuestOperation::release, address);
  EXPECT_EQ(guest.answer().error, CudaError::success);
  const Activity activity = device.collect();
  EXPECT_EQ(activity.allocated, 1000u);
  EXPECT_EQ(activity.peak_allocated, 5096u);
  ASSERT_EQ(activity.memory.size(), 1u);
  EXPECT_EQ(activity.memory[0].kind, "set");
  EXPECT_EQ(activity.memory[0].bytes, 4096u);
  EXPECT_GT(activity.elapsed_us, 0);
  EXPECT_EQ(activity.api_calls.at("cudaMalloc"), 1u);
  device.mark();
  EXPECT_TRUE(device.collect().memory.empty());
  device.release(kept);
}

TEST(DeviceProcess, TellsWhichCallIssuedWhatOnWhichStream) {
  DeviceProcess device = start();
  RawGuest guest(device);
  const std::uint64_t address = guest.allocate(4096);
  std::array<std::uint64_t, 2> streams{};
  for (std::uint64_t& stream : streams) {
    guest.request(GuestOperation::stream_create, std::uint32_t{0}, std::int32_t{0});
    const auto answer = guest.answer();
    ASSERT_EQ(answer.error, CudaError::success);
    stream = wire::Reader(answer.data).get<std::uint64_t>();
  }
  device.mark();
  protocol::FillRequest fill{.address = address, .pitch = 4096, .width = 4096, .height = 1};
  for (const std::uint64_t stream : {std::uint64_t{0}, streams[1], streams[0]}) {
    fill.stream = stream;
    fill.asynchronous_call = stream == 0 ? 0 : 1;
    guest.request(GuestOperation::fill, fill);
    ASSERT_EQ(guest.answer().error, CudaError::success);
  }
  guest.request(GuestOperation::device_synchronize);
  ASSERT_EQ(guest.answer().error, CudaError::success);

  const Activity activity = device.collect();
  ASSERT_EQ(activity.memory.size(), 3u);
  EXPECT_EQ(activity.memory[0].stream, 0u);
  EXPECT_EQ(activity.memory[1].stream, 2u);
  EXPECT_EQ(activity.memory[2].stream, 1u);
  ASSERT_EQ(activity.calls.size(), 4u);
  EXPECT_EQ(activity.calls[0].name, "cudaMemset");
  EXPECT_EQ(activity.calls[1].name, "cudaMemsetAsync");
  EXPECT_EQ(activity.calls[3].name, "cudaDeviceSynchronize");
  double end_us = 0;
  for (std::size_t i = 0; i < activity.calls.size(); ++i) {
    const ApiRecord& call = activity.calls[i];
    EXPECT_GT(call.time_us, 0) << call.name;
    EXPECT_GE(call.start_us, end_us) << call.name;
    end_us = call.start_us + call.time_us;
    if (i == activity.memory.size()) break;
    EXPECT_EQ(activity.memory[i].correlation, call.correlation);
    EXPECT_GT(activity.memory[i].sequence, call.sequence);
    EXPECT_GE(activity.memory[i].start_us, call.start_us);
    EXPECT_EQ(activity.memory[i].graph_launch, 0u);
  }
}

TEST(DeviceProcess, KeepsABoundedNumberOfCalls) {
  DeviceProcess device = start();
  RawGuest guest(device);
  device.mark();
  for (int i = 0; i < 20'100; ++i) {
    guest.request(GuestOperation::memory_info);
    ASSERT_EQ(guest.answer().error, CudaError::success);
  }
  const Activity activity = device.collect();
  EXPECT_EQ(activity.calls.size(), 20'000u);
  EXPECT_EQ(activity.api_calls.at("cudaMemGetInfo"), 20'100u);
}

TEST(DeviceProcess, StreamsThroughLibraryKernelsNoFasterThanDramAllowsInPractice) {
  DeviceProcess device = start();
  device.set_checkers(false);
  RawGuest guest(device);
  constexpr std::int32_t kSize = 2048;
  blas::Request product{.routine = blas::Routine::gemv, .m = kSize, .n = kSize};
  product.lda = kSize;
  product.ldb = product.ldc = 1;
  product.alpha = 1;
  product.a = guest.allocate(std::uint64_t{kSize} * kSize * sizeof(float));
  product.b = guest.allocate(kSize * sizeof(float));
  product.c = guest.allocate(kSize * sizeof(float));
  device.mark();
  guest.request(GuestOperation::blas, product);
  ASSERT_EQ(guest.answer().error, CudaError::success);
  const Activity activity = device.collect();
  ASSERT_EQ(activity.kernels.size(), 1u);
  const TimeBreakdown& time = activity.kernels[0].time;
  EXPECT_EQ(time.limiter, "dram");
  // 16 MiB at 90 % of an A100's 1555 GB/s; no measured kernel passed that share.
  EXPECT_GT(time.terms.at("dram"), 16.0 * 1024 * 1024 / (0.9 * 1555e9) * 1e6);
  const KernelCounters& counters = activity.kernels[0].counters;
  EXPECT_EQ(counters.dram_read_bytes, (kSize + 1) * kSize * sizeof(float));
  EXPECT_EQ(counters.dram_write_bytes, kSize * sizeof(float));
  EXPECT_EQ(counters.global_store_bytes, kSize * sizeof(float));
}

TEST(DeviceProcess, SaysWhatIsWrongWhenItCannotStart) {
  try {
    DeviceProcess::start({.program = "/does/not/exist", .gpu = "x.toml"});
    FAIL() << "a missing program must not start";
  } catch (const DeviceProcessError& error) {
    EXPECT_THAT(error.what(), HasSubstr("could not be started"));
  }
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

TEST(DeviceProcess, AnswersAllRequestsOfAGuestThatTakesItsAnswersLate) {
  constexpr int kRequests = 50;
  DeviceProcess device = start();
  RawGuest guest(device);
  const std::uint64_t address = guest.allocate(protocol::kChunkBytes);
  const protocol::CopyRequest request{.address = address,
                                      .pitch = protocol::kChunkBytes,
                                      .width = protocol::kChunkBytes,
                                      .height = 1};
  for (int i = 0; i < kRequests; ++i) guest.request(GuestOperation::copy_from_device, request);
  device.mark();
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_EQ(guest.answer().data.size(), protocol::kChunkBytes) << "answer " << i;
  }
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

}  // namespace
}  // namespace simgpu
