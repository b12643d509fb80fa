#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/refusal.h"
#include "labs/part1-metrics/oracle/gemm_study_record.h"
#include "labs/toolkit/plot/plot.h"

namespace rooflab {
namespace {

using plot::LatencyChart;
using plot::Series;

/// The roofline is arithmetic on given numbers; a chart keeps fewer digits.
constexpr double kArithmetic = 1e-5;
/// Times of calls that follow one another lie between those of a call's kernels and those from its
/// launch to its end, give or take the events around them.
constexpr double kClock = 0.03;
constexpr double kClockSlackMs = 0.004;

constexpr std::array<std::string_view, 3> kMeasured = {"naive", "tiled", "cublas"};
constexpr std::string_view kRegisters = "registers";
constexpr std::string_view kRoofline = "roofline";

std::vector<std::int64_t> sizes_of(const Values& parameters) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < integer(parameters, "count"); ++i) {
    sizes.push_back(integer(parameters, "smallest") << i);
  }
  return sizes;
}

double cube(std::int64_t n) { return std::pow(static_cast<double>(n), 3); }
double square(std::int64_t n) { return std::pow(static_cast<double>(n), 2); }

/// Judges what a study wrote and returned. The student's code wrote the files, so each is parsed as
/// if a stranger had. Times are held against the device's own record of one more call of each GEMM.
class GemmStudyJudge {
 public:
  GemmStudyJudge(const Values& parameters, const CallEvidence& evidence)
      : evidence_(evidence),
        sizes_(sizes_of(parameters)),
        peak_(told_peaks(evidence).flops_per_second),
        bandwidth_(told_peaks(evidence).bytes_per_second) {}

  /// @throws Refusal
  void judge_chart() {
    read_chart();
    check_roofline();
    const bool has_registers = find(kRegisters) != nullptr;
    recorded_ = recorded_gemms(evidence_.activity, sizes_, has_registers);
    for (const std::string_view gemm : kMeasured) check_curve(gemm);
    if (has_registers) check_curve(kRegisters);
    check_inputs();
    check_drawn();
  }

  /// @throws Refusal
  void judge_findings() {
    read_chart();
    if (evidence_.keeps_records) {
      recorded_ = recorded_gemms(evidence_.activity, sizes_, find(kRegisters) != nullptr);
      check_measured();
    }
    check_tiling();
    check_launch();
  }

 private:
  std::string file(const std::string& kind) const { return result(evidence_, kind, std::string()); }

  // --- the chart ---

  void read_chart() {
    const std::string json = file("json");
    if (json.empty()) {
      throw Refusal({"RL0450", "there is no gemm_study.json in the folder",
                     "write the chart with rooflab::plot::write(chart, folder / \"gemm_study\")"});
    }
    try {
      chart_ = plot::latency_from_json(json);
    } catch (const std::invalid_argument& error) {
      throw Refusal({"RL0451", message("gemm_study.json is no latency chart: ", error.what()),
                     "fill in a rooflab::plot::LatencyChart and let plot::write make the files"});
    }
    check_sizes();
    check_labels();
  }

  void check_sizes() const {
    const bool same = std::ranges::equal(
        chart_.x, sizes_,
        [](const std::string& x, std::int64_t n) { return x == std::to_string(n); });
    if (same) return;
    throw Refusal({"RL0535", "the sizes in gemm_study.json are not those of device.sizes",
                   "chart.x holds std::to_string(n) for each n of device.sizes, in that order"});
  }

  const Series* find(std::string_view label) const {
    const auto found = std::ranges::find(chart_.latency_ms, label, &Series::label);
    return found == chart_.latency_ms.end() ? nullptr : &*found;
  }

  void check_labels() const {
    constexpr const char* kLabels =
        "gemm_study.h lists the series: \"naive\", \"tiled\", \"cublas\", \"roofline\", and "
        "\"registers\" if you have it";
    for (const std::string_view label : {kMeasured[0], kMeasured[1], kMeasured[2], kRoofline}) {
      if (find(label) != nullptr) continue;
      throw Refusal(
          {"RL0453", message("the chart has no series ", quoted(std::string(label))), kLabels});
    }
    for (const Series& series : chart_.latency_ms) {
      const bool is_known = series.label == kRoofline || series.label == kRegisters ||
                            std::ranges::find(kMeasured, series.label) != kMeasured.end();
      if (!is_known) {
        throw Refusal(
            {"RL0453", message(quoted(series.label), " is no series of the study"), kLabels});
      }
      if (std::ranges::count(chart_.latency_ms, series.label, &Series::label) > 1) {
        throw Refusal(
            {"RL0453", message("the chart has two series ", quoted(series.label)), kLabels});
      }
    }
  }

