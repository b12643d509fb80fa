#include "layer_study.h"

#include <algorithm>
#include <ranges>

#include "toolkit/timing.h"

namespace {

struct Stopwatch {
  const LayerStudyDevice& device;

  template <typename Call>
  LayerStudyRow operator()(int batch, int length, int made, rooflab::Cost cost, Call&& call) const {
    constexpr int kCalls = 2;
    rooflab::Event start, stop;
    call();
    start.record(device.context.stream);
    for (int i = 0; i < kCalls; ++i) call();
    stop.record(device.context.stream);
    stop.wait();
    const double ms = stop.since_ms(start) / kCalls;
    const double whole = ms / 1000 * device.gpu.flops_per_second;
    return {batch, length, ms, made * 1000 / ms, static_cast<double>(cost.flops) / whole};
  }
};

template <typename Sizes>
void write_chart(const LayerStudyDevice& device, const std::filesystem::path& stem,
                 const char* x_label, const Sizes& sizes,
                 std::vector<std::pair<const char*, const std::vector<LayerStudyRow>*>> lines) {
  rooflab::plot::LatencyChart chart{stem.filename().string() + ", " + device.name, x_label, {}, {}};
  for (const int size : sizes) chart.x.push_back(std::to_string(size));
  for (const auto& [label, rows] : lines) {
    chart.latency_ms.push_back({label, {}});
    for (const auto& row : *rows) chart.latency_ms.back().values.push_back(row.milliseconds);
  }
  rooflab::plot::write(chart, stem);
}

}  // namespace

LayerStudy layer_study(const LayerStudyDevice& d, const std::filesystem::path& folder) {
  const Stopwatch time{d};
  LayerStudy study;
  for (const int batch : kStudyBatches | std::views::reverse) {
    study.decode_without_cache.push_back(
        time(batch, kStudyText, batch, prefill_cost(kStudyLayer, batch, kStudyText), [&] {
          decode_without_cache_forward(d.context, d.shape, d.weights, d.hidden, d.positions, batch,
                                       kStudyText);
        }));
    study.decode.push_back(
        time(batch, kStudyText, batch, decode_cost(kStudyLayer, batch, kStudyText), [&] {
          decode_forward(d.context, d.shape, d.weights, d.hidden, d.positions + (kStudyText - 1),
                         batch, d.cache);
        }));
  }
  for (const int length : kStudyLengths | std::views::reverse) {
    study.prefill.push_back(time(1, length, length, prefill_cost(kStudyLayer, 1, length), [&] {
      prefill_forward(d.context, d.shape, d.weights, d.hidden, d.positions, 1, length, d.cache);
    }));
  }
  for (auto* rows : {&study.prefill, &study.decode, &study.decode_without_cache}) {
    std::ranges::reverse(*rows);
  }
  write_chart(d, folder / "prefill", "tokens", kStudyLengths, {{"prefill", &study.prefill}});
  write_chart(d, folder / "decode", "batch", kStudyBatches,
              {{"with a cache", &study.decode}, {"without a cache", &study.decode_without_cache}});
  return study;
}
