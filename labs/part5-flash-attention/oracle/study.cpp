#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/refusal.h"
#include "labs/oracle_support/wrong_results.h"
#include "labs/part5-flash-attention/oracle/attention_oracle.h"
#include "labs/part5-flash-attention/oracle/study_record.h"
#include "labs/toolkit/plot/plot.h"

namespace rooflab {
namespace {

using plot::AttentionChart;
using plot::Point;
using plot::PointKind;
using plot::RooflineChart;
using plot::Series;

/// Intensities and predictions are arithmetic on given numbers; a chart keeps fewer digits.
constexpr double kArithmetic = 1e-5;
/// The mean of calls that follow one another lies between the time of a call's kernels and the time
/// from its first launch to its end, give or take the events around them.
constexpr double kClock = 0.03;
constexpr double kClockSlackMs = 0.004;
/// What a pool rounds up to.
constexpr double kMemory = 0.01;
constexpr double kMemorySlack = 65536;

/// A number as it stands in a row, by the adapter's name for it.
double number(const CallEvidence& evidence, AttentionForm form, int length, const char* what) {
  const std::string name = name_of(form) + "_" + std::to_string(length) + "_" + what;
  const double real = result(evidence, name, std::nan(""));
  if (!std::isnan(real)) return real;
  constexpr std::int64_t kNone = -1;
  const std::int64_t integer = result(evidence, name, kNone);
  return integer == kNone ? std::nan("") : static_cast<double>(integer);
}

/// Whether the kernels of a call do what attention takes.
/// @throws Refusal
void check_work(AttentionForm form, int length, const RecordedCall& call) {
  const std::string name = name_of(form, length);
  if (call.kernels == 0) {
    throw Refusal({"RL0537", message("a call of ", name, " launches no kernel"),
                   "the grader calls your sdpa and flash_forward once more at each length"});
  }
  constexpr double kSampling = 0.95;  // counters of a sampled launch are extrapolated
  constexpr const char* kAdvice =
      "the times of a study are those of the whole work: finish sdpa and flash_forward before you "
      "time them";
  const auto check = [&](double done, double least, const char* does, const char* what) {
    if (done >= kSampling * least) return;
    throw Refusal({"RL0537",
                   message("a call of ", name, does, done, what, ", and attention takes ", least),
                   kAdvice});
  };
  const LeastTraffic traffic = least_traffic(form, length);
  check(call.flops, study_flops(length), " does ", " floating-point operations");
  check(call.loaded_bytes, traffic.loaded, " loads ", " bytes");
  check(call.stored_bytes, traffic.stored, " stores ", " bytes");
}

/// One form at one length on arrays of the grader's, which are compared: a study is of attention,
/// and not of kernels that do as much.
struct FormCase {
  AttentionForm form;
  int length;

  /// Nothing for the case of the study itself.
  /// @throws std::invalid_argument
  static std::optional<FormCase> read(const Values& parameters) {
    if (!parameters.contains("form") || text(parameters, "form").empty()) return std::nullopt;
    const auto* const form = std::ranges::find(kForms, text(parameters, "form"),
                                               [](AttentionForm each) { return name_of(each); });
    if (form == std::end(kForms)) throw std::invalid_argument("`form` is no form of attention");
    return FormCase{*form, static_cast<int>(integer(parameters, "length"))};
  }

  AttentionOracle oracle() const { return AttentionOracle(form == AttentionForm::flash); }

  /// The case as one of attention.
  Values attention(Values parameters) const {
    const Values shape{{"batch", std::int64_t{1}},
                       {"query_heads", kStudyHeads},
                       {"key_value_heads", kStudyHeads},
                       {"query_length", std::int64_t{length}},
                       {"key_length", std::int64_t{length}},
                       {"head_dim", kStudyHeadDim},
                       {"causal", std::int64_t{0}},
                       {"type", std::string("float")},
                       {"scale", 1 / std::sqrt(static_cast<double>(kStudyHeadDim))}};
    parameters.insert(shape.begin(), shape.end());
    return parameters;
  }

