#include "study.h"

#include <algorithm>
#include <functional>

#include "flash_forward.h"
#include "io.h"
#include "sdpa.h"
#include "toolkit/memory.h"
#include "toolkit/profiler/category.h"
#include "toolkit/profiler/profiler.h"
#include "toolkit/timing.h"
#include "toolkit/todo.h"

namespace plot = rooflab::plot;

namespace {

// The study's problem as io.h describes it.
[[maybe_unused]] AttentionSize size_of(int length) {
  return {.heads = kStudyHeads,
          .length = length,
          .head_dim = kStudyHeadDim,
          .bytes_per_element = sizeof(float),
          .causal = false};
}

// BEGIN SOLUTION
// STARTER: // Your helpers go here.
// Bytes of q, k, v and out.
std::int64_t array_bytes(int length) {
  return 4 * static_cast<std::int64_t>(sizeof(float)) * kStudyHeads * length * kStudyHeadDim;
}

plot::Series series(const std::string& label, const std::vector<StudyRow>& rows,
                    const std::function<double(const StudyRow&)>& value) {
  plot::Series all{label, {}};
  for (const StudyRow& row : rows) all.values.push_back(value(row));
  return all;
}

// The predicted point of a form at one length, and the one that it reached.
void add_points(const std::string& label, double flops, double bytes, double milliseconds,
                const StudyDevice& device, plot::RooflineChart& chart) {
  constexpr double kMillisecondsPerSecond = 1e3;
  const double intensity = flops / bytes;
  const double attainable =
      std::min(device.gpu.flops_per_second, intensity * device.gpu.bytes_per_second);
  const double reached = flops / milliseconds * kMillisecondsPerSecond;
  chart.points.push_back({label, intensity, attainable, plot::PointKind::predicted});
  chart.points.push_back({label, intensity, reached, device.kind});
}

// END SOLUTION
}  // namespace

// Time, memory and kernels of `run`, one call of a form; `arrays` bytes are those of its arrays.
StudyResult measure(const StudyDevice& device, const std::function<void()>& run,
                    std::int64_t arrays) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("use time_ms, peak_memory and profile of the toolkit on `run`");
  const rooflab::Schedule once{.wait = 0, .warmup = 0, .active = 1};
  // Modelled times have no noise; where times are measured, more repeats smooth it.
  constexpr int kWarmUp = 1;
  const int repeats = device.kind == plot::PointKind::modelled ? 1 : 20;
  return {.milliseconds = rooflab::time_ms(run, kWarmUp, repeats),
          .memory_bytes = arrays + rooflab::peak_memory(run),
          .kernels = rooflab::count_kernels(rooflab::profile(run, once)).total};
  // END SOLUTION
}

// Both forms at one length.
StudyRow measure_length(const StudyDevice& device, int length) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("measure a call of sdpa and one of flash_forward; which arrays has each?");
  const AttentionShape shape = study_shape(length);
  const auto standard = [&] {
    sdpa(device.cublas, device.q, device.k, device.v, device.out, shape, nullptr);
  };
  const auto flash = [&] {
    flash_forward(device.q, device.k, device.v, device.out, device.log_sum_exp, shape, nullptr);
  };
  const std::int64_t arrays = array_bytes(length);
  return {.length = length,
          .standard = measure(device, standard, arrays),
          .flash = measure(device, flash, arrays + flash_memory(size_of(length)))};
  // END SOLUTION
}

// Latency and memory of both forms over the length.
plot::AttentionChart attention_chart(const StudyDevice& device, const std::vector<StudyRow>& rows) {
  plot::AttentionChart chart;
  chart.title = "Attention on " + device.name + ", fp32";
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("give the chart its lengths, and two series in each panel");
  for (const StudyRow& row : rows) chart.lengths.push_back(row.length);
  chart.latency_ms = {
      series("standard", rows, [](const StudyRow& row) { return row.standard.milliseconds; }),
      series("flash", rows, [](const StudyRow& row) { return row.flash.milliseconds; })};
  chart.memory_bytes = {
      series("standard", rows,
             [](const StudyRow& row) { return static_cast<double>(row.standard.memory_bytes); }),
      series("flash", rows,
             [](const StudyRow& row) { return static_cast<double>(row.flash.memory_bytes); })};
  return chart;
  // END SOLUTION
}

// The shortest and the longest sequence under the roofs.
plot::RooflineChart roofline_chart(const StudyDevice& device, const std::vector<StudyRow>& rows) {
  plot::RooflineChart chart;
  chart.title = "Attention on " + device.name + ", fp32";
  chart.roofs = {{"fp32", device.gpu.flops_per_second}};
  chart.memory = {{"DRAM", device.gpu.bytes_per_second}};
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("place both forms of the first and the last row, as study.h says");
  for (const StudyRow& row : {rows.front(), rows.back()}) {
    const AttentionSize size = size_of(row.length);
    const auto flops = static_cast<double>(attention_flops(size));
    const auto standard = static_cast<double>(standard_traffic(size));
    const auto flash = static_cast<double>(array_bytes(row.length) + flash_memory(size));
    const std::string length = " " + std::to_string(row.length);
    add_points("standard" + length, flops, standard, row.standard.milliseconds, device, chart);
    add_points("flash" + length, flops, flash, row.flash.milliseconds, device, chart);
  }
  return chart;
  // END SOLUTION
}

std::vector<StudyRow> study(const StudyDevice& device, const std::filesystem::path& folder) {
  std::vector<StudyRow> rows;
  for (const int length : kStudyLengths) rows.push_back(measure_length(device, length));
  plot::write(attention_chart(device, rows), folder / "attention");
  plot::write(roofline_chart(device, rows), folder / "roofline");
  return rows;
}
