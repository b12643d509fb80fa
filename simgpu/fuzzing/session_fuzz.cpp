// Any requests of a guest, and of the trusted side between them: the device answers, ends the
// guest's session with a MessageError, or is out of memory, and what the trusted side reads is
// whole. The input is a list of operations; their fields are mostly things that exist, so that
// requests get further than the first check.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/cublas/blas_request.h"
#include "simgpu/device/activity_wire.h"
#include "simgpu/device/control_session.h"
#include "simgpu/device/device.h"
#include "simgpu/device/guest_session.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/wire.h"
#include "simgpu/fuzzing/session_input.h"
#include "specs/gpu_spec.h"

namespace {

using namespace simgpu;  // NOLINT(google-build-using-namespace): one file, all of it about these
using fuzzing::kProgram;
using fuzzing::SessionChoices;
using protocol::ControlOperation;
using protocol::GuestOperation;

constexpr std::uint64_t kMemoryLimit = 8U << 20;

const gpu_spec::GpuSpec& gpu() {
  static const gpu_spec::GpuSpec spec =
      gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/t4.toml");
  return spec;
}

class Session {
 public:
  explicit Session(std::span<const std::byte> input)
      : choices_(input),
        device_(gpu(), {.workers = 1,
                        .checkers = choices_.byte() % 2 == 0,
                        .sampled = choices_.byte() % 4 == 0,
                        .instruction_budget = 3000,
                        .memory_limit = kMemoryLimit}),
        control_(device_),
        guest_(std::in_place, device_) {
    secret_ = device_.memory().allocate(64, "secret").value();
    load(std::as_bytes(std::span(kProgram)));
  }

  void run() {
    constexpr int kMostRequests = 300;
    for (int i = 0; i < kMostRequests && !choices_.empty(); ++i) {
      if (choices_.byte() % 16 == 0) {
        ask_control();
      } else {
        ask_guest();
      }
    }
    check();
  }

 private:
  void load(std::span<const std::byte> program) {
    wire::Writer size;
    size.put(static_cast<std::uint64_t>(program.size()));
    request(GuestOperation::module_begin, size.bytes());
    request(GuestOperation::module_data, program);
    learn(modules_, request(GuestOperation::module_end, {}));
  }

  /// @returns the answer's bytes behind its flags
  std::vector<std::byte> request(GuestOperation operation, std::span<const std::byte> payload) {
    try {
      auto reply = guest_->handle(static_cast<std::uint32_t>(operation), payload);
      if (reply.payload.empty()) __builtin_trap();
      if (reply.payload.size() > protocol::kMaxPayload) __builtin_trap();
      if (reply.error != CudaError::success) return {};
      reply.payload.erase(reply.payload.begin());
      return std::move(reply.payload);
    } catch (const wire::MessageError&) {
      // As the server does when the next guest comes; handles of the old one stay in use here.
      device_.release_guest();
      guest_.emplace(device_);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): more than there is
    }
    return {};
  }

  static void learn(std::vector<std::uint64_t>& known, const std::vector<std::byte>& answer) {
    constexpr std::size_t kMost = 64;
    if (answer.size() < sizeof(std::uint64_t) || known.size() >= kMost) return;
    known.push_back(wire::Reader(answer).get<std::uint64_t>());
  }

  std::uint64_t address() {
    const std::uint8_t how = choices_.byte();
    if (how == 0) return choices_.raw<std::uint64_t>();
    const std::uint64_t base = how % 8 == 1 ? secret_ : choices_.of(addresses_);
    return base + (how % 4 == 2 ? choices_.byte() : 0);
  }
  std::uint64_t size() {
    static constexpr std::array<std::uint64_t, 8> kSizes{
        0, 1, 4, 256, 4096, 65536, std::uint64_t{1} << 40, ~std::uint64_t{0}};
    const std::uint8_t how = choices_.byte();
    return how < kSizes.size() ? kSizes.at(how) : std::uint64_t{how} * 4;
  }
  std::uint64_t stream() { return choices_.byte() % 4 != 0 ? 0 : choices_.of(streams_); }

  Dim3 shape() {
    static constexpr std::array<std::uint32_t, 8> kEdges{1, 1, 1, 2, 32, 64, 1024, 0xFFFFFFFF};
    const auto edge = [&] { return kEdges.at(choices_.byte() % kEdges.size()); };
    return {edge(), edge() % 3, edge() % 2 + 1};
  }

