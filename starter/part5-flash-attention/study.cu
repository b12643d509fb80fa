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

// Your helpers go here.
}  // namespace

// Time, memory and kernels of `run`, one call of a form; `arrays` bytes are those of its arrays.
StudyResult measure(const StudyDevice& device, const std::function<void()>& run,
                    std::int64_t arrays) {
  rooflab::todo("use time_ms, peak_memory and profile of the toolkit on `run`");
}

// Both forms at one length.
StudyRow measure_length(const StudyDevice& device, int length) {
  rooflab::todo("measure a call of sdpa and one of flash_forward; which arrays has each?");
}

// Latency and memory of both forms over the length.
plot::AttentionChart attention_chart(const StudyDevice& device, const std::vector<StudyRow>& rows) {
  plot::AttentionChart chart;
  chart.title = "Attention on " + device.name + ", fp32";
  rooflab::todo("give the chart its lengths, and two series in each panel");
}

// The shortest and the longest sequence under the roofs.
plot::RooflineChart roofline_chart(const StudyDevice& device, const std::vector<StudyRow>& rows) {
  plot::RooflineChart chart;
  chart.title = "Attention on " + device.name + ", fp32";
  chart.roofs = {{"fp32", device.gpu.flops_per_second}};
  chart.memory = {{"DRAM", device.gpu.bytes_per_second}};
  rooflab::todo("place both forms of the first and the last row, as study.h says");
}

std::vector<StudyRow> study(const StudyDevice& device, const std::filesystem::path& folder) {
  std::vector<StudyRow> rows;
  for (const int length : kStudyLengths) rows.push_back(measure_length(device, length));
  plot::write(attention_chart(device, rows), folder / "attention");
  plot::write(roofline_chart(device, rows), folder / "roofline");
  return rows;
}
