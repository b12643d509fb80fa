#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/refusal.h"
#include "labs/part2-roofline/oracle/sweep_operations.h"
#include "labs/toolkit/plot/plot.h"

namespace rooflab {
namespace {

using plot::Point;
using plot::PointKind;
using plot::RooflineChart;

/// Intensities and predictions are arithmetic on given numbers; a chart keeps fewer digits.
constexpr double kArithmetic = 1e-5;
/// Events stand a little before and after the kernels between them.
constexpr double kClock = 0.02;
/// Where no records are kept, times are noisy, and L2 and boost clocks may beat a data sheet.
constexpr double kLeastShareOfPrediction = 0.05;
constexpr double kMostShareOfPrediction = 1.3;
/// Of the bytes of an operation of which the largest array is read for two, a smaller share crosses
/// DRAM, and what an L2 keeps from one launch to the next leaves a larger one.
constexpr double kLeastShareOfBytes = 0.75;

/// The two points of an operation.
struct Points {
  const Point* predicted = nullptr;
  const Point* reached = nullptr;
};

double sum_of(const std::vector<double>& times) {
  return std::accumulate(times.begin(), times.end(), 0.0);
}

/// Judges the files of a sweep: the student's code wrote them, so each is parsed as if a stranger
/// had. Performance is compared with the device's own record of the kernels.
class SweepOracle : public Oracle {
 public:
  std::vector<Complaint> judge(const Problem& /*problem*/,
                               const CallEvidence& evidence) const override {
    return refusals_of([&] { Judge(evidence).judge(); });
  }

  std::map<std::string, std::string> artifacts(const Problem& /*problem*/,
                                               const CallEvidence& evidence) const override {
    // Drawn here, from numbers: a student's own SVG could hold anything.
    const RooflineChart chart = plot::roofline_from_json(result(evidence, "json", std::string()));
    return {{"roofline.svg", plot::to_svg(chart)},
            {"roofline.csv", plot::to_csv(chart)},
            {"roofline.json", plot::to_json(chart)}};
  }

 private:
  /// Stops at the first fault.
  class Judge {
   public:
    explicit Judge(const CallEvidence& evidence)
        : evidence_(evidence),
          peak_(told_peaks(evidence).flops_per_second),
          bandwidth_(told_peaks(evidence).bytes_per_second) {}

    void judge() {
      parse();
      check_roofs();
      sort_points();
      for (const SweepOperation& operation : sweep_operations()) {
        const Points points = points_of(operation);
        check_intensity(operation, *points.predicted);
        check_intensity(operation, *points.reached);
        check_prediction(operation, points.predicted->flops_per_second);
      }
      for (const SweepOperation& operation : sweep_operations()) {
        check_performance(operation, *points_of(operation).reached);
      }
      check_inputs();
      check_other_files();
    }

   private:
    PointKind kind() const {
      return evidence_.keeps_records ? PointKind::modelled : PointKind::measured;
    }

    void parse() {
      const std::string json = result(evidence_, "json", std::string());
      if (json.empty()) {
        throw Refusal({"RL0450", "there is no roofline.json in the folder",
                       "write the chart with rooflab::plot::write(chart, folder / \"roofline\")"});
      }
      try {
        chart_ = plot::roofline_from_json(json);
      } catch (const std::invalid_argument& error) {
        throw Refusal({"RL0451", message("roofline.json is no roofline chart: ", error.what()),
                       "fill in a rooflab::plot::RooflineChart and let plot::write make the file"});
      }
    }

    void check_roofs() const {
      const bool right = chart_.roofs.size() == 1 && chart_.memory.size() == 1 &&
                         is_close(chart_.roofs[0].flops_per_second, peak_, kArithmetic) &&
                         is_close(chart_.memory[0].bytes_per_second, bandwidth_, kArithmetic);
      if (right) return;
      throw Refusal({"RL0452",
                     message("the chart's roofs are not those of this GPU, ", peak_, " FLOP/s and ",
                             bandwidth_, " B/s"),
                     "one roof, device.gpu.flops_per_second, and one memory level, "
                     "device.gpu.bytes_per_second"});
    }

