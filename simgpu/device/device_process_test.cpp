#include "simgpu/device/device_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
namespace simgpu::device_process_test {
namespace {

using protocol::GuestOperation;
using ::testing::HasSubstr;

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

TEST(DeviceProcess, TellsOriginsOnlyWhereTheyWereFollowed) {
  DeviceProcess device = start();
  const std::uint64_t address = device.allocate(64, "A");
  const std::array<ByteRange, 1> places{{{address, 4}}};
  EXPECT_THROW(device.origins_of(places), DeviceProcessError);
  device.follow_origins();
  EXPECT_EQ(device.origins_of(places), std::vector<MemoryOrigin>{MemoryOrigin{}});
  const std::array<ByteRange, 1> too_long{{{address, 64}}};
  EXPECT_THROW(device.origins_of(too_long), DeviceProcessError);
  const std::array<ByteRange, 1> nowhere{{{~std::uint64_t{0} - 3, 4}}};
  EXPECT_EQ(device.origins_of(nowhere).size(), 1U);
}

TEST(DeviceProcess, FollowsWhatTheGuestCopiesAndFills) {
  DeviceProcess device = start();
  const std::uint64_t in = device.allocate(1024, "in"), out = device.allocate(1024, "out");
  device.follow_origins();
  RawGuest guest(device);
  guest.request(GuestOperation::copy_on_device,
                protocol::DeviceCopyRequest{.destination = out,
                                            .destination_pitch = 1024,
                                            .source = in,
                                            .source_pitch = 1024,
                                            .width = 1024,
                                            .height = 1});
  EXPECT_EQ(guest.answer().error, CudaError::success);
  std::vector<ByteRange> places;
  for (std::uint64_t i = 0; i < 256; ++i) places.push_back({out + 4 * i, 4});
  places.push_back({out, 4});  // more than are sent at once
  const std::vector<MemoryOrigin> copied = device.origins_of(places);
  ASSERT_EQ(copied.size(), places.size());
  ASSERT_EQ(copied[37].reads.size(), 1U);
  EXPECT_EQ(copied[37].reads[0].address, in + 4 * 37);
  EXPECT_EQ(copied[37].stores, 1U);
  guest.request(GuestOperation::fill,
                protocol::FillRequest{
                    .address = out, .pitch = 1024, .width = 1024, .height = 1, .element_bytes = 1});
  EXPECT_EQ(guest.answer().error, CudaError::success);
  EXPECT_TRUE(device.origins_of(places)[37].reads.empty());
  EXPECT_EQ(device.origins_of(places)[37].stores, 2U);
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
  device.report_end();
  const Activity activity = device.collect();
  ASSERT_EQ(activity.findings.size(), 1u);
  EXPECT_EQ(activity.findings[0].kind(), FindingKind::leak);
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
  EXPECT_EQ(activity.memory[0].operation, MemoryOperation::set);
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
  EXPECT_EQ(time.limiter, Limiter::dram);
  // 16 MiB at 90 % of an A100's 1555 GB/s; no measured kernel passed that share.
  EXPECT_GT(time.terms.at(Limiter::dram), 16.0 * 1024 * 1024 / (0.9 * 1555e9) * 1e6);
  const KernelCounters& counters = activity.kernels[0].counters;
  EXPECT_EQ(counters.dram_read_bytes, (kSize + 1) * kSize * sizeof(float));
  EXPECT_EQ(counters.dram_write_bytes, kSize * sizeof(float));
  EXPECT_EQ(counters.global_store_bytes, kSize * sizeof(float));
}

/// The finding of a product of cuBLAS, 4 x 4, whose result nothing has written.
Finding finding_of(blas::Request product) {
  DeviceProcess device = start();
  RawGuest guest(device);
  constexpr std::uint64_t kBytes = 64;
  product.routine = blas::Routine::gemm;
  product.lda = product.ldb = product.ldc = std::max({product.m, product.k, 4});
  product.alpha = 1;
  product.a = guest.allocate(kBytes);
  product.b = product.a;
  product.c = guest.allocate(kBytes);
  const std::vector<std::byte> ones(kBytes);
  device.write(product.a, ones);
  device.mark();
  guest.request(GuestOperation::blas, product);
  guest.answer();
  const Activity activity = device.collect();
  return activity.findings.empty() ? Finding{} : activity.findings.front();
}

TEST(DeviceProcess, SaysOfAProductThatItAddsToWhatNothingHasWritten) {
  const Finding finding = finding_of({.m = 4, .n = 4, .k = 4, .beta = 1});
  EXPECT_EQ(finding.detail, FindingDetail::result_added_to);
  EXPECT_THAT(finding.message, HasSubstr("beta is 1, so the call adds to what C holds"));
  EXPECT_EQ(finding_of({.m = 4, .n = 4, .k = 4, .beta = 0}), Finding{});
}

TEST(DeviceProcess, SaysOfASizeBeyondAnyMemoryThatNobodyMeansIt) {
  const Finding finding = finding_of({.m = 1'115'331'424, .n = 4, .k = 1'115'331'424});
  EXPECT_EQ(finding.detail, FindingDetail::beyond_any_memory);
}

TEST(DeviceProcess, SaysWhatIsWrongWhenItCannotStart) {
  try {
    DeviceProcess::start({.program = "/does/not/exist", .gpu = "x.toml"});
    FAIL() << "a missing program must not start";
  } catch (const DeviceProcessError& error) {
    EXPECT_THAT(error.what(), HasSubstr("could not be started"));
  }
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

}  // namespace
}  // namespace simgpu::device_process_test
