#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/cublas/blas_request.h"
#include "simgpu/device/device_process.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/raw_guest_testing.h"
#include "simgpu/device/wire.h"

// Graphs as the device process keeps and runs them; the guest here writes its bytes by hand.
namespace simgpu::guest_graphs_test {
namespace {

using protocol::GraphNodeHeader;
using protocol::GraphNodeKind;
using protocol::GraphProgress;
using protocol::GuestOperation;
using ::testing::Each;
using ::testing::Field;

constexpr std::uint64_t kBytes = 4096;

/// Nodes as they cross the connection.
class Nodes {
 public:
  Nodes& add(GraphNodeKind kind, const std::vector<std::uint32_t>& dependencies = {}) {
    return add_bytes(kind, dependencies, {});
  }
  template <typename Request>
  Nodes& add(GraphNodeKind kind, const std::vector<std::uint32_t>& dependencies,
             const Request& request) {
    return add_bytes(kind, dependencies, std::as_bytes(std::span(&request, 1)));
  }
  std::span<const std::byte> bytes() const { return writer_.bytes(); }

 private:
  Nodes& add_bytes(GraphNodeKind kind, const std::vector<std::uint32_t>& dependencies,
                   std::span<const std::byte> request) {
    writer_.put(GraphNodeHeader{.kind = kind,
                                .dependencies = static_cast<std::uint32_t>(dependencies.size()),
                                .bytes = static_cast<std::uint32_t>(request.size())});
    for (const std::uint32_t dependency : dependencies) writer_.put(dependency);
    writer_.append(request);
    return *this;
  }

  wire::Writer writer_;
};

class GuestGraphs : public ::testing::Test {
 protected:
  RawGuest::Answer send(const Nodes& nodes) {
    guest_.send_message(static_cast<std::uint32_t>(GuestOperation::graph_nodes), nodes.bytes());
    return guest_.answer();
  }
  CudaError error_of(const Nodes& nodes) {
    EXPECT_EQ(ask(GuestOperation::graph_begin).error, CudaError::success);
    return send(nodes).error;
  }
  template <typename... Values>
  RawGuest::Answer ask(GuestOperation operation, const Values&... values) {
    guest_.request(operation, values...);
    return guest_.answer();
  }
  std::uint64_t graph_of(const Nodes& nodes) {
    EXPECT_EQ(error_of(nodes), CudaError::success);
    const auto answer = ask(GuestOperation::graph_end);
    EXPECT_EQ(answer.error, CudaError::success);
    return wire::Reader(answer.data).get<std::uint64_t>();
  }
  RawGuest::Answer launch(std::uint64_t graph, std::uint64_t stream = 0) {
    return ask(GuestOperation::graph_launch, graph, stream);
  }
  static GraphProgress progress_of(const RawGuest::Answer& answer) {
    return wire::Reader(answer.data).get<GraphProgress>();
  }
  protocol::FillRequest fill(std::uint32_t value) const {
    return {.address = memory_, .pitch = kBytes, .width = kBytes, .height = 1, .value = value};
  }
  protocol::CopyRequest copy() const {
    return {.address = memory_, .pitch = kBytes, .width = kBytes, .height = 1};
  }