    void sort_points() {
      for (const Point& point : chart_.points) {
        const auto known = std::ranges::find(sweep_operations(), std::string_view(point.label),
                                             &SweepOperation::label);
        if (known == sweep_operations().end()) {
          throw Refusal({"RL0453", message(quoted(point.label), " is no operation of the sweep"),
                         "sweep.h lists the seven labels: \"gemm 1024\", ..., \"triad 2^26\""});
        }
        if (point.kind != PointKind::predicted && point.kind != kind()) {
          throw Refusal({"RL0456",
                         message("a point of ", quoted(point.label), " is neither predicted nor ",
                                 kind() == PointKind::modelled ? "modelled" : "measured"),
                         "a time that was predicted, modelled or measured is called so: use "
                         "PointKind::predicted and device.kind"});
        }
        const bool is_prediction = point.kind == PointKind::predicted;
        Points& points = points_[point.label];
        const Point*& place = is_prediction ? points.predicted : points.reached;
        if (place != nullptr) {
          throw Refusal({"RL0453",
                         message(quoted(point.label), " has two ",
                                 is_prediction ? "predicted points" : "points with a time"),
                         "each operation has one predicted point and one of device.kind"});
        }
        place = &point;
      }
    }

    Points points_of(const SweepOperation& operation) const {
      const auto found = points_.find(std::string(operation.label));
      const Points points = found == points_.end() ? Points{} : found->second;
      if (points.predicted != nullptr && points.reached != nullptr) return points;
      throw Refusal({"RL0453",
                     message(operation.label, " has no ",
                             points.predicted == nullptr ? "predicted point" : "point with a time"),
                     "each operation has one predicted point and one of device.kind"});
    }

    static void check_intensity(const SweepOperation& operation, const Point& point) {
      const double right = operation.intensity();
      if (is_close(point.intensity, right, kArithmetic)) return;
      const Evidence evidence{message("; the intensity of ", operation.label, " is ", right,
                                      " FLOP/B and the chart says ", point.intensity)};
      const double macs = operation.macs;
      const std::vector<Slip> slips = {
          {macs / operation.bytes(), "RL0454", "MACs are counted as FLOPs",
           "a multiply-accumulate step is two floating-point operations"},
          {operation.flops / operation.elements, "RL0454",
           "the intensity is in FLOPs for each element",
           "multiply the elements by the size of one: a float has 4 bytes"},
          {macs / operation.elements, "RL0454", "MACs are counted as FLOPs, and elements as bytes",
           "arithmetic intensity is floating-point operations over bytes"},
          {1 / right, "RL0454", "the intensity is upside down",
           "arithmetic intensity is FLOPs over bytes"}};
      if (auto complaint = explained(point.intensity, kArithmetic, slips, evidence)) {
        throw Refusal(*complaint);
      }
      throw Refusal({"RL0454", "the arithmetic intensity is wrong" + evidence,
                     "FLOPs over bytes, with every operand and the result crossing DRAM once"});
    }

    void check_prediction(const SweepOperation& operation, double got) const {
      const double right = predicted(operation);
      if (is_close(got, right, kArithmetic)) return;
      const Evidence evidence{message("; the roofline lets ", operation.label, " attain ", right,
                                      " FLOP/s, and the chart predicts ", got)};
      const std::vector<Slip> slips = {
          {operation.intensity() * bandwidth_, "RL0455", "the prediction lies above the flat roof",
           "whatever memory delivers, arithmetic has a peak: the lower roof counts"},
          {peak_, "RL0455", "the prediction lies above the slanted roof",
           "memory feeds at most intensity x bandwidth: the lower roof counts"},
          {right * 1e-12, "RL0455", "the prediction is in TFLOP/s", "charts are in FLOP/s"},
          {right * 1e-9, "RL0455", "the prediction is in GFLOP/s", "charts are in FLOP/s"}};
      if (auto complaint = explained(got, kArithmetic, slips, evidence)) {
        throw Refusal(*complaint);
      }
      throw Refusal({"RL0455", "the predicted performance is wrong" + evidence,
                     "the lower of the two roofs at the operation's intensity"});
    }

