#include "simgpu/cli/report_file.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "simgpu/cli/calls_json.h"
#include "simgpu/cli/dim3_json.h"
#include "simgpu/cli/lines_json.h"
#include "simgpu/model/explanation.h"
#include "simgpu/time_band.h"

namespace simgpu::cli {
namespace {

using nlohmann::json;

/// A thread and warp that are not known are null.
json site_json(const AccessSite& site) {
  return {{"file", site.file},
          {"line", site.line},
          {"column", site.column},
          {"block", triple(site.block)},
          {"thread", site.knows_thread ? triple(site.thread) : json()},
          {"warp", site.knows_thread ? json(site.warp) : json()},
          {"action", site.action},
          {"inlined_at", calls_json(site.inlined_at)}};
}

json finding_json(const Finding& finding) {
  json entry = site_json(finding.where);
  entry["code"] = finding.code.text();
  entry["kind"] = name_of(finding.kind());
  entry["kernel"] = finding.kernel;
  entry["object"] = finding.object;
  entry["message"] = finding.message;
  entry["occurrences"] = finding.occurrences;
  if (finding.other) entry["other"] = site_json(*finding.other);
  for (const SourceNote& note : finding.also) {
    entry["also"].push_back({{"file", note.file}, {"line", note.line}, {"text", note.text}});
  }
  return entry;
}

json explanation_json(const KernelRecord& kernel, int sm_count) {
  const Explanation why = explain(kernel, sm_count);
  return {{"limiter", why.limiter},
          {"meaning", why.meaning},
          {"change", why.change},
          {"next_limiter", why.next_limiter ? name_of(*why.next_limiter) : ""},
          {"proof",
           {{"counter", why.proof.counter}, {"value", why.proof.value}, {"says", why.proof.says}}},
          {"most_gain", why.most_gain},
          {"exposed_us", why.exposed_us},
          {"waves", why.waves}};
}

json machine_code_json(const KernelRecord& kernel) {
  const MachineCodeRecord code =
      kernel.machine_code.value_or(MachineCodeRecord{.why_not = "it is a routine of a library"});
  return {{"instructions", code.instructions},
          {"aligned", code.aligned},
          {"warp_instructions", code.warp_instructions},
          {"deviation", code.deviation},
          {"why_not", code.why_not}};
}

json kernel_json(const KernelRecord& kernel, int sm_count, LinesJson& lines) {
  const TimeBand band = band_of(kernel);
  const std::optional<BandClass> band_class = band_class_of(kernel);
  return {{"name", kernel.name},
          {"correlation", kernel.correlation},
          {"stream", kernel.stream},
          {"graph_launch", kernel.graph_launch},
          {"grid", triple(kernel.grid)},
          {"block", triple(kernel.block)},
          {"start_us", kernel.start_us},
          {"time_us", kernel.time.total_us},
          {"time_band_us", {band.low_us, band.high_us}},
          {"time_band_class", band_class ? name_of(*band_class) : ""},
          {"limiter", kernel.time.limiter ? name_of(*kernel.time.limiter) : ""},
          {"terms_us", by_name(kernel.time.terms)},
          {"launch_us", kernel.time.launch_us},
          {"wave_quantisation", kernel.time.wave_quantisation},
          {"explanation", explanation_json(kernel, sm_count)},
          {"registers_per_thread", kernel.registers_per_thread},
          {"registers_are_estimated", kernel.registers_are_estimated},
          {"static_shared_bytes", kernel.static_shared_bytes},
          {"dynamic_shared_bytes", kernel.dynamic_shared_bytes},
          {"blocks_per_sm", kernel.blocks_per_sm},
          {"theoretical_occupancy", kernel.theoretical_occupancy},
          {"occupancy_limiter", words_of(kernel.occupancy_limiter)},
          {"failed", kernel.failed},
          {"sampled", kernel.sampled},
          {"sampled_blocks", kernel.sampled_blocks},
          {"counters", nsight_counters(kernel)},
          {"machine_code", machine_code_json(kernel)},
          {"lines", lines.of(kernel)}};
}

json memory_json(const MemoryRecord& record) {
  return {{"kind", name_of(record.operation)},
          {"bytes", record.bytes},
          {"correlation", record.correlation},
          {"stream", record.stream},
          {"graph_launch", record.graph_launch},
          {"start_us", record.start_us},
          {"time_us", record.time_us}};
}

/// Untrusted text may not be UTF-8; such bytes become U+FFFD.
std::string text_of(const json& document) {
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string report_json(const Activity& activity, const gpu_spec::GpuSpec& gpu) {
  json document = {{"schema", 1},
                   {"gpu", gpu.id},
                   {"time_kind", "modelled"},
                   {"findings", json::array()},
                   {"kernels", json::array()},
                   {"memory", json::array()},
                   {"elapsed_us", activity.elapsed_us},
                   {"allocated", activity.allocated},
                   {"peak_allocated", activity.peak_allocated},
                   {"api_calls", activity.api_calls},
                   {"host_launches", host_launches(activity)},
                   {"error", activity.error}};
  for (const Finding& finding : activity.findings) {
    document["findings"].push_back(finding_json(finding));
  }
  LinesJson lines(activity);
  for (const KernelRecord& kernel : activity.kernels) {
    document["kernels"].push_back(kernel_json(kernel, gpu.sm_count, lines));
  }
  for (const MemoryRecord& record : activity.memory) {
    document["memory"].push_back(memory_json(record));
  }
  return text_of(document);
}

void write_file(const std::filesystem::path& file, const std::string& contents) {
  const std::filesystem::path unfinished = file.string() + ".unfinished";
  std::error_code error;
  {
    std::ofstream stream(unfinished, std::ios::binary);
    stream << contents;
    stream.flush();
    if (!stream) {
      std::filesystem::remove(unfinished, error);
      throw std::runtime_error(fmt::format(
          "{} cannot be written: check the folder and the space on its disk", file.string()));
    }
  }
  std::filesystem::rename(unfinished, file, error);
  if (error) {
    throw std::runtime_error(
        fmt::format("{} cannot be written: {}", file.string(), error.message()));
  }
}

}  // namespace simgpu::cli
