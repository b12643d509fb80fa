#include "layer_study.h"

#include <functional>
#include <string>

#include "toolkit/timing.h"
#include "toolkit/todo.h"

namespace plot = rooflab::plot;

// One row: what the time of a call says that makes `new_tokens` tokens and costs `cost`.
LayerStudyRow row(const LayerStudyDevice& device, int batch, int length, int new_tokens,
                  const rooflab::Cost& cost, double milliseconds) {
  rooflab::todo("how many tokens a second are that, and which share of the peak's FLOPs?");
}

// The mean time of one call, in milliseconds.
double time_of(const LayerStudyDevice& device, const std::function<void()>& call) {
  rooflab::todo("use time_ms: how many calls warm up, and on which stream do they run?");
}

LayerStudy measure(const LayerStudyDevice& device) {
  LayerStudy study;
  rooflab::todo("one loop over kStudyLengths and one over kStudyBatches: a row for each call");
}

plot::Series latencies(const std::string& label, const std::vector<LayerStudyRow>& rows) {
  plot::Series series{label, {}};
  for (const LayerStudyRow& row : rows) series.values.push_back(row.milliseconds);
  return series;
}

void draw(const LayerStudyDevice& device, const LayerStudy& study,
          const std::filesystem::path& folder) {
  plot::LatencyChart prefill{.title = "Prefill on " + device.name + ", fp32",
                             .x_label = "tokens",
                             .x = {},
                             .latency_ms = {latencies("prefill", study.prefill)}};
  for (const LayerStudyRow& row : study.prefill) prefill.x.push_back(std::to_string(row.length));
  plot::write(prefill, folder / "prefill");
  rooflab::todo("the chart of decode likewise: batches along x, two series");
}

LayerStudy layer_study(const LayerStudyDevice& device, const std::filesystem::path& folder) {
  const LayerStudy study = measure(device);
  draw(device, study, folder);
  return study;
}
