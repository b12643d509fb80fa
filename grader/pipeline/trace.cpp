#include "grader/pipeline/trace.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace rooflab {
namespace {

using nlohmann::json;

constexpr int kKernelRow = 0;
constexpr int kMemoryRow = 1;

json metadata(const char* what, std::size_t process, int row, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", row}, {"args", {{"name", name}}}};
}

std::string extent(const simgpu::Dim3& size) {
  return fmt::format("[{}, {}, {}]", size.x, size.y, size.z);
}

json kernel_event(const simgpu::KernelRecord& kernel, std::size_t process) {
  return {{"ph", "X"},
          {"cat", "kernel"},
          {"name", kernel.name},
          {"pid", process},
          {"tid", kKernelRow},
          {"ts", kernel.start_us},
          {"dur", kernel.time.total_us},
          {"args",
           {{"grid", extent(kernel.grid)},
            {"block", extent(kernel.block)},
            {"registers per thread", kernel.registers_per_thread},
            {"shared memory", kernel.static_shared_bytes + kernel.dynamic_shared_bytes},
            {"theoretical occupancy %", kernel.theoretical_occupancy * 100},
            {"limiter", kernel.time.limiter}}}};
}

json memory_event(const simgpu::MemoryRecord& record, std::size_t process) {
  return {{"ph", "X"},
          {"cat", "memory"},
          {"name", record.kind},
          {"pid", process},
          {"tid", kMemoryRow},
          {"ts", record.start_us},
          {"dur", record.time_us},
          {"args", {{"bytes", record.bytes}}}};
}

}  // namespace

void TraceLog::add(const std::string& run, const simgpu::Activity& activity) {
  runs_.push_back({run, activity});
}

std::string TraceLog::to_json() const {
  json events = json::array();
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    events.push_back(metadata("process_name", i, kKernelRow, runs_[i].name));
    events.push_back(metadata("thread_name", i, kKernelRow, "kernels"));
    events.push_back(metadata("thread_name", i, kMemoryRow, "memory"));
    for (const auto& kernel : runs_[i].activity.kernels) events.push_back(kernel_event(kernel, i));
    for (const auto& record : runs_[i].activity.memory) events.push_back(memory_event(record, i));
  }
  const json document = {{"schemaVersion", 1}, {"displayTimeUnit", "ms"}, {"traceEvents", events}};
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace rooflab