  /// @throws Refusal
  void judge(const Problem& problem, const CallEvidence& evidence) const {
    if (!evidence.keeps_records) return;
    RecordedCall call;
    for (const simgpu::KernelRecord& kernel : evidence.activity.kernels) add(kernel, call);
    check_work(form, length, call);
    const AttentionCase attention =
        AttentionCase::read(problem.parameters, form == AttentionForm::flash);
    const auto taken = static_cast<double>(extra_memory(attention, evidence));
    const double right = study_memory(form, length) - study_array_bytes(form, length);
    if (std::abs(taken - right) <= kMemory * right + kLibrarySlack) return;
    throw Refusal(
        {"RL0536",
         message("a call of ", name_of(form, length), " takes ", taken,
                 " bytes beside its arrays, and this form of attention takes ", right),
         "the memory of a study is that of finished functions: sdpa takes its scores, and "
         "flash_forward nothing"});
  }
};

/// Judges a study: the rows that the student's code returned and the charts that it wrote, against
/// the device's own record of one more call of each form and length.
class StudyJudge {
 private:
  std::string file(const std::string& name) const { return result(evidence_, name, std::string()); }

  template <typename Parse>
  auto parsed(const std::string& chart, Parse&& parse) const {
    const std::string json = file(chart + ".json");
    if (json.empty()) {
      throw Refusal(
          {"RL0450", "there is no " + chart + ".json in the folder",
           "write the chart with rooflab::plot::write(chart, folder / \"" + chart + "\")"});
    }
    try {
      return parse(json);
    } catch (const std::invalid_argument& error) {
      throw Refusal({"RL0451",
                     message(chart, ".json cannot be read as such a chart: ", error.what()),
                     "fill in the chart's structure and let plot::write make the files"});
    }
  }

 public:
  explicit StudyJudge(const CallEvidence& evidence)
      : evidence_(evidence),
        peak_(told_peaks(evidence).flops_per_second),
        bandwidth_(told_peaks(evidence).bytes_per_second),
        recorded_(recorded_calls(evidence.activity)) {}

  /// @throws Refusal
  void judge() const {
    check_all_memory();
    for_each_call([&](AttentionForm form, int length) { check_row(form, length); });
    check_warm_up();
    check_peak();
    const auto attention = parsed("attention", plot::attention_from_json);
    check_attention_chart(attention);
    check_drawn("attention", attention);
    const auto roofline = parsed("roofline", plot::roofline_from_json);
    check_roofline_chart(roofline);
    check_drawn("roofline", roofline);
  }

 private:
  template <typename Function>
  static void for_each_call(Function&& function) {
    for (const int length : kStudyLengths) {
      for (const AttentionForm form : kForms) function(form, length);
    }
  }

  template <typename Chart>
  void check_drawn(const std::string& name, const Chart& chart) const {
    if (file(name + ".csv") == plot::to_csv(chart) && file(name + ".svg") == plot::to_svg(chart)) {
      return;
    }
    throw Refusal({"RL0450",
                   message(name, ".csv or ", name, ".svg is not what ", name, ".json looks like"),
                   "let one call of rooflab::plot::write make all three files"});
  }

  // --- rows ---

  void check_row(AttentionForm form, int length) const {
    const double milliseconds = number(evidence_, form, length, "ms");
    if (std::isnan(milliseconds) || std::isnan(number(evidence_, form, length, "bytes"))) {
      throw Refusal({"RL0535", message("there is no row for ", length, " tokens"),
                     "study.h: a row for each of kStudyLengths, in that order"});
    }
    if (!evidence_.keeps_records) return check_plausible(form, length, milliseconds);
    const RecordedCall& call = recorded_.at(name_of(form, length));
    check_work(form, length, call);
    check_allocations(form, length, call);
    check_kernels(form, length, number(evidence_, form, length, "kernels"), call);
    check_time(form, length, milliseconds, call);
  }

  /// Where standard attention takes the room for its scores, the device saw it being taken.
  static void check_allocations(AttentionForm form, int length, const RecordedCall& call) {
    const bool takes_some = call.allocations > 0;
    if (takes_some == (form == AttentionForm::standard)) return;
    throw Refusal(
        {"RL0536",
         message("a call of ", name_of(form, length), " takes ",
                 takes_some ? "device memory of its own" : "no device memory for its scores"),
         "sdpa takes its scores with cudaMallocAsync in each call, and flash_forward takes "
         "nothing"});
  }

  /// The longest first: there, scores and arrays have sizes that nobody can mix up.
  void check_all_memory() const {
    for (auto length = std::rbegin(kStudyLengths); length != std::rend(kStudyLengths); ++length) {
      for (const AttentionForm form : kForms) {
        const double bytes = number(evidence_, form, *length, "bytes");
        if (!std::isnan(bytes)) check_memory(form, *length, bytes);
      }
    }
  }