    void check_performance(const SweepOperation& operation, const Point& point) const {
      const double got = point.flops_per_second;
      if (!evidence_.keeps_records) return check_plausible(operation, got);
      const std::vector<Launch> launches = launches_of(operation);
      std::vector<double> times;
      for (const Launch& launch : launches) times.push_back(launch.seconds);
      if (times.empty()) {
        throw Refusal({"RL0457",
                       message(operation.label, " has a performance of ", got,
                               " FLOP/s, but was never run on the device"),
                       "time the operation itself, with rooflab::time_ms"});
      }
      if (times.size() == 1) {
        throw Refusal({"RL0458",
                       message(operation.label,
                               " was run once: without a call to warm up, its time "
                               "holds whatever first calls do"),
                       "leave the warm-up of rooflab::time_ms at 1 or more"});
      }
      check_operands(operation, launches);
      check_against(operation, got, times);
    }

    /// One that the device recorded.
    struct Launch {
      double seconds, dram_bytes;
    };

    /// What the device recorded of an operation.
    std::vector<Launch> launches_of(const SweepOperation& operation) const {
      constexpr double kSampling = 0.01;  // counters of a sampled launch are extrapolated
      constexpr double kMicrosecond = 1e-6;
      std::vector<Launch> launches;
      for (const simgpu::KernelRecord& kernel : evidence_.activity.kernels) {
        if (kernel.name.starts_with("cublas_") != operation.library) continue;
        const auto fp32 = kernel.counters.flops.find("fp32");
        if (fp32 == kernel.counters.flops.end()) continue;
        if (!is_close(static_cast<double>(fp32->second), operation.flops, kSampling)) continue;
        // Another kernel with as many operations is not the one whose point this is.
        const auto bytes = static_cast<double>(kernel.counters.global_load_bytes +
                                               kernel.counters.global_store_bytes);
        if (!operation.library && bytes < (1 - kSampling) * operation.bytes()) continue;
        const auto crossed =
            static_cast<double>(kernel.counters.dram_read_bytes + kernel.counters.dram_write_bytes);
        launches.push_back({kernel.time.total_us * kMicrosecond, crossed});
      }
      return launches;
    }

    /// An operation on one array twice is as many FLOPs at another intensity. Some launch of it
    /// finds little of its operands in the L2; a product has the same bytes in every one.
    static void check_operands(const SweepOperation& operation,
                               const std::vector<Launch>& launches) {
      const double crossed =
          std::ranges::max_element(launches, {}, &Launch::dram_bytes)->dram_bytes;
      if (crossed >= kLeastShareOfBytes * operation.bytes()) return;
      throw Refusal({"RL0457",
                     message(operation.label, " was timed on fewer arrays than it has: ", crossed,
                             " bytes crossed DRAM, and its operands have ", operation.bytes()),
                     "two matrices, or two inputs, are two arrays: device.x and device.y"});
    }

    void check_inputs() const {
      if (result<std::int64_t>(evidence_, "inputs_changed", 0) == 0) return;
      throw Refusal({"RL0405", "an input of the sweep is no longer what it was: x or y",
                     "results go to device.out; no two arrays of stream.h's functions overlap"});
    }

