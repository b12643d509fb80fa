#include "labs/toolkit/profiler/chrome_trace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "labs/toolkit/profiler/json_text.h"

namespace rooflab {
namespace {

using Kind = ProfiledEvent::Kind;

/// Where a slice is drawn: a process and a row of it.
struct Place {
  std::size_t process = 0;
  std::size_t row = 0;
};

/// The times of an event in whole nanoseconds, so that what touches still touches when printed.
struct Span {
  std::int64_t start = 0, end = 0;
};

std::int64_t nanoseconds(double microseconds) {
  constexpr double kMost = 9e18;  // fits into 64 bits
  if (!std::isfinite(microseconds)) return 0;
  return std::llround(std::clamp(microseconds * 1e3, 0.0, kMost));
}

Span span_of(const ProfiledEvent& event) {
  const std::int64_t start = nanoseconds(event.start_us);
  return {start, std::max(start, nanoseconds(event.start_us + event.duration_us))};
}

const char* category_of(Kind kind) {
  switch (kind) {
    case Kind::kernel:
      return "kernel";
    case Kind::copy:
      return "gpu_memcpy";
    case Kind::memset:
      return "gpu_memset";
    case Kind::api:
      return "cuda_runtime";
    case Kind::range:
      return "user_annotation";
  }
  return "";
}

/// Gives the slices of one row lines on which they are apart, or nested where that means something.
class Lines {
 public:
  /// Slices must come by start, the longer first.
  /// @param nests one may be drawn inside of another: what the host does, but no kernel
  /// @returns the number of the line
  std::size_t place(const Span& span, bool nests) {
    for (std::size_t line = 0;; ++line) {
      if (line == open_.size()) open_.emplace_back();
      std::vector<std::int64_t>& ends = open_[line];
      while (!ends.empty() && ends.back() <= span.start) ends.pop_back();
      if (ends.empty() || (nests && span.end <= ends.back())) {
        ends.push_back(span.end);
        return line;
      }
    }
  }

 private:
  std::vector<std::vector<std::int64_t>> open_;  ///< ends of the slices around, by line
};

/// Writes the events of one run.
class RunWriter {
 public:
  RunWriter(const Profile& profile, std::size_t host, std::size_t device, std::uint64_t* flow,
            JsonText& json)
      : profile_(profile), host_(host), device_(device), flow_(flow), json_(json) {}

  void write() {
    name_process(host_, "host");
    name_process(device_, profile_.device.name.empty() ? "GPU" : profile_.device.name);
    place_all();
    name_rows();
    for (const std::size_t index : order_) write_slice(index);
    write_flows();
  }

 private:
  /// Host threads, then streams; lines of one row stand together.
  using RowKey = std::tuple<std::size_t, std::uint64_t, std::size_t>;  // process, number, line

  void place_all() {
    order_.resize(profile_.events.size());
    spans_.reserve(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      order_[i] = i;
      spans_.push_back(span_of(profile_.events[i]));
    }
    std::ranges::stable_sort(order_, [this](std::size_t a, std::size_t b) {
      // Of two that cover the same time, the range is around the call.
      const auto key = [this](std::size_t i) {
        return std::tuple(spans_[i].start, -spans_[i].end, profile_.events[i].kind != Kind::range);
      };
      return key(a) < key(b);
    });
    std::map<std::pair<std::size_t, std::uint64_t>, Lines> lines;
    keys_.resize(order_.size());
    for (const std::size_t i : order_) {
      const ProfiledEvent& event = profile_.events[i];
      const bool on_device = is_device_work(event);
      const std::size_t process = on_device ? device_ : host_;
      const std::uint64_t number = on_device ? event.stream : event.thread;
      keys_[i] = {process, number, lines[{process, number}].place(spans_[i], !on_device)};
      rows_[keys_[i]] = 0;
    }
    std::size_t row = 1;  // Perfetto takes thread 0 for the idle task
    for (auto& [key, number] : rows_) number = row++;
  }

  Place place_of(std::size_t index) const {
    return {std::get<0>(keys_[index]), rows_.at(keys_[index])};
  }

  void begin(const char* phase, const std::string& name, const Place& place) {
    json_.begin_object();
    json_.member("ph", phase);
    json_.member("name", name);
    json_.member("pid", place.process);
    json_.member("tid", place.row);
  }

  void metadata(const char* what, const Place& place, const std::string& name) {
    begin("M", what, place);
    json_.key("args");
    json_.begin_object();
    json_.member("name", name);
    json_.end_object();
    json_.end_object();
  }
  void sort_index(const char* what, const Place& place, std::size_t index) {
    begin("M", what, place);
    json_.key("args");
    json_.begin_object();
    json_.member("sort_index", index);
    json_.end_object();
    json_.end_object();
  }

  void name_process(std::size_t process, const std::string& what) {
    const std::string run = profile_.name.empty() ? "" : profile_.name + ": ";
    const char* modelled = profile_.modelled ? " (modelled time)" : "";
    metadata("process_name", {process, 0}, run + what + modelled);
    sort_index("process_sort_index", {process, 0}, process);
  }

  void name_rows() {
    for (const auto& [key, row] : rows_) {
      const auto& [process, number, line] = key;
      std::string name = (process == device_ ? "stream " : "thread ") + std::to_string(number);
      if (line > 0) name += " (" + std::to_string(line + 1) + ")";
      metadata("thread_name", {process, row}, name);
      sort_index("thread_sort_index", {process, row}, row);
    }
  }