  void check_drawn() const {
    if (file("csv") == plot::to_csv(chart_) && file("svg") == plot::to_svg(chart_)) return;
    throw Refusal({"RL0450", "gemm_study.csv or gemm_study.svg does not show gemm_study.json",
                   "let one call of rooflab::plot::write make all three files"});
  }

  void check_inputs() const {
    if (result<std::int64_t>(evidence_, "inputs_changed", 0) == 0) return;
    throw Refusal({"RL0405", "an input of the study is no longer what it was: A or B",
                   "every GEMM writes its result to device.C"});
  }

  // --- the roofline ---

  double roofline_ms(std::int64_t n) const {
    return 1e3 * std::max(2 * cube(n) / peak_, 12 * square(n) / bandwidth_);
  }

  /// A way to get the roofline's time of a size wrong.
  struct RooflineSlip {
    Sentence cause;
    const char* advice;
    std::function<double(std::int64_t)> ms;
  };

  std::vector<RooflineSlip> roofline_slips() const {
    const auto compute = [this](std::int64_t n) { return 2e3 * cube(n) / peak_; };
    const auto memory = [this](std::int64_t n) { return 12e3 * square(n) / bandwidth_; };
    const auto right = [this](std::int64_t n) { return roofline_ms(n); };
    constexpr const char* kLonger = "a GEMM needs both: the longer of the two times counts";
    return {
        {"the roofline is in seconds", "1 s is 1000 ms", [=](auto n) { return right(n) * 1e-3; }},
        {"the roofline is in microseconds", "1 ms is 1000 us",
         [=](auto n) { return right(n) * 1e3; }},
        {"the bytes are left out of the roofline", kLonger, compute},
        {"the arithmetic is left out of the roofline", kLonger, memory},
        {"MACs are counted as FLOPs", "a multiply-accumulate step is two floating-point operations",
         [=](auto n) { return std::max(compute(n) / 2, memory(n)); }},
        {"elements are counted as bytes", "a float has 4 bytes",
         [=](auto n) { return std::max(compute(n), memory(n) / 4); }},
        {"this is the shorter of the two times", kLonger,
         [=](auto n) { return std::min(compute(n), memory(n)); }},
        {"the two times are added up",
         "arithmetic and memory work at the same time: the longer of the two times counts",
         [=](auto n) { return compute(n) + memory(n); }}};
  }

  void check_roofline() const {
    const std::vector<double>& got = find(kRoofline)->values;
    const auto is = [&](const std::function<double(std::int64_t)>& ms) {
      return std::ranges::equal(got, sizes_, [&](double value, std::int64_t n) {
        return is_close(value, ms(n), kArithmetic);
      });
    };
    if (is([this](std::int64_t n) { return roofline_ms(n); })) return;
    std::size_t first = 0;
    while (is_close(got[first], roofline_ms(sizes_[first]), kArithmetic)) ++first;
    const Evidence evidence{message("; at ", sizes_[first], " it is ", roofline_ms(sizes_[first]),
                                    " ms, and the chart says ", got[first])};
    for (const RooflineSlip& slip : roofline_slips()) {
      if (is(slip.ms)) throw Refusal({"RL0455", slip.cause + evidence, slip.advice});
    }
    throw Refusal({"RL0455", "the roofline is wrong" + evidence,
                   "the larger of FLOPs / peak and bytes / bandwidth, in milliseconds"});
  }

  // --- the times ---