    void check_against(const SweepOperation& operation, double got,
                       const std::vector<double>& times) const {
      const double mean = sum_of(times) / static_cast<double>(times.size());
      const double right = operation.flops / mean;
      if (is_close(got, right, kClock)) return;

      const Evidence evidence{message("; ", operation.label, " took ", mean * 1e3,
                                      " ms on the device, which is ", right,
                                      " FLOP/s, and the chart says ", got)};
      const auto calls = static_cast<double>(times.size());
      constexpr const char* kUnits = "FLOPs over seconds; rooflab::time_ms gives milliseconds";
      constexpr const char* kDivide =
          "divide the time between the events by the calls between them";
      const std::vector<Slip> slips = {
          {operation.macs / mean, "RL0457", "MACs are counted as FLOPs",
           "a multiply-accumulate step is two floating-point operations"},
          {right * 1e-3, "RL0457", "the time in milliseconds is taken for seconds", kUnits},
          {right * 1e3, "RL0426", "microseconds are taken for milliseconds", kUnits},
          {right * 1e6, "RL0426", "nanoseconds are taken for milliseconds", kUnits},
          {right * 1e-12, "RL0457", "the performance is in TFLOP/s", "charts are in FLOP/s"},
          {right * 1e-9, "RL0457", "the performance is in GFLOP/s", "charts are in FLOP/s"},
          {predicted(operation), "RL0457",
           "this is what the roofline predicts, not what was reached",
           "FLOPs over the mean time of rooflab::time_ms"},
          {operation.bytes() / mean, "RL0457", "this is bytes per second",
           "performance is floating-point operations over time"},
          {right / calls, "RL0457", "this is the time of all calls together", kDivide},
          {right / (calls - 1), "RL0457", "this is the time of all timed calls together", kDivide}};
      if (auto complaint = explained(got, kClock, slips, evidence)) throw Refusal(*complaint);
      if (all_are_divided_again()) {
        throw Refusal({"RL0425",
                       "the mean time of a call is divided by the number of calls again" + evidence,
                       "rooflab::time_ms gives the mean of one call already"});
      }
      if (got > 1.5 * right) {
        throw Refusal({"RL0459", "the clock was stopped before the work was done" + evidence,
                       "a launch returns before the kernel has run: let events on the GPU take "
                       "the time, and wait for the second one"});
      }
      throw Refusal({"RL0457", "this is not the performance that the device saw" + evidence,
                     "FLOPs over the mean time of rooflab::time_ms, nothing added"});
    }

    /// Whether every operation is as many times too fast as it was called, with the calls to warm
    /// up or without: a clock that stops too early shows no common factor.
    bool all_are_divided_again() const {
      return std::ranges::all_of(sweep_operations(), [&](const SweepOperation& operation) {
        const std::vector<Launch> launches = launches_of(operation);
        if (launches.size() < 3) return false;
        const auto calls = static_cast<double>(launches.size());
        double seconds = 0;
        for (const Launch& launch : launches) seconds += launch.seconds;
        const double right = operation.flops * calls / seconds;
        const double got = points_of(operation).reached->flops_per_second;
        return is_close(got, right * calls, kClock) || is_close(got, right * (calls - 1), kClock);
      });
    }

    double predicted(const SweepOperation& operation) const {
      return std::min(peak_, operation.intensity() * bandwidth_);
    }

    /// Without records: what no run of this operation on this GPU could reach is refused.
    void check_plausible(const SweepOperation& operation, double got) const {
      const double most = predicted(operation);
      if (got >= kLeastShareOfPrediction * most && got <= kMostShareOfPrediction * most) {
        return;
      }
      throw Refusal({"RL0457",
                     message(operation.label, " cannot have reached ", got,
                             " FLOP/s: the roofline predicts ", most),
                     "FLOPs over the mean time of rooflab::time_ms, in seconds"});
    }

    void check_other_files() const {
      const std::map<const char*, std::string> right = {{"csv", plot::to_csv(chart_)},
                                                        {"svg", plot::to_svg(chart_)}};
      for (const auto& [kind, contents] : right) {
        if (result(evidence_, kind, std::string()) == contents) continue;
        throw Refusal(
            {"RL0450",
             message("roofline.", kind, " is not what the chart of roofline.json looks like"),
             "let one call of rooflab::plot::write make all three files"});
      }
    }

    const CallEvidence& evidence_;
    double peak_, bandwidth_;
    RooflineChart chart_;
    std::map<std::string, Points> points_;
  };
};

ROOFLAB_ORACLE("sweep", SweepOracle)

}  // namespace
}  // namespace rooflab