  void write_slice(std::size_t index) {
    const ProfiledEvent& event = profile_.events[index];
    begin("X", event.name, place_of(index));
    json_.member("cat", category_of(event.kind));
    json_.time("ts", spans_[index].start);
    json_.time("dur", spans_[index].end - spans_[index].start);
    json_.key("args");
    json_.begin_object();
    if (is_device_work(event)) {
      write_device_arguments(event);
    } else {
      write_host_arguments(event);
    }
    json_.end_object();
    json_.end_object();
  }

  void write_device_arguments(const ProfiledEvent& event) {
    json_.member("device", 0);
    json_.member("stream", event.stream);
    json_.member("correlation", event.correlation);
    if (event.graph != 0) json_.member("graph", event.graph);
    if (event.kind != Kind::kernel) {
      json_.member("bytes", event.bytes);
      if (event.duration_us > 0) {
        json_.member("memory bandwidth (GB/s)",
                     static_cast<double>(event.bytes) / event.duration_us * 1e-3);
      }
      return;
    }
    json_.member("registers per thread", event.registers_per_thread);
    json_.member("shared memory", event.shared_bytes);
    json_.member("blocks per SM", event.blocks_per_sm);
    json_.member("warps per SM", event.warps_per_sm);
    json_.member("grid", event.grid);
    json_.member("block", event.block);
    json_.member("est. achieved occupancy %", event.occupancy * 100);
    if (event.flops > 0) json_.member("FLOPs", event.flops);
    if (event.dram_bytes > 0) json_.member("DRAM bytes", event.dram_bytes);
    if (!event.limiter.empty()) json_.member("limiter", event.limiter);
  }

  void write_host_arguments(const ProfiledEvent& event) {
    if (event.kind == Kind::api) json_.member("correlation", event.correlation);
    if (event.memory_bytes != 0) json_.member("device memory, bytes", event.memory_bytes);
    if (event.theoretical_flops > 0) json_.member("theoretical FLOPs", event.theoretical_flops);
    if (event.theoretical_bytes > 0) json_.member("theoretical bytes", event.theoretical_bytes);
  }

  /// An arrow from each call to each piece of work that it issued. Every arrow has a number of its
  /// own, for the work of one graph launch shares its correlation.
  void write_flows() {
    std::map<std::uint64_t, std::size_t> calls;
    for (const std::size_t i : order_) {
      const ProfiledEvent& event = profile_.events[i];
      if (event.kind == Kind::api && event.correlation != 0) calls.emplace(event.correlation, i);
    }
    for (const std::size_t i : order_) {
      const ProfiledEvent& event = profile_.events[i];
      const auto call = calls.find(event.correlation);
      // Viewers take an arrow's ends by time: one that would go backwards is none.
      if (!is_device_work(event) || call == calls.end() ||
          spans_[call->second].start > spans_[i].start) {
        continue;
      }
      ++*flow_;
      write_flow_end("s", call->second);
      write_flow_end("f", i);
    }
  }

  void write_flow_end(const char* phase, std::size_t index) {
    begin(phase, "ac2g", place_of(index));
    json_.member("cat", "ac2g");
    json_.member("id", *flow_);
    json_.time("ts", spans_[index].start);
    if (*phase == 'f') json_.member("bp", "e");  // it ends in the slice around it, not in the next
    json_.end_object();
  }

  const Profile& profile_;
  std::size_t host_, device_;
  std::uint64_t* flow_;
  JsonText& json_;
  std::vector<std::size_t> order_;  ///< of events, as they are drawn
  std::vector<Span> spans_;         ///< by event
  std::vector<RowKey> keys_;        ///< by event
  std::map<RowKey, std::size_t> rows_;
};

void write_device(const ProfiledDevice& device, std::size_t id, JsonText& json) {
  json.begin_object();
  json.member("id", id);
  json.member("name", device.name);
  json.member("totalGlobalMem", device.memory_bytes);
  json.member("computeMajor", device.compute_major);
  json.member("computeMinor", device.compute_minor);
  json.member("numSms", device.multiprocessors);
  json.member("warpSize", device.warp_size);
  json.member("maxThreadsPerBlock", device.max_threads_per_block);
  json.member("maxThreadsPerMultiprocessor", device.max_threads_per_multiprocessor);
  json.member("regsPerBlock", device.registers_per_block);
  json.member("regsPerMultiprocessor", device.registers_per_multiprocessor);
  json.member("sharedMemPerBlock", device.shared_bytes_per_block);
  json.member("sharedMemPerBlockOptin", device.shared_bytes_per_block_optin);
  json.member("sharedMemPerMultiprocessor", device.shared_bytes_per_multiprocessor);
  json.end_object();
}

}  // namespace

std::string chrome_trace(const std::vector<Profile>& runs) {
  JsonText json;
  json.begin_object();
  json.member("schemaVersion", 1);
  json.key("deviceProperties");
  json.begin_array();
  // All runs of a document are on one machine's device.
  if (!runs.empty()) write_device(runs.front().device, 0, json);
  json.end_array();
  json.member("displayTimeUnit", "ms");
  json.key("traceEvents");
  json.begin_array();
  std::uint64_t flow = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    // Away from the rows' numbers: a thread with its process's number is the main thread.
    const std::size_t process = 1000 * (i + 1);
    RunWriter(runs[i], process, process + 1, &flow, json).write();
  }
  json.end_array();
  json.end_object();
  return json.take() + "\n";
}

std::string chrome_trace(const Profile& profile) {
  return chrome_trace(std::vector<Profile>{profile});
}

}  // namespace rooflab