  /// The rows are held against what right functions take. That the longest scores were there, the
  /// device saw.
  void check_peak() const {
    const int longest = *std::rbegin(kStudyLengths);
    const double least = study_memory(AttentionForm::standard, longest);
    const auto peak = static_cast<double>(evidence_.activity.peak_allocated);
    if (!evidence_.keeps_records || peak >= (1 - kMemory) * least) return;
    throw Refusal({"RL0536",
                   message(name_of(AttentionForm::standard, longest), " takes ", least,
                           " bytes with its arrays, and the device never gave more than ", peak),
                   "sdpa keeps all scores in memory: finish it before you measure it"});
  }

  static void check_memory(AttentionForm form, int length, double got) {
    const double right = study_memory(form, length);
    if (std::abs(got - right) <= kMemory * right + kMemorySlack) return;
    const Evidence evidence{message("; ", name_of(form, length), " takes ", right,
                                    " bytes with its arrays, and the row says ", got)};
    const double arrays = study_array_bytes(form, length);
    const std::vector<Slip> slips = {
        {right - arrays, "RL0536", "the arrays are left out",
         "q, k, v and out count, and for flash attention log_sum_exp"},
        {arrays, "RL0536", "the scores are left out",
         "rooflab::peak_memory runs a call and tells what it took beside its arrays"},
        {right / 4, "RL0536", "these are elements, not bytes", "a float has 4 bytes"}};
    if (auto complaint = explained(got, kMemory, slips, evidence)) throw Refusal(*complaint);
    // An array of the longest call is one and a half percent of its memory.
    if (auto complaint = explained_by_terms({{"bytes", got}}, {{"bytes", right}},
                                            study_arrays(form, length), kMemory / 2)) {
      const std::string cause =
          complaint->message.text.substr(0, complaint->message.text.find(';'));
      throw Refusal({"RL0536", Sentence(cause) + evidence, complaint->advice});
    }
    throw Refusal({"RL0536", "the memory is wrong" + evidence,
                   "the bytes of the arrays, and rooflab::peak_memory of one call beside them"});
  }

  static void check_kernels(AttentionForm form, int length, double got, const RecordedCall& call) {
    if (got == call.kernels) return;
    throw Refusal({"RL0538",
                   message("one call of ", name_of(form, length), " launches ", call.kernels,
                           " kernels, and the row says ", got),
                   "count_kernels(profile(run, schedule)).total is the sum over all active "
                   "iterations of the schedule: let one be active, or divide"});
  }

  static void check_time(AttentionForm form, int length, double got, const RecordedCall& call) {
    const double least = (1 - kClock) * call.busy_ms;
    const double most = (1 + kClock) * call.span_ms + kClockSlackMs;
    if (got >= least && got <= most) return;
    const Evidence evidence{message("; a call of ", name_of(form, length),
                                    " keeps the device busy for ", call.busy_ms,
                                    " ms, and the row says ", got)};
    const double right = call.busy_ms;
    constexpr const char* kUnits = "rooflab::time_ms gives milliseconds, and rows have them";
    constexpr double kWide = 0.2;  // of factors that are far apart
    const std::vector<Slip> slips = {
        {right * 1e-3, "RL0537", "the time is in seconds", kUnits},
        {right * 1e3, "RL0537", "the time is in microseconds", kUnits},
        {right * 3, "RL0537", "this is the time of three calls together",
         "rooflab::time_ms divides by the calls itself"}};
    if (auto complaint = explained(got, kWide, slips, evidence)) throw Refusal(*complaint);
    if (got < least) {
      throw Refusal({"RL0537", "the clock was stopped before the work was done" + evidence,
                     "a launch returns before the kernel has run: let rooflab::time_ms take the "
                     "time"});
    }
    throw Refusal({"RL0537", "this is not the time that the device saw" + evidence,
                   "rooflab::time_ms of one call, with a call to warm up, and nothing else in it"});
  }

