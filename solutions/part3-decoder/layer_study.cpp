#include "layer_study.h"

#include <functional>
#include <string>

#include "toolkit/timing.h"
#include "toolkit/todo.h"

namespace plot = rooflab::plot;

// One row: what the time of a call says that makes `new_tokens` tokens and costs `cost`.
LayerStudyRow row(const LayerStudyDevice& device, int batch, int length, int new_tokens,
                  const rooflab::Cost& cost, double milliseconds) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many tokens a second are that, and which share of the peak's FLOPs?");
  const double seconds = milliseconds * 1e-3;
  const auto flops = static_cast<double>(cost.flops);
  return {.batch = batch,
          .length = length,
          .milliseconds = milliseconds,
          .tokens_per_second = new_tokens / seconds,
          .utilisation = flops / (seconds * device.gpu.flops_per_second)};
  // END SOLUTION
}

// The mean time of one call, in milliseconds.
double time_of(const LayerStudyDevice& device, const std::function<void()>& call) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("use time_ms: how many calls warm up, and on which stream do they run?");
  // Modelled times have no noise; where times are measured, more repeats smooth it.
  const int repeats = device.kind == plot::PointKind::modelled ? 1 : 20;
  return rooflab::time_ms(call, 1, repeats, device.context.stream);
  // END SOLUTION
}

LayerStudy measure(const LayerStudyDevice& device) {
  LayerStudy study;
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("one loop over kStudyLengths and one over kStudyBatches: a row for each call");
  for (const int length : kStudyLengths) {
    const double milliseconds = time_of(device, [&] {
      prefill_forward(device.context, device.shape, device.weights, device.hidden, device.positions,
                      1, length, device.cache);
    });
    study.prefill.push_back(
        row(device, 1, length, length, prefill_cost(kStudyLayer, 1, length), milliseconds));
  }
  for (const int batch : kStudyBatches) {
    const double cached = time_of(device, [&] {
      decode_forward(device.context, device.shape, device.weights, device.hidden,
                     device.positions + kStudyText - 1, batch, device.cache);
    });
    const double uncached = time_of(device, [&] {
      decode_without_cache_forward(device.context, device.shape, device.weights, device.hidden,
                                   device.positions, batch, kStudyText);
    });
    study.decode.push_back(
        row(device, batch, kStudyText, batch, decode_cost(kStudyLayer, batch, kStudyText), cached));
    study.decode_without_cache.push_back(row(
        device, batch, kStudyText, batch, prefill_cost(kStudyLayer, batch, kStudyText), uncached));
  }
  return study;
  // END SOLUTION
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
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("the chart of decode likewise: batches along x, two series");
  plot::LatencyChart decode{
      .title = "Decode on " + device.name + ", fp32",
      .x_label = "batch",
      .x = {},
      .latency_ms = {latencies("with a cache", study.decode),
                     latencies("without a cache", study.decode_without_cache)}};
  for (const LayerStudyRow& row : study.decode) decode.x.push_back(std::to_string(row.batch));
  plot::write(decode, folder / "decode");
  // END SOLUTION
}

LayerStudy layer_study(const LayerStudyDevice& device, const std::filesystem::path& folder) {
  const LayerStudy study = measure(device);
  draw(device, study, folder);
  return study;
}