  void check_curve(std::string_view gemm) const {
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const double got = find(gemm)->values[i];
      if (evidence_.keeps_records) {
        check_work(gemm, sizes_[i]);
        check_launches(gemm, sizes_[i]);
        check_time(gemm, sizes_[i], got);
      } else {
        check_plausible(gemm, sizes_[i], got);
      }
    }
  }

  const RecordedGemm& call_of(std::string_view gemm, std::int64_t n) const {
    return recorded_.at(name_of(gemm, n));
  }

  /// Whether the kernels of a call do what a GEMM takes.
  void check_work(std::string_view gemm, std::int64_t n) const {
    constexpr double kSampling = 0.95;  // counters of a sampled launch are extrapolated
    const RecordedGemm& call = call_of(gemm, n);
    const auto check = [&](double done, double least, const char* does, const char* what) {
      if (done >= kSampling * least) return;
      throw Refusal({"RL0537",
                     message("a call of ", name_of(gemm, n), does, done, what,
                             ", and a GEMM takes at least ", least),
                     "the times of the study are those of finished GEMMs"});
    };
    check(call.flops, 2 * cube(n), " does ", " floating-point operations");
    check(call.loaded_bytes, 8 * square(n), " loads ", " bytes");
    check(call.stored_bytes, 4 * square(n), " stores ", " bytes");
  }

  void check_launches(std::string_view gemm, std::int64_t n) const {
    const RecordedGemm& call = call_of(gemm, n);
    if (call.earlier_launches == 0) {
      throw Refusal({"RL0457", message(name_of(gemm, n), " has a time, but the study never ran it"),
                     "call the function of that name at each size, with M = N = K"});
    }
    if (call.earlier_launches == 1) {
      throw Refusal({"RL0458",
                     message("the study ran ", name_of(gemm, n),
                             " once: without a call to warm up, its time holds whatever first "
                             "calls do"),
                     "pass device.n_warmup and device.n_repeat to benchmark_latency"});
    }
  }

  void check_time(std::string_view gemm, std::int64_t n, double got) const {
    const RecordedGemm& call = call_of(gemm, n);
    const double least = (1 - kClock) * call.busy_ms;
    const double most = (1 + kClock) * call.span_ms + kClockSlackMs;
    if (got >= least && got <= most) return;
    const Evidence evidence{message("; a call of ", name_of(gemm, n), " keeps the device busy for ",
                                    call.busy_ms, " ms, and the chart says ", got)};
    constexpr double kWide = 0.2;  // of factors that are far apart
    constexpr const char* kUnits = "benchmark_latency gives milliseconds, and so does the chart";
    const auto n_repeat = static_cast<double>(result<std::int64_t>(evidence_, "n_repeat", 1));
    const std::vector<Slip> slips = {
        {call.busy_ms * 1e-3, "RL0426", "the time is in seconds", kUnits},
        {call.busy_ms * 1e3, "RL0426", "the time is in microseconds", kUnits},
        {call.busy_ms * n_repeat, "RL0425", "this is the time of all timed calls together",
         "the median of benchmark_latency is the time of one call"}};
    if (auto complaint = explained(got, kWide, slips, evidence)) throw Refusal(*complaint);
    if (auto complaint = explained_by_another(gemm, n, got, evidence)) throw Refusal(*complaint);
    if (got < least) {
      throw Refusal({"RL0459", "the clock was stopped before the work was done" + evidence,
                     "a launch returns before the kernel has run: let benchmark_latency take the "
                     "time"});
    }
    throw Refusal({"RL0537", "this is not the time that the device saw" + evidence,
                   "the median of benchmark_latency, of one call of the GEMM and nothing else"});
  }

  /// Whether the whole curve is that of another GEMM.
  std::optional<Complaint> explained_by_another(std::string_view gemm, std::int64_t n, double got,
                                                const Evidence& evidence) const {
    for (const std::string_view other : kMeasured) {
      if (other == gemm || !is_close(got, call_of(other, n).busy_ms, kClock)) continue;
      const Sentence cause(message("the series ", quoted(std::string(gemm)), " has the times of ",
                                   quoted(std::string(other))));
      return Complaint{"RL0537", cause + evidence, "each series is named after its function"};
    }
    return std::nullopt;
  }

  /// Without records: what no GPU with these peaks could reach is refused.
  void check_plausible(std::string_view gemm, std::int64_t n, double got) const {
    constexpr double kShare = 1.3;  // L2 and boost clocks may beat a data sheet
    if (got * kShare >= roofline_ms(n)) return;
    throw Refusal({"RL0537", message(name_of(gemm, n), " cannot have taken ", got, " ms"),
                   "the median of benchmark_latency, in milliseconds"});
  }

  // --- the findings ---

  /// Findings follow from the chart, right or not, and the chart from times of the GEMMs.
  void check_measured() const {
    for (const std::string_view gemm : kMeasured) {
      for (const std::int64_t n : sizes_) check_launches(gemm, n);
    }
  }

  void check_tiling() const {
    const std::vector<double>&naive = find("naive")->values, &tiled = find("tiled")->values;
    constexpr double kWorthIt = 0.9;
    const auto pays = [&](std::size_t i) { return tiled[i] <= kWorthIt * naive[i]; };
    std::int64_t right = 0, first = 0, last_without = 0;
    for (std::size_t i = sizes_.size(); i-- > 0;) {
      if (!pays(i)) {
        last_without = sizes_[i];
        break;
      }
      right = sizes_[i];
    }
    for (std::size_t i = sizes_.size(); i-- > 0;) first = pays(i) ? sizes_[i] : first;
    const std::vector<Slip> slips = {
        {static_cast<double>(last_without), "RL0439",
         "this is the last size at which tiling does not pay",
         "the size above it is the first from which on tiling pays"},
        {static_cast<double>(first), "RL0439", "a larger size follows at which tiling does not pay",
         "begin at the largest size and go down for as long as tiled <= 0.9 naive"},
        {static_cast<double>(sizes_.back()), "RL0439", "tiling pays at a smaller size already",
         "begin at the largest size and go down for as long as tiled <= 0.9 naive"}};
    check_finding("tiling_pays_from", right, slips,
                  "the smallest size such that at it and at every larger one tiled <= 0.9 naive");
  }

  void check_launch() const {
    const std::vector<double>&cublas = find("cublas")->values, &least = find(kRoofline)->values;
    const auto up_to = [&](const std::vector<double>& times, double factor) {
      std::int64_t size = 0;
      for (std::size_t i = 0; i < sizes_.size() && times[i] >= factor * least[i]; ++i) {
        size = sizes_[i];
      }
      return static_cast<double>(size);
    };
    constexpr double kHidden = 10;
    const auto right = static_cast<std::int64_t>(up_to(cublas, kHidden));
    const auto next = std::ranges::find_if(sizes_, [&](std::int64_t n) { return n > right; });
    std::vector<Slip> slips = {
        {up_to(find("naive")->values, kHidden), "RL0439", "these are the times of \"naive\"",
         "compare \"cublas\" with \"roofline\""},
        {up_to(find("tiled")->values, kHidden), "RL0439", "these are the times of \"tiled\"",
         "compare \"cublas\" with \"roofline\""}};
    if (next != sizes_.end()) {
      slips.push_back({static_cast<double>(*next), "RL0439",
                       "this is the first size at which the launch no longer hides the work",
                       "the size below it is the last one"});
    }
    check_finding(
        "launch_hides_up_to", right, slips,
        "the largest size such that at it and at every smaller one cublas >= 10 roofline");
  }

  void check_finding(const std::string& name, std::int64_t right, const std::vector<Slip>& slips,
                     const char* advice) const {
    constexpr std::int64_t kNone = -1;
    const std::int64_t got = result(evidence_, name, kNone);
    if (got == right) return;
    const Evidence evidence{message("; the numbers in your chart give ", name, " = ", right,
                                    ", and you returned ", got)};
    if (got != 0) {
      constexpr double kExact = 1e-9;
      if (auto complaint = explained(static_cast<double>(got), kExact, slips, evidence)) {
        throw Refusal(*complaint);
      }
    }
    throw Refusal(
        {"RL0407", Sentence("a finding does not follow from the chart") + evidence, advice});
  }

  const CallEvidence& evidence_;
  std::vector<std::int64_t> sizes_;
  double peak_, bandwidth_;
  LatencyChart chart_;
  std::map<std::string, RecordedGemm> recorded_;
};

class GemmStudyOracle : public Oracle {
 public:
  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    return refusals_of([&] {
      GemmStudyJudge judge(problem.parameters, evidence);
      const bool findings = text(problem.parameters, "judges") == "findings";
      findings ? judge.judge_findings() : judge.judge_chart();
    });
  }

  std::map<std::string, std::string> artifacts(const Problem& problem,
                                               const CallEvidence& evidence) const override {
    if (text(problem.parameters, "judges") == "findings") return {};
    // Drawn here, from numbers: a student's own SVG could hold anything.
    const LatencyChart chart = plot::latency_from_json(result(evidence, "json", std::string()));
    return {{"gemm_study.svg", plot::to_svg(chart)},
            {"gemm_study.csv", plot::to_csv(chart)},
            {"gemm_study.json", plot::to_json(chart)}};
  }
};

ROOFLAB_ORACLE("gemm_study", GemmStudyOracle)

}  // namespace
}  // namespace rooflab
