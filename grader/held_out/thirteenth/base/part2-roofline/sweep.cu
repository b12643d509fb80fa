#include "sweep.h"

#include <functional>
#include <string>
#include <vector>

#include "roofline_model.h"
#include "stream.h"
#include "toolkit/linear.h"
#include "toolkit/timing.h"

namespace plot = rooflab::plot;
using rooflab::Cost;

namespace {

class Sweep {
 public:
  explicit Sweep(const SweepDevice& device) : device_(device) {
    chart_.title = "Seven operations in fp32, " + device.name;
    chart_.roofs.push_back({"fp32", device.gpu.flops_per_second});
    chart_.memory.push_back({"DRAM", device.gpu.bytes_per_second});
  }

  // tokens rows times an n x n matrix
  void linear(const std::string& label, std::int64_t tokens, std::int64_t n) {
    const std::int64_t macs = tokens * n * n;
    const std::int64_t elements = n * n + 2 * tokens * n;
    place(label, {.macs = macs, .flops = 2 * macs, .bytes = elements * kFloat}, [=, this] {
      rooflab::linear(device_.cublas, device_.x, device_.y, device_.out, static_cast<int>(tokens),
                      static_cast<int>(n), static_cast<int>(n), nullptr);
    });
  }

  void scale() {
    place("scale 2^26", {.flops = kSweepElements, .bytes = 2 * kSweepElements * kFloat},
          [this] { stream::scale(device_.x, 1.5f, device_.out, kSweepElements); });
  }

  void triad() {
    place("triad 2^26", {.flops = 2 * kSweepElements, .bytes = 3 * kSweepElements * kFloat},
          [this] { stream::triad(device_.x, device_.y, 0.75f, device_.out, kSweepElements); });
  }

  const plot::RooflineChart& chart() const { return chart_; }

 private:
  static constexpr std::int64_t kFloat = sizeof(float);

  void place(const std::string& label, const Cost& cost, const std::function<void()>& run) {
    const double intensity = static_cast<double>(cost.flops) / cost.bytes;
    const double seconds = rooflab::time_ms(run, 1, 2) / 1000;
    chart_.points.push_back(
        {label, intensity, attainable(device_.gpu, intensity), plot::PointKind::predicted});
    chart_.points.push_back({label, intensity, cost.flops / seconds, device_.kind});
  }

  const SweepDevice& device_;
  plot::RooflineChart chart_;
};

}  // namespace

void sweep(const SweepDevice& device, const std::filesystem::path& folder) {
  Sweep all(device);
  for (const int n : {1024, 2048, 4096, 8192}) all.linear("gemm " + std::to_string(n), n, n);
  all.linear("gemv 8192", 1, 8192);
  all.scale();
  all.triad();
  plot::write(all.chart(), folder / "roofline");
}