  protocol::CopyRequest copy() {
    const std::uint64_t width = size();
    return {.address = address(),
            .pitch = choices_.byte() % 2 == 0 ? width : size(),
            .width = width,
            .height = choices_.byte() % 2 == 0 ? 1 : size(),
            .stream = stream(),
            .asynchronous = choices_.byte() % 2U,
            .asynchronous_call = choices_.byte() % 2U};
  }
  protocol::DeviceCopyRequest device_copy() {
    const std::uint64_t width = size();
    return {.destination = address(),
            .destination_pitch = width,
            .source = address(),
            .source_pitch = choices_.byte() % 2 == 0 ? width : size(),
            .width = width,
            .height = choices_.byte() % 2 == 0 ? 1 : size(),
            .stream = stream()};
  }
  protocol::FillRequest fill() {
    const std::uint64_t width = size();
    return {.address = address(),
            .pitch = choices_.byte() % 2 == 0 ? width : size(),
            .width = width,
            .height = choices_.byte() % 2 == 0 ? 1 : size(),
            .stream = stream(),
            .value = choices_.byte(),
            .element_bytes = 1U << choices_.byte() % 4};
  }
  protocol::LaunchMessage launch() {
    return {.module = choices_.of(modules_),
            .kernel = choices_.byte() % 4U,
            .stream = stream(),
            .grid = shape(),
            .block = shape(),
            .dynamic_shared_bytes = static_cast<std::uint32_t>(size())};
  }
  blas::Request product() {
    const auto extent = [&] { return static_cast<std::int32_t>(size()); };
    blas::Request request{.routine = static_cast<blas::Routine>(choices_.byte() % 7),
                          .input = static_cast<blas::Element>(choices_.byte() % 5),
                          .output = static_cast<blas::Element>(choices_.byte() % 5)};
    request.transpose_a = choices_.byte() % 2;
    request.scalars_on_device = choices_.byte() % 2;
    request.m = extent(), request.n = extent(), request.k = extent();
    request.batch = choices_.byte() % 2 == 0 ? 1 : extent();
    request.lda = extent(), request.ldb = extent(), request.ldc = extent();
    request.stride_a = extent(), request.stride_c = static_cast<std::int64_t>(size());
    request.a = address(), request.b = address(), request.c = address();
    request.alpha_address = address(), request.result_address = address();
    request.stream = stream();
    request.alpha = 1;
    return request;
  }
  /// Of one of the kernels: an address, and a small number or none.
  void put_parameters(wire::Writer& writer) {
    if (choices_.byte() % 8 != 0) writer.put(address());
    if (choices_.byte() % 2 == 0) writer.put(static_cast<std::uint32_t>(choices_.byte()));
  }
  void put_node(wire::Writer& nodes) {
    wire::Writer request;
    const auto kind = static_cast<protocol::GraphNodeKind>(choices_.byte() % 11);
    put_node_request(kind, request);
    const std::uint32_t dependencies = choices_.byte() % 4;
    nodes.put(
        protocol::GraphNodeHeader{.kind = kind,
                                  .dependencies = dependencies,
                                  .bytes = static_cast<std::uint32_t>(request.bytes().size())});
    for (std::uint32_t i = 0; i < dependencies; ++i) {
      nodes.put(static_cast<std::uint32_t>(choices_.byte() % 8));
    }
    nodes.append(request.bytes());
  }
  void put_node_request(protocol::GraphNodeKind kind, wire::Writer& writer) {
    using Kind = protocol::GraphNodeKind;
    switch (kind) {
      case Kind::kernel:
        writer.put(launch());
        return put_parameters(writer);
      case Kind::copy_to_device:
      case Kind::copy_from_device:
        return writer.put(copy());
      case Kind::copy_on_device:
        return writer.put(device_copy());
      case Kind::fill:
        return writer.put(fill());
      case Kind::blas:
        return writer.put(product());
      case Kind::event_record:
      case Kind::event_wait:
        return writer.put(choices_.of(events_));
      default:
        return;
    }
  }

