// Any bytes on a connection are messages or end it; any nodes are a graph or are refused; any
// activity decodes or is refused, and what decodes can be told: as stories, as a report, as a trace
// that are JSON; any origins decode or are refused. The first byte says which of them the rest is.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <vector>

#include "simgpu/cli/report_file.h"
#include "simgpu/cli/story.h"
#include "simgpu/cli/trace_file.h"
#include "simgpu/device/activity_wire.h"
#include "simgpu/device/connection.h"
#include "simgpu/device/executable_graph.h"
#include "simgpu/device/origins_wire.h"
#include "simgpu/device/protocol.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using simgpu::Connection;
using simgpu::Descriptor;

void read_messages(std::span<const std::byte> bytes) {
  constexpr std::size_t kMostBytes = 64U << 10;  // that a socket takes without a reader
  bytes = bytes.first(std::min(bytes.size(), kMostBytes));
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  Descriptor peer(ends[0]);
  Connection connection(Descriptor(ends[1]), false);
  if (send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
  peer.reset();
  try {
    std::size_t payload = 0, messages = 0;
    do {
      while (const auto message = connection.next()) {
        ++messages;
        payload += message->payload.size();
        connection.reply(message->operation, message->payload);
        connection.send();
      }
    } while (connection.receive());
    if (payload + messages * sizeof(simgpu::wire::Header) > bytes.size()) __builtin_trap();
  } catch (const simgpu::wire::MessageError&) {  // NOLINT(bugprone-empty-catch): the other end
  }
}

void describe_graph(std::span<const std::byte> bytes) {
  simgpu::GraphTable graphs;
  try {
    simgpu::wire::Reader reader(bytes);
    if (graphs.add_nodes(reader) != simgpu::CudaError::success) return;
    std::uint64_t handle = 0;
    if (graphs.end(&handle) != simgpu::CudaError::success) __builtin_trap();
    const auto graph = graphs.find(handle);
    for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
      for (const std::uint32_t before : graph->nodes[i].dependencies) {
        if (before >= i) __builtin_trap();
      }
    }
  } catch (const simgpu::wire::MessageError&) {  // NOLINT(bugprone-empty-catch): cut off
  }
}

void tell_activity(std::span<const std::byte> bytes) {
  simgpu::Activity activity;
  try {
    activity = simgpu::decode_activity(bytes);
  } catch (const std::exception&) {
    return;
  }
  for (simgpu::Finding& finding : activity.findings) {
    // Whatever file it names: a story reads no more than the file system of this machine allows,
    // but what it reads would not be the same everywhere.
    finding.where.file = "simgpu/fuzzing/none.cu";
    if (finding.other) finding.other->file = finding.where.file;
  }
  simgpu::cli::tell_all(activity.findings);
  static const gpu_spec::GpuSpec gpu = gpu_spec::load(ROOFLAB_SOURCE_DIR "/specs/gpus/a100.toml");
  if (!nlohmann::json::accept(simgpu::cli::report_json(activity, gpu))) __builtin_trap();
  if (!nlohmann::json::accept(simgpu::cli::trace_json(activity, "a100", 108))) __builtin_trap();
}

void decode_origins(std::span<const std::byte> bytes) {
  try {
    const std::vector<simgpu::MemoryOrigin> origins = simgpu::decode_origins(bytes);
    const std::vector<std::byte> again = simgpu::encode_origins(origins);
    if (simgpu::decode_origins(again) != origins) __builtin_trap();
  } catch (const simgpu::wire::MessageError&) {  // NOLINT(bugprone-empty-catch): cut off
  }
}

/// An input with an activity that has a record of every kind.
std::vector<std::byte> sample() {
  simgpu::Activity activity;
  simgpu::KernelRecord kernel;
  kernel.name = "k";
  kernel.time.terms[simgpu::Limiter::dram] = 1;
  kernel.counters.flops["fp32"] = 2;
  activity.kernels = {kernel};
  activity.memory = {{.operation = simgpu::MemoryOperation::set, .bytes = 4}};
  activity.calls = {{.name = "cudaMalloc"}};
  simgpu::Finding finding;
  finding.code = "RL0301";
  finding.other.emplace();
  activity.findings = {finding};
  activity.api_calls["cudaMalloc"] = 1;
  std::vector<std::byte> bytes{std::byte{2}};
  for (const std::byte byte : simgpu::encode(activity)) bytes.push_back(byte);
  return bytes;
}

}  // namespace

/// What an activity looks like, a fuzzer would hardly find out by itself.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  static const std::vector<std::byte> kSample = sample();
  if (seed % 64 == 0 && kSample.size() <= most) {
    std::memcpy(data, kSample.data(), kSample.size());
    size = kSample.size();
  }
  return LLVMFuzzerMutate(data, size, most);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  switch (data[0] % 4) {
    case 0:
      read_messages(bytes);
      break;
    case 1:
      describe_graph(bytes);
      break;
    case 3:
      decode_origins(bytes);
      break;
    default:
      tell_activity(bytes);
  }
  return 0;
}