  /// A form's first call at a length loads its kernels, and lets libraries set up what they need.
  void check_warm_up() const {
    if (!evidence_.keeps_records) return;
    const std::string kernel = first_kernel_that_is_timed_cold(evidence_.activity);
    if (kernel.empty()) return;
    throw Refusal({"RL0537",
                   "a time has no call before it to warm up" +
                       Evidence{message("; the first kernel of the timed call is ", kernel)},
                   "the second argument of rooflab::time_ms is how many calls come before those "
                   "that it times: at least one"});
  }

  /// Without records: what no GPU with these peaks could reach is refused.
  void check_plausible(AttentionForm form, int length, double milliseconds) const {
    constexpr double kShare = 1.3;  // L2 and boost clocks may beat a data sheet
    const double seconds = milliseconds * 1e-3;
    if (seconds > 0 && study_flops(length) / seconds <= kShare * peak_) return;
    throw Refusal({"RL0537",
                   message(name_of(form, length), " cannot have taken ", milliseconds, " ms"),
                   "rooflab::time_ms of one call, in milliseconds"});
  }

  // --- charts ---

  static double value_of(const std::vector<Series>& panel, AttentionForm form, std::size_t index) {
    const auto found = std::ranges::find(panel, name_of(form), &Series::label);
    return found == panel.end() || found->values.size() <= index ? std::nan("")
                                                                 : found->values[index];
  }

  void check_attention_chart(const AttentionChart& chart) const {
    if (!std::ranges::equal(chart.lengths, kStudyLengths)) {
      throw Refusal({"RL0535", "attention.json has other lengths than kStudyLengths",
                     "one length for each row, in the order of the rows"});
    }
    for (std::size_t i = 0; i < std::size(kStudyLengths); ++i) {
      for (const AttentionForm form : kForms) {
        const int length = kStudyLengths[i];
        const bool same = is_close(value_of(chart.latency_ms, form, i),
                                   number(evidence_, form, length, "ms"), kArithmetic) &&
                          is_close(value_of(chart.memory_bytes, form, i),
                                   number(evidence_, form, length, "bytes"), kArithmetic);
        if (same) continue;
        throw Refusal({"RL0535",
                       message("attention.json does not show what the row of ", length,
                               " tokens says of the form ", quoted(name_of(form))),
                       "two series in each panel, \"standard\" and \"flash\", with the numbers of "
                       "the rows"});
      }
    }
  }

  const Point& point(const RooflineChart& chart, const std::string& label, bool predicted) const {
    const PointKind reached = evidence_.keeps_records ? PointKind::modelled : PointKind::measured;
    const PointKind kind = predicted ? PointKind::predicted : reached;
    const auto matches = [&](const Point& p) { return p.label == label && p.kind == kind; };
    if (std::ranges::count_if(chart.points, matches) != 1) {
      throw Refusal({"RL0453",
                     message("roofline.json needs exactly one point ", quoted(label), " that is ",
                             predicted ? "predicted" : "of device.kind"),
                     "study.h lists the eight points"});
    }
    return *std::ranges::find_if(chart.points, matches);
  }

  void check_roofline_chart(const RooflineChart& chart) const {
    const bool right_roofs = chart.roofs.size() == 1 && chart.memory.size() == 1 &&
                             is_close(chart.roofs[0].flops_per_second, peak_, kArithmetic) &&
                             is_close(chart.memory[0].bytes_per_second, bandwidth_, kArithmetic);
    if (!right_roofs || chart.points.size() != 8) {
      throw Refusal({"RL0452", "roofline.json has other roofs or more points than study.h asks for",
                     "the roofs of device.gpu, and two points for each form at the shortest and "
                     "the longest length"});
    }
    for (const int length : {kStudyLengths[0], kStudyLengths[std::size(kStudyLengths) - 1]}) {
      for (const AttentionForm form : kForms) {
        const std::string label = name_of(form, length);
        check_prediction(form, length, point(chart, label, true));
        check_performance(form, length, point(chart, label, false));
      }
    }
  }

