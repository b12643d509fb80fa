#include "layer_study.h"

#include <functional>
#include <string>

#include "toolkit/timing.h"

namespace plot = rooflab::plot;

namespace {

using Rows = std::vector<LayerStudyRow>;

// One call of the layer, as it is to be measured.
struct Call {
  int batch, length, new_tokens;
  rooflab::Cost cost;
  std::function<void()> run;
};

LayerStudyRow measured(const LayerStudyDevice& device, const Call& call) {
  LayerStudyRow row;
  row.batch = call.batch;
  row.length = call.length;
  row.milliseconds = rooflab::time_ms(call.run, 2, 3, device.context.stream);
  const double seconds = row.milliseconds * 1e-3;
  row.tokens_per_second = call.new_tokens / seconds;
  row.utilisation = call.cost.flops / seconds / device.gpu.flops_per_second;
  return row;
}

void draw(const std::string& title, const std::string& x_label, const Rows& along,
          int LayerStudyRow::*x, const std::vector<std::pair<std::string, const Rows*>>& curves,
          const std::filesystem::path& stem) {
  plot::LatencyChart chart;
  chart.title = title;
  chart.x_label = x_label;
  for (const LayerStudyRow& row : along) chart.x.push_back(std::to_string(row.*x));
  for (const auto& [label, rows] : curves) {
    plot::Series series{label, {}};
    for (const LayerStudyRow& row : *rows) series.values.push_back(row.milliseconds);
    chart.latency_ms.push_back(series);
  }
  plot::write(chart, stem);
}

}  // namespace

LayerStudy layer_study(const LayerStudyDevice& device, const std::filesystem::path& folder) {
  LayerStudy study;
  for (const int length : kStudyLengths) {
    study.prefill.push_back(
        measured(device, {1, length, length, prefill_cost(kStudyLayer, 1, length), [&] {
                            prefill_forward(device.context, device.shape, device.weights,
                                            device.hidden, device.positions, 1, length,
                                            device.cache);
                          }}));
  }
  for (const int batch : kStudyBatches) {
    study.decode.push_back(
        measured(device, {batch, kStudyText, batch, decode_cost(kStudyLayer, batch, kStudyText), [&] {
                            decode_forward(device.context, device.shape, device.weights,
                                           device.hidden, device.positions + kStudyText - 1, batch,
                                           device.cache);
                          }}));
    study.decode_without_cache.push_back(
        measured(device, {batch, kStudyText, batch, prefill_cost(kStudyLayer, batch, kStudyText), [&] {
                            decode_without_cache_forward(device.context, device.shape,
                                                         device.weights, device.hidden,
                                                         device.positions, batch, kStudyText);
                          }}));
  }

  draw("Prefill, fp32, " + device.name, "tokens", study.prefill, &LayerStudyRow::length,
       {{"prefill", &study.prefill}}, folder / "prefill");
  draw("Decode, fp32, " + device.name, "batch", study.decode, &LayerStudyRow::batch,
       {{"with a cache", &study.decode}, {"without a cache", &study.decode_without_cache}},
       folder / "decode");
  return study;
}
