#include "simgpu/cli/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "simgpu/cli/dim3_json.h"

namespace simgpu::cli {
namespace {

using nlohmann::json;

// The trace's processes, away from the rows' numbers: a thread with its process's number is the
// main thread.
constexpr int kHost = 1000, kDevice = 1001;
constexpr int kWarpSize = 32;

/// One slice before it is written: times in whole nanoseconds, so that what touches still touches.
struct Slice {
  std::int64_t start = 0, end = 0;
  std::uint64_t row = 0;  ///< a stream's number, 0 for the host
  std::uint64_t correlation = 0;
  json event{};  ///< with all but ph, pid, tid, ts and dur
};

std::int64_t nanoseconds(double microseconds) { return std::llround(microseconds * 1e3); }

Slice slice(const char* category, const std::string& name, double start_us, double time_us,
            std::uint64_t row, std::uint64_t correlation) {
  Slice made{.row = row, .correlation = correlation};
  made.start = nanoseconds(start_us);
  made.end = std::max(made.start, nanoseconds(start_us + time_us));
  made.event = {{"cat", category}, {"name", name}, {"args", {{"correlation", correlation}}}};
  return made;
}

Slice kernel_slice(const KernelRecord& kernel, int multiprocessors) {
  Slice made = slice("kernel", kernel.name, kernel.start_us, kernel.time.total_us, kernel.stream,
                     kernel.correlation);
  const double blocks =
      static_cast<double>(kernel.grid.count()) / static_cast<double>(std::max(multiprocessors, 1));
  const auto threads = static_cast<double>(kernel.block.count());
  const double resident = std::max(1u, kernel.blocks_per_sm);
  json& args = made.event["args"];
  args["device"] = 0;
  args["stream"] = kernel.stream;
  if (kernel.graph_launch != 0) args["graph"] = kernel.graph_launch;
  args["registers per thread"] = kernel.registers_per_thread;
  args["shared memory"] = kernel.static_shared_bytes + kernel.dynamic_shared_bytes;
  args["blocks per SM"] = blocks;
  args["warps per SM"] = blocks * threads / kWarpSize;
  args["grid"] = triple(kernel.grid);
  args["block"] = triple(kernel.block);
  // A grid with fewer blocks than fit leaves room.
  args["est. achieved occupancy %"] =
      kernel.theoretical_occupancy * std::min(1.0, blocks / resident) * 100;
  args["limiter"] = kernel.time.limiter ? name_of(*kernel.time.limiter) : "";
  return made;
}

Slice memory_slice(const MemoryRecord& record) {
  const bool is_set = record.operation == MemoryOperation::set;
  Slice made = slice(is_set ? "gpu_memset" : "gpu_memcpy", name_of(record.operation),
                     record.start_us, record.time_us, record.stream, record.correlation);
  json& args = made.event["args"];
  args["device"] = 0;
  args["stream"] = record.stream;
  args["bytes"] = record.bytes;
  return made;
}

/// Turns slices of one process into events. Branches of a graph may overlap on their stream;
/// viewers want the slices of a row nested or apart, so a row gets as many lines as that takes.
class Rows {
 public:
  Rows(int process, const char* name, json& events)
      : process_(process), name_(name), events_(events) {}

  /// @returns the event of each slice, in order of their start
  std::vector<std::pair<Slice, json>> write(std::vector<Slice> slices) {
    std::ranges::stable_sort(slices, {},
                             [](const Slice& one) { return std::tuple(one.start, ~one.end); });
    std::vector<std::pair<Slice, json>> written;
    for (Slice& one : slices) {
      json event = one.event;
      event["ph"] = "X";
      event["pid"] = process_;
      event["tid"] = line_for(one);
      event["ts"] = static_cast<double>(one.start) / 1e3;
      event["dur"] = static_cast<double>(one.end - one.start) / 1e3;
      events_.push_back(event);
      written.emplace_back(std::move(one), std::move(event));
    }
    return written;
  }

 private:
  int line_for(const Slice& one) {
    for (std::size_t line = 0;; ++line) {
      const auto [found, is_new] = lines_.try_emplace({one.row, line}, Line{});
      if (is_new) {
        found->second.number = static_cast<int>(lines_.size());
        name_line(found->second.number, one.row, line);
      }
      if (found->second.free_from > one.start) continue;
      found->second.free_from = one.end;
      return found->second.number;
    }
  }

  void name_line(int number, std::uint64_t row, std::size_t line) {
    std::string name = name_;
    if (process_ == kDevice) name += fmt::format(" {}", row);
    if (line > 0) name += fmt::format(" ({})", line + 1);
    events_.push_back({{"ph", "M"},
                       {"name", "thread_name"},
                       {"pid", process_},
                       {"tid", number},
                       {"args", {{"name", name}}}});
  }

  struct Line {
    int number = 0;
    std::int64_t free_from = std::numeric_limits<std::int64_t>::min();
  };

  int process_;
  const char* name_;
  json& events_;
  std::map<std::pair<std::uint64_t, std::size_t>, Line> lines_;
};

void name_process(int process, const std::string& name, json& events) {
  events.push_back({{"ph", "M"},
                    {"name", "process_name"},
                    {"pid", process},
                    {"tid", 0},
                    {"args", {{"name", name}}}});
  events.push_back({{"ph", "M"},
                    {"name", "process_sort_index"},
                    {"pid", process},
                    {"tid", 0},
                    {"args", {{"sort_index", process}}}});
}

json arrow_end(const char* phase, std::uint64_t id, const json& event) {
  return {{"ph", phase},         {"id", id},
          {"cat", "ac2g"},       {"name", "ac2g"},
          {"pid", event["pid"]}, {"tid", event["tid"]},
          {"ts", event["ts"]}};
}

}  // namespace

std::string trace_json(const Activity& activity, const std::string& gpu, int multiprocessors) {
  json events = json::array();
  name_process(kHost, "host (modelled time)", events);
  name_process(kDevice, "simulated " + gpu + " (modelled time)", events);
  std::vector<Slice> calls, work;
  for (const ApiRecord& call : activity.calls) {
    calls.push_back(
        slice("cuda_runtime", call.name, call.start_us, call.time_us, 0, call.correlation));
  }
  for (const KernelRecord& kernel : activity.kernels) {
    work.push_back(kernel_slice(kernel, multiprocessors));
  }
  for (const MemoryRecord& record : activity.memory) work.push_back(memory_slice(record));

  std::map<std::uint64_t, json> call_events;
  for (auto& [call, event] : Rows(kHost, "calls", events).write(std::move(calls))) {
    call_events.emplace(call.correlation, std::move(event));
  }
  std::uint64_t arrows = 0;
  for (const auto& [one, event] : Rows(kDevice, "stream", events).write(std::move(work))) {
    const auto call = call_events.find(one.correlation);
    if (call == call_events.end()) continue;  // the log was full
    events.push_back(arrow_end("s", ++arrows, call->second));
    events.push_back(arrow_end("f", arrows, event));
    events.back()["bp"] = "e";  // it ends in the slice around it, not in the next
  }
  const json document = {
      {"schemaVersion", 1},
      {"deviceProperties",
       json::array({{{"id", 0}, {"name", "simulated " + gpu}, {"numSms", multiprocessors}}})},
      {"displayTimeUnit", "ms"},
      {"traceEvents", std::move(events)}};
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace simgpu::cli