  static void check_intensity(AttentionForm form, int length, const Point& p) {
    const double right = study_flops(length) / study_traffic(form, length);
    if (is_close(p.intensity, right, kArithmetic)) return;
    const Evidence evidence{message("; that of ", name_of(form, length), " is ", right,
                                    " FLOP/B and the chart says ", p.intensity)};
    const AttentionForm other =
        form == AttentionForm::flash ? AttentionForm::standard : AttentionForm::flash;
    const std::vector<Slip> slips = {
        {study_flops(length) / study_traffic(other, length), "RL0454",
         "this is the intensity of the other form", "the FLOPs are the same, the bytes are not"},
        {right / 2, "RL0454", "MACs are counted as FLOPs",
         "attention_flops counts two for each multiply-accumulate step"},
        {right * 4, "RL0454", "the intensity is in FLOPs for each element", "a float has 4 bytes"}};
    if (auto complaint = explained(p.intensity, kArithmetic, slips, evidence)) {
      throw Refusal(*complaint);
    }
    throw Refusal({"RL0454", "the arithmetic intensity is wrong" + evidence,
                   "attention_flops over standard_traffic, or over the arrays of flash_forward"});
  }

  void check_prediction(AttentionForm form, int length, const Point& p) const {
    check_intensity(form, length, p);
    const double right = std::min(peak_, p.intensity * bandwidth_);
    if (is_close(p.flops_per_second, right, kArithmetic)) return;
    throw Refusal({"RL0455",
                   message("the roofline lets ", name_of(form, length), " attain ", right,
                           " FLOP/s, and the chart predicts ", p.flops_per_second),
                   "the lower of the peak and intensity x bandwidth, in FLOP/s"});
  }

  void check_performance(AttentionForm form, int length, const Point& p) const {
    check_intensity(form, length, p);
    const double seconds = number(evidence_, form, length, "ms") * 1e-3;
    const double right = study_flops(length) / seconds;
    if (is_close(p.flops_per_second, right, kArithmetic)) return;
    throw Refusal({"RL0457",
                   message("at the time in its row, ", name_of(form, length), " reached ", right,
                           " FLOP/s, and the chart says ", p.flops_per_second),
                   "FLOPs over the time in seconds"});
  }

  const CallEvidence& evidence_;
  double peak_, bandwidth_;
  std::map<std::string, RecordedCall> recorded_;
};

/// The table of the study, from the numbers that were judged.
std::string table(const CallEvidence& evidence) {
  std::string csv =
      "tokens,standard_ms,flash_ms,speed_up,standard_bytes,flash_bytes,standard_kernels,"
      "flash_kernels\n";
  for (const int length : kStudyLengths) {
    const auto of = [&](AttentionForm form, const char* what) {
      return number(evidence, form, length, what);
    };
    const double standard_ms = of(AttentionForm::standard, "ms");
    const double flash_ms = of(AttentionForm::flash, "ms");
    csv += message(length, ",", standard_ms, ",", flash_ms, ",", standard_ms / flash_ms, ",",
                   static_cast<std::int64_t>(of(AttentionForm::standard, "bytes")), ",",
                   static_cast<std::int64_t>(of(AttentionForm::flash, "bytes")), ",",
                   of(AttentionForm::standard, "kernels"), ",", of(AttentionForm::flash, "kernels"),
                   "\n");
  }
  return csv;
}

class StudyOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const auto one = FormCase::read(parameters);
    if (one) return one->oracle().make(one->attention(parameters), seed);
    Problem problem{parameters, {}};
    problem.parameters.emplace("form", std::string());
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    const auto one = FormCase::read(problem.parameters);
    return one ? one->oracle().expect(problem) : std::vector<Expected>();
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    const auto one = FormCase::read(problem.parameters);
    return one ? one->oracle().mistakes(problem) : std::vector<KnownMistake>();
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    return refusals_of([&] {
      const auto one = FormCase::read(problem.parameters);
      one ? one->judge(problem, evidence) : StudyJudge(evidence).judge();
    });
  }

  std::map<std::string, std::string> artifacts(const Problem& problem,
                                               const CallEvidence& evidence) const override {
    if (FormCase::read(problem.parameters)) return {};
    // Drawn here, from numbers: a student's own SVG could hold anything.
    const auto file = [&](const char* name) { return result(evidence, name, std::string()); };
    const AttentionChart attention = plot::attention_from_json(file("attention.json"));
    const RooflineChart roofline = plot::roofline_from_json(file("roofline.json"));
    return {
        {"attention.svg", plot::to_svg(attention)},   {"attention.csv", plot::to_csv(attention)},
        {"attention.json", plot::to_json(attention)}, {"roofline.svg", plot::to_svg(roofline)},
        {"roofline.json", plot::to_json(roofline)},   {"study.csv", table(evidence)}};
  }
};

ROOFLAB_ORACLE("study", StudyOracle)

}  // namespace
}  // namespace rooflab