  /// What the operation takes, as far as the fields go; some of them need nothing.
  void put_request(GuestOperation operation, wire::Writer& writer) {
    switch (operation) {
      case GuestOperation::hello:
        return writer.put(protocol::kVersion);
      case GuestOperation::allocate:
      case GuestOperation::set_stack_limit:
      case GuestOperation::set_heap_limit:
      case GuestOperation::module_begin:
        return writer.put(size());
      case GuestOperation::release:
      case GuestOperation::host_dereference:
      case GuestOperation::result_used:
      case GuestOperation::release_pinned:
        return writer.put(address());
      case GuestOperation::allocate_shared:
        writer.put(size());
        return writer.put(std::uint32_t{choices_.byte()} % 4);
      case GuestOperation::pool_destroy:
      case GuestOperation::pool_allocate:
      case GuestOperation::pool_release:
      case GuestOperation::pool_get:
      case GuestOperation::pool_set:
      case GuestOperation::pool_trim:
        return put_pool_request(operation, writer);
      case GuestOperation::copy_to_device:
        writer.put(copy());
        return writer.append(choices_.bytes(choices_.byte()));
      case GuestOperation::copy_from_device:
        return writer.put(copy());
      case GuestOperation::copy_more:
      case GuestOperation::module_data:
        return writer.append(choices_.bytes(choices_.byte()));
      case GuestOperation::copy_on_device:
        return writer.put(device_copy());
      case GuestOperation::fill:
        return writer.put(fill());
      case GuestOperation::blas:
        return writer.put(product());
      default:
        return put_program_request(operation, writer);
    }
  }
  void put_pool_request(GuestOperation operation, wire::Writer& writer) {
    const bool begins_with_pool =
        operation != GuestOperation::pool_release && operation != GuestOperation::pool_allocate;
    if (begins_with_pool) writer.put(choices_.of(pools_));
    switch (operation) {
      case GuestOperation::pool_allocate:
        writer.put(size());
        writer.put(choices_.of(pools_));
        return writer.put(stream());
      case GuestOperation::pool_release:
        writer.put(address());
        return writer.put(stream());
      case GuestOperation::pool_get:
        return writer.put(std::uint32_t{choices_.byte()} % 10);
      case GuestOperation::pool_set:
        writer.put(std::uint32_t{choices_.byte()} % 10);
        return writer.put(size());
      case GuestOperation::pool_trim:
        return writer.put(size());
      default:
        return;
    }
  }
  void put_program_request(GuestOperation operation, wire::Writer& writer) {
    static constexpr std::array<std::string_view, 6> kNames{"loop", "meet",  "recur",
                                                            "deep", "limit", ""};
    switch (operation) {
      case GuestOperation::module_unload:
      case GuestOperation::kernel_count:
        return writer.put(choices_.of(modules_));
      case GuestOperation::kernel_name:
        writer.put(choices_.of(modules_));
        return writer.put(std::uint32_t{choices_.byte()});
      case GuestOperation::kernel_info:
      case GuestOperation::symbol_info:
      case GuestOperation::share_variable:
        writer.put(choices_.of(modules_));
        return writer.put_string(kNames.at(choices_.byte() % kNames.size()));
      case GuestOperation::set_shared_limit:
        writer.put(choices_.of(modules_));
        writer.put(choices_.byte() % std::uint64_t{4});
        return writer.put(static_cast<std::uint32_t>(size()));
      case GuestOperation::launch:
      case GuestOperation::check_launch:
        writer.put(launch());
        return put_parameters(writer);
      case GuestOperation::occupancy:
        writer.put(choices_.of(modules_));
        writer.put(choices_.byte() % std::uint64_t{4});
        writer.put(static_cast<std::uint32_t>(size()));
        return writer.put(static_cast<std::uint32_t>(size()));
      case GuestOperation::activity_record:
        return writer.put(std::uint32_t{choices_.byte()} % 2);
      default:
        return put_order_request(operation, writer);
    }
  }
  void put_order_request(GuestOperation operation, wire::Writer& writer) {
    switch (operation) {
      case GuestOperation::stream_create:
        writer.put(std::uint32_t{choices_.byte()});
        return writer.put(std::int32_t{choices_.byte()});
      case GuestOperation::stream_destroy:
      case GuestOperation::stream_synchronize:
      case GuestOperation::stream_query:
      case GuestOperation::stream_info:
        return writer.put(stream());
      case GuestOperation::stream_wait:
        writer.put(stream());
        return writer.put(choices_.of(events_));
      case GuestOperation::event_create:
        return writer.put(std::uint32_t{choices_.byte()} % 2);
      case GuestOperation::event_destroy:
      case GuestOperation::event_synchronize:
      case GuestOperation::event_query:
        return writer.put(choices_.of(events_));
      case GuestOperation::event_record:
        writer.put(choices_.of(events_));
        return writer.put(stream());
      case GuestOperation::event_elapsed:
        writer.put(choices_.of(events_));
        return writer.put(choices_.of(events_));
      case GuestOperation::graph_nodes:
        for (int i = choices_.byte() % 4; i >= 0; --i) put_node(writer);
        return;
      case GuestOperation::graph_destroy:
      case GuestOperation::graph_update:
        return writer.put(choices_.of(graphs_));
      case GuestOperation::graph_set_node:
        writer.put(choices_.of(graphs_));
        writer.put(choices_.byte() % std::uint64_t{4});
        return put_node_request(static_cast<protocol::GraphNodeKind>(choices_.byte() % 11), writer);
      case GuestOperation::graph_upload:
      case GuestOperation::graph_launch:
        writer.put(choices_.of(graphs_));
        return writer.put(stream());
      default:
        return;
    }
  }