  DeviceProcess device_ = start();
  RawGuest guest_{device_};
  std::uint64_t memory_ = guest_.allocate(kBytes);
};

TEST_F(GuestGraphs, RunNodesInOrderAndCountAsOneLaunch) {
  const std::uint64_t graph = graph_of(Nodes()
                                           .add(GraphNodeKind::fill, {}, fill(1))
                                           .add(GraphNodeKind::empty, {0})
                                           .add(GraphNodeKind::fill, {1}, fill(7)));
  device_.mark();
  for (int i = 0; i < 2; ++i) {
    const auto answer = launch(graph);
    EXPECT_EQ(answer.error, CudaError::success);
    EXPECT_EQ(progress_of(answer).waits_for, GraphNodeKind::empty) << "nothing waits for the guest";
  }
  std::array<std::uint8_t, kBytes> bytes{};
  device_.read(memory_, std::as_writable_bytes(std::span(bytes)));
  EXPECT_THAT(bytes, Each(7));
  const Activity activity = device_.collect();
  EXPECT_EQ(host_launches(activity), 2u);
  ASSERT_EQ(activity.calls.size(), 2u);
  EXPECT_EQ(activity.calls[1].name, "cudaGraphLaunch");
  ASSERT_EQ(activity.memory.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(activity.memory[i].graph_launch, i / 2 + 1);
    EXPECT_EQ(activity.memory[i].correlation, activity.calls[i / 2].correlation);
  }
  // The second node of a launch starts when the first is done.
  EXPECT_DOUBLE_EQ(activity.memory[1].start_us,
                   activity.memory[0].start_us + activity.memory[0].time_us);
}

TEST_F(GuestGraphs, LetIndependentBranchesOverlap) {
  const std::uint64_t other = guest_.allocate(kBytes);
  protocol::CopyRequest up = copy(), down = copy();
  down.address = other;
  guest_.request(
      GuestOperation::fill,
      protocol::FillRequest{.address = other, .pitch = kBytes, .width = kBytes, .height = 1});
  EXPECT_EQ(guest_.answer().error, CudaError::success);
  const std::uint64_t graph = graph_of(Nodes()
                                           .add(GraphNodeKind::copy_to_device, {}, up)
                                           .add(GraphNodeKind::copy_from_device, {}, down)
                                           .add(GraphNodeKind::fill, {0, 1}, fill(0)));
  device_.mark();
  EXPECT_EQ(progress_of(launch(graph)).node, 0u);
  EXPECT_EQ(progress_of(ask(GuestOperation::graph_continue)).node, 1u);
  EXPECT_EQ(progress_of(ask(GuestOperation::graph_continue)).waits_for, GraphNodeKind::empty);
  const Activity activity = device_.collect();
  ASSERT_EQ(activity.memory.size(), 3u);
  EXPECT_EQ(activity.memory[0].start_us, activity.memory[1].start_us);
  EXPECT_DOUBLE_EQ(activity.memory[2].start_us,
                   activity.memory[0].start_us + activity.memory[0].time_us);
}

TEST_F(GuestGraphs, WaitForTheGuestWhereANodeNeedsIt) {
  const std::uint64_t graph = graph_of(Nodes()
                                           .add(GraphNodeKind::copy_to_device, {}, copy())
                                           .add(GraphNodeKind::host, {0})
                                           .add(GraphNodeKind::copy_from_device, {1}, copy()));
  device_.mark();
  EXPECT_EQ(progress_of(launch(graph)).waits_for, GraphNodeKind::copy_to_device);
  std::array<std::byte, kBytes> bytes{};
  bytes.fill(std::byte{0x5A});
  EXPECT_EQ(ask(GuestOperation::copy_more, bytes).error, CudaError::success);
  EXPECT_EQ(progress_of(ask(GuestOperation::graph_continue)).waits_for, GraphNodeKind::host);
  // What the guest does meanwhile is no part of the launch.
  EXPECT_EQ(ask(GuestOperation::fill, fill(0x33)).error, CudaError::success);
  EXPECT_EQ(progress_of(ask(GuestOperation::graph_continue)).waits_for,
            GraphNodeKind::copy_from_device);
  const auto back = ask(GuestOperation::copy_more);
  EXPECT_EQ(back.data, std::vector<std::byte>(kBytes, std::byte{0x33}));
  EXPECT_EQ(progress_of(ask(GuestOperation::graph_continue)).waits_for, GraphNodeKind::empty);
  EXPECT_EQ(ask(GuestOperation::graph_continue).error, CudaError::invalid_value);
  const Activity activity = device_.collect();
  ASSERT_EQ(activity.memory.size(), 3u);
  EXPECT_EQ(activity.memory[0].graph_launch, 1u);
  EXPECT_EQ(activity.memory[1].graph_launch, 0u);
  EXPECT_EQ(activity.memory[2].graph_launch, 1u);
  EXPECT_EQ(activity.memory[0].correlation, activity.memory[2].correlation);
  EXPECT_NE(activity.memory[0].correlation, activity.memory[1].correlation);
}

TEST_F(GuestGraphs, TellOfALibrarysRoutineAsOfACall) {
  blas::Request product{.routine = blas::Routine::axpy, .n = 4};
  product.ldb = product.ldc = 1;
  product.b = product.c = memory_;
  ASSERT_EQ(ask(GuestOperation::fill, fill(0)).error, CudaError::success);
  const std::uint64_t graph = graph_of(Nodes().add(GraphNodeKind::blas, {}, product));
  device_.mark();
  EXPECT_EQ(launch(graph).error, CudaError::success);
  const Activity activity = device_.collect();
  EXPECT_EQ(activity.api_calls.at("cublas"), 1u);
  ASSERT_EQ(activity.kernels.size(), 1u);
  EXPECT_EQ(activity.kernels[0].graph_launch, 1u);
}

TEST_F(GuestGraphs, ChangeANodeToAnotherOfItsKindAlone) {
  const std::uint64_t graph = graph_of(Nodes().add(GraphNodeKind::fill, {}, fill(1)));
  const std::uint64_t first = 0, second = 1;
  EXPECT_EQ(ask(GuestOperation::graph_set_node, graph, first, fill(9)).error, CudaError::success);
  EXPECT_EQ(ask(GuestOperation::graph_set_node, graph, first, copy()).error,
            CudaError::invalid_value);
  EXPECT_EQ(ask(GuestOperation::graph_set_node, graph, second, fill(9)).error,
            CudaError::invalid_value);
  EXPECT_EQ(launch(graph).error, CudaError::success);
  std::array<std::uint8_t, kBytes> bytes{};
  device_.read(memory_, std::as_writable_bytes(std::span(bytes)));
  EXPECT_THAT(bytes, Each(9));
}

TEST_F(GuestGraphs, HaveNoCyclesBecauseNodesFollowOnlyEarlierOnes) {
  EXPECT_EQ(error_of(Nodes().add(GraphNodeKind::empty, {0})), CudaError::invalid_value);
  EXPECT_EQ(error_of(Nodes().add(GraphNodeKind::empty).add(GraphNodeKind::empty, {2})),
            CudaError::invalid_value);
  EXPECT_EQ(error_of(Nodes().add(GraphNodeKind::empty).add(GraphNodeKind::empty, {~0u})),
            CudaError::invalid_value);
}

TEST_F(GuestGraphs, AreRefusedWhenANodeIsNotWhatItsKindSays) {
  EXPECT_EQ(error_of(Nodes().add(GraphNodeKind::count)), CudaError::invalid_value);
  EXPECT_EQ(error_of(Nodes().add(static_cast<GraphNodeKind>(~0u))), CudaError::invalid_value);
  EXPECT_EQ(error_of(Nodes().add(GraphNodeKind::fill)), CudaError::invalid_value);
  EXPECT_EQ(error_of(Nodes().add(GraphNodeKind::kernel, {}, std::uint64_t{1})),
            CudaError::invalid_value);
  EXPECT_EQ(error_of(Nodes().add(GraphNodeKind::empty, {}, std::uint64_t{1})),
            CudaError::invalid_value);
  blas::Request waits{.routine = blas::Routine::dot};
  EXPECT_EQ(error_of(Nodes().add(GraphNodeKind::blas, {}, waits)), CudaError::invalid_value);
}

TEST_F(GuestGraphs, EndTheConnectionWhenTheirBytesAreCutOff) {
  for (const GraphNodeHeader& header :
       {GraphNodeHeader{.dependencies = ~0u}, GraphNodeHeader{.bytes = ~0u},
        GraphNodeHeader{.dependencies = 1, .bytes = 1}}) {
    RawGuest guest(device_);
    guest.request(GuestOperation::graph_nodes, header);
    EXPECT_FALSE(guest.answer().connected);
  }
  EXPECT_NO_THROW(device_.collect());
}

TEST_F(GuestGraphs, TakeABoundedAmountOfMemory) {
  Nodes many;
  while (many.bytes().size() < protocol::kChunkBytes - 2 * sizeof(GraphNodeHeader)) {
    many.add(GraphNodeKind::empty);
  }
  ASSERT_EQ(ask(GuestOperation::graph_begin).error, CudaError::success);
  CudaError error = CudaError::success;
  std::uint64_t sent = 0;
  while (error == CudaError::success && sent <= protocol::kMaxGraphBytes) {
    error = send(many).error;
    sent += many.bytes().size();
  }
  EXPECT_EQ(error, CudaError::memory_allocation);
  EXPECT_EQ(ask(GuestOperation::graph_begin).error, CudaError::success);  // forgets them
  std::size_t graphs = 0;
  while (graphs <= protocol::kMaxGraphs &&
         ask(GuestOperation::graph_end).error == CudaError::success) {
    ++graphs;
  }
  EXPECT_EQ(graphs, protocol::kMaxGraphs);
}

TEST_F(GuestGraphs, BelongToOneGuestAndEndWithItsReset) {
  const std::uint64_t graph = graph_of(Nodes().add(GraphNodeKind::host));
  EXPECT_EQ(launch(graph + 1).error, CudaError::invalid_value);
  EXPECT_EQ(launch(graph, 99).error, CudaError::invalid_resource_handle);
  EXPECT_EQ(launch(graph).error, CudaError::success);
  EXPECT_EQ(ask(GuestOperation::reset).error, CudaError::success);
  EXPECT_EQ(ask(GuestOperation::graph_continue).error, CudaError::invalid_value);
  EXPECT_EQ(launch(graph).error, CudaError::invalid_value);
  const std::uint64_t another = graph_of(Nodes().add(GraphNodeKind::empty));
  RawGuest next(device_);
  next.request(GuestOperation::graph_launch, another, std::uint64_t{0});
  EXPECT_EQ(next.answer().error, CudaError::invalid_value);
}

TEST_F(GuestGraphs, MayBeDestroyedWhileALaunchWaits) {
  const std::uint64_t graph =
      graph_of(Nodes().add(GraphNodeKind::host).add(GraphNodeKind::fill, {0}, fill(4)));
  EXPECT_EQ(progress_of(launch(graph)).waits_for, GraphNodeKind::host);
  EXPECT_EQ(ask(GuestOperation::graph_destroy, graph).error, CudaError::success);
  EXPECT_EQ(ask(GuestOperation::graph_continue).error, CudaError::success);
  std::array<std::uint8_t, kBytes> bytes{};
  device_.read(memory_, std::as_writable_bytes(std::span(bytes)));
  EXPECT_THAT(bytes, Each(4));
  EXPECT_EQ(ask(GuestOperation::graph_destroy, graph).error, CudaError::invalid_resource_handle);
}

TEST_F(GuestGraphs, ReachNothingThatIsNotThere) {
  const protocol::LaunchMessage kernel{.module = 77, .kernel = 3, .grid = {}, .block = {}};
  EXPECT_EQ(launch(graph_of(Nodes().add(GraphNodeKind::kernel, {}, kernel))).error,
            CudaError::invalid_device_function);
  EXPECT_EQ(
      launch(graph_of(Nodes().add(GraphNodeKind::event_record, {}, std::uint64_t{12345}))).error,
      CudaError::invalid_resource_handle);
  protocol::FillRequest beyond = fill(1);
  beyond.width = kBytes + 1;
  EXPECT_EQ(launch(graph_of(Nodes().add(GraphNodeKind::fill, {}, beyond))).error,
            CudaError::invalid_value);
  // The memory of a copy is gone when its bytes come.
  EXPECT_EQ(progress_of(launch(graph_of(Nodes().add(GraphNodeKind::copy_to_device, {}, copy()))))
                .waits_for,
            GraphNodeKind::copy_to_device);
  EXPECT_EQ(ask(GuestOperation::release, memory_).error, CudaError::success);
  EXPECT_TRUE(ask(GuestOperation::copy_more, std::array<std::byte, kBytes>{}).connected);
  EXPECT_EQ(ask(GuestOperation::graph_continue).error, CudaError::success);
}

}  // namespace
}  // namespace simgpu::guest_graphs_test
