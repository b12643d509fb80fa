#include "study.h"

#include <algorithm>
#include <functional>
#include <string>

#include "flash_forward.h"
#include "io.h"
#include "sdpa.h"
#include "toolkit/memory.h"
#include "toolkit/profiler/profiler.h"
#include "toolkit/timing.h"

namespace plot = rooflab::plot;

namespace {

AttentionSize size_of(int length) {
  AttentionSize size;
  size.heads = kStudyHeads;
  size.length = length;
  size.head_dim = kStudyHeadDim;
  size.bytes_per_element = sizeof(float);
  return size;
}

// One of the two forms: its name, how to call it, and what its arrays and its traffic are.
struct Way {
  std::string name;
  std::function<void(const StudyDevice&, int)> call;
  std::function<std::int64_t(int)> array_bytes;
  std::function<std::int64_t(int)> traffic;
  StudyResult StudyRow::*result;
};

std::int64_t four_arrays(int length) {
  return std::int64_t{4} * kStudyHeads * length * kStudyHeadDim * sizeof(float);
}

std::int64_t with_log_sum_exp(int length) {
  return four_arrays(length) + std::int64_t{kStudyHeads} * length * sizeof(float);
}

const Way kWays[] = {
    {"standard",
     [](const StudyDevice& d, int length) {
       sdpa(d.cublas, d.q, d.k, d.v, d.out, study_shape(length), nullptr);
     },
     four_arrays, [](int length) { return standard_traffic(size_of(length)); },
     &StudyRow::standard},
    {"flash",
     [](const StudyDevice& d, int length) {
       flash_forward(d.q, d.k, d.v, d.out, d.log_sum_exp, study_shape(length), nullptr);
     },
     with_log_sum_exp, with_log_sum_exp, &StudyRow::flash}};

std::int64_t kernels_of(const std::function<void()>& run) {
  const rooflab::Profile seen = rooflab::profile(run, {.wait = 0, .warmup = 1, .active = 1});
  std::int64_t kernels = 0;
  for (const rooflab::ProfiledEvent& event : seen.events) {
    kernels += event.kind == rooflab::ProfiledEvent::Kind::kernel;
  }
  return kernels;
}

}  // namespace

std::vector<StudyRow> study(const StudyDevice& device, const std::filesystem::path& folder) {
  std::vector<StudyRow> rows;
  plot::AttentionChart bars;
  bars.title = "Two forms of attention, fp32, " + device.name;
  plot::RooflineChart roofs;
  roofs.title = bars.title;
  roofs.roofs.push_back({"fp32", device.gpu.flops_per_second});
  roofs.memory.push_back({"DRAM", device.gpu.bytes_per_second});

  for (const int length : kStudyLengths) {
    StudyRow row;
    row.length = length;
    for (const Way& way : kWays) {
      const auto run = [&] { way.call(device, length); };
      StudyResult& result = row.*way.result;
      result.milliseconds = rooflab::time_ms(run, 1, 1);
      result.memory_bytes = way.array_bytes(length) + rooflab::peak_memory(run);
      result.kernels = kernels_of(run);
    }
    rows.push_back(row);
  }

  for (const StudyRow& row : rows) bars.lengths.push_back(row.length);
  for (const Way& way : kWays) {
    plot::Series latency{way.name, {}}, memory{way.name, {}};
    for (const StudyRow& row : rows) {
      latency.values.push_back((row.*way.result).milliseconds);
      memory.values.push_back(static_cast<double>((row.*way.result).memory_bytes));
    }
    bars.latency_ms.push_back(latency);
    bars.memory_bytes.push_back(memory);
  }
  plot::write(bars, folder / "attention");

  for (const StudyRow* row : {&rows.front(), &rows.back()}) {
    const double flops = attention_flops(size_of(row->length));
    for (const Way& way : kWays) {
      const std::string label = way.name + " " + std::to_string(row->length);
      const double intensity = flops / way.traffic(row->length);
      const double fed = intensity * device.gpu.bytes_per_second;
      const double seconds = (row->*way.result).milliseconds / 1e3;
      roofs.points.push_back({label, intensity, std::min(fed, device.gpu.flops_per_second),
                              plot::PointKind::predicted});
      roofs.points.push_back({label, intensity, flops / seconds, device.kind});
    }
  }
  plot::write(roofs, folder / "roofline");
  return rows;
}