  void ask_guest() {
    constexpr auto kCount = static_cast<std::uint32_t>(GuestOperation::count);
    const auto operation = static_cast<GuestOperation>(choices_.byte() % (kCount + 1));
    wire::Writer writer;
    if (choices_.byte() % 16 == 0) {
      writer.append(choices_.bytes(choices_.byte()));
    } else {
      put_request(operation, writer);
    }
    const auto answer = request(operation, writer.bytes());
    if (operation == GuestOperation::allocate) learn(addresses_, answer);
    if (operation == GuestOperation::pool_allocate) learn(addresses_, answer);
    if (operation == GuestOperation::allocate_shared) learn(addresses_, answer);
    if (operation == GuestOperation::pool_create) learn(pools_, answer);
    if (operation == GuestOperation::module_end) learn(modules_, answer);
    if (operation == GuestOperation::stream_create) learn(streams_, answer);
    if (operation == GuestOperation::event_create) learn(events_, answer);
    if (operation == GuestOperation::graph_end) learn(graphs_, answer);
    if (operation == GuestOperation::reset) load(std::as_bytes(std::span(kProgram)));
  }

  void ask_control() {
    constexpr auto kCount = static_cast<std::uint32_t>(ControlOperation::count);
    const auto operation = static_cast<ControlOperation>(choices_.byte() % (kCount + 1));
    wire::Writer writer;
    if (operation == ControlOperation::release) return;  // of the secret, which check() reads
    if (operation == ControlOperation::allocate) {
      writer.put(size());
      writer.put_string("shared");
    } else if (operation == ControlOperation::read || operation == ControlOperation::fill ||
               operation == ControlOperation::mark_uninitialized) {
      writer.put(address());
      if (operation == ControlOperation::fill) writer.put(choices_.byte());
      writer.put(size());
    } else {
      writer.append(choices_.bytes(choices_.byte() % 32));
    }
    const auto reply = control_.handle(static_cast<std::uint32_t>(operation), writer.bytes());
    if (reply.error != CudaError::success) return;
    if (operation == ControlOperation::allocate) learn(addresses_, reply.payload);
  }

  /// The trusted side still reads its memory and the whole log.
  void check() {
    wire::Writer read;
    read.put(secret_);
    read.put(std::uint64_t{64});
    const auto operation = static_cast<std::uint32_t>(ControlOperation::read);
    const auto reply = control_.handle(operation, read.bytes());
    if (reply.error != CudaError::success || reply.payload.size() != 64) __builtin_trap();
    device_.report_end();
    decode_activity(encode(device_.collect()));
    device_.release_guest();
    if (device_.allocations().free_bytes() > kMemoryLimit) __builtin_trap();
  }

  SessionChoices choices_;
  Device device_;
  ControlSession control_;
  std::optional<GuestSession> guest_;  ///< another one after a message that is none
  std::uint64_t secret_ = 0;
  std::vector<std::uint64_t> addresses_, modules_, streams_, events_, graphs_, pools_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Session(std::as_bytes(std::span(data, size))).run();
  return 0;
}
