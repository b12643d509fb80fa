#include "study.h"

#include <algorithm>
#include <functional>

#include "flash_forward.h"
#include "io.h"
#include "sdpa.h"
#include "toolkit/memory.h"
#include "toolkit/profiler/profiler.h"
#include "toolkit/timing.h"

namespace plot = rooflab::plot;

namespace {

struct FormOfAttention {
  const char* label;
  StudyResult StudyRow::*result;
  std::function<void(int length)> call;
  std::function<std::int64_t(const AttentionSize&)> arrays;   // bytes
  std::function<std::int64_t(const AttentionSize&)> traffic;  // across DRAM
};

std::int64_t four_matrices(const AttentionSize& s) {
  return 4 * s.heads * s.length * s.head_dim * s.bytes_per_element;
}
std::int64_t with_log_sum_exps(const AttentionSize& s) {
  return four_matrices(s) + flash_memory(s);
}

std::vector<FormOfAttention> forms_on(const StudyDevice& d) {
  const auto standard = [d](int length) {
    sdpa(d.cublas, d.q, d.k, d.v, d.out, study_shape(length), nullptr);
  };
  const auto flash = [d](int length) {
    flash_forward(d.q, d.k, d.v, d.out, d.log_sum_exp, study_shape(length), nullptr);
  };
  return {{"standard", &StudyRow::standard, standard, four_matrices, standard_traffic},
          {"flash", &StudyRow::flash, flash, with_log_sum_exps, with_log_sum_exps}};
}

std::int64_t kernels_of(const std::function<void()>& once) {
  const rooflab::Profile seen = rooflab::profile(once, {.wait = 0, .warmup = 0, .active = 1});
  return std::count_if(seen.events.begin(), seen.events.end(), [](const auto& event) {
    return event.kind == rooflab::ProfiledEvent::Kind::kernel;
  });
}

}  // namespace

std::vector<StudyRow> study(const StudyDevice& device, const std::filesystem::path& folder) {
  plot::AttentionChart lines{.title = "Two forms of attention on " + device.name,
                             .lengths = {},
                             .latency_ms = {{"standard", {}}, {"flash", {}}},
                             .memory_bytes = {{"standard", {}}, {"flash", {}}}};
  plot::RooflineChart roofs{.title = "Where they stand on " + device.name,
                            .roofs = {{"fp32", device.gpu.flops_per_second}},
                            .memory = {{"DRAM", device.gpu.bytes_per_second}},
                            .points = {}};
  const auto forms = forms_on(device);
  std::vector<StudyRow> rows;
  for (const int length : kStudyLengths) {
    StudyRow row{.length = length, .standard = {}, .flash = {}};
    const AttentionSize size{.heads = kStudyHeads,
                             .length = length,
                             .head_dim = kStudyHeadDim,
                             .bytes_per_element = 4,
                             .causal = false};
    for (std::size_t f = 0; f < forms.size(); ++f) {
      const auto& form = forms[f];
      const auto once = [&] { form.call(length); };
      StudyResult& result = row.*form.result;
      result.kernels = kernels_of(once);
      result.memory_bytes = rooflab::peak_memory(once) + form.arrays(size);
      result.milliseconds =
          rooflab::time_ms(once, 1, device.kind == plot::PointKind::modelled ? 1 : 25);
      lines.latency_ms[f].values.push_back(result.milliseconds);
      lines.memory_bytes[f].values.push_back(static_cast<double>(result.memory_bytes));
      if (length != kStudyLengths.front() && length != kStudyLengths.back()) continue;
      const double flops = static_cast<double>(attention_flops(size));
      const double intensity = flops / static_cast<double>(form.traffic(size));
      const std::string label = form.label + (" " + std::to_string(length));
      const double roof =
          std::min(intensity * device.gpu.bytes_per_second, device.gpu.flops_per_second);
      roofs.points.push_back({label, intensity, roof, plot::PointKind::predicted});
      roofs.points.push_back({label, intensity, flops / (1e-3 * result.milliseconds), device.kind});
    }
    lines.lengths.push_back(length);
    rows.push_back(row);
  }
  plot::write(lines, folder / "attention");
  plot::write(roofs, folder / "roofline");
  return rows;
}
