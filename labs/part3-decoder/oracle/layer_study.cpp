#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/recorded_calls.h"
#include "labs/oracle_support/refusal.h"
#include "labs/part3-decoder/oracle/layer_case.h"
#include "labs/part3-decoder/oracle/layer_study_calls.h"
#include "labs/toolkit/plot/plot.h"

namespace rooflab {
namespace {

using plot::LatencyChart;

/// Rates are arithmetic on given numbers; a chart keeps fewer digits.
constexpr double kArithmetic = 1e-5;
/// Events stand a little before the first kernel and behind the last.
constexpr double kClock = 0.03;
constexpr double kClockSlackMs = 0.004;
/// Kernels may compute a little less than cost.h counts, where counters are extrapolated, and more:
/// sums that are rescaled, tiles that reach over an edge.
constexpr double kLeastWork = 0.95, kMostWork = 1.3;

/// A row as the student's code returned it.
struct Row {
  std::int64_t batch, length;
  double milliseconds, tokens_per_second, utilisation;
};

/// Judges a study: the rows that the student's code returned and the charts that it wrote, against
/// the device's own record of the work that was timed.
class StudyJudge {
 public:
  explicit StudyJudge(const CallEvidence& evidence)
      : evidence_(evidence),
        peak_(told_peaks(evidence).flops_per_second),
        timed_(timed_work(evidence.activity)) {}

  /// @throws Refusal
  void judge() const {
    for (const StudyCall& call : study_calls()) check_row(call);
    check_warm_up();
    check_chart("prefill", study_lengths(), {{"prefill", StudyKind::prefill}});
    check_chart("decode", study_batches(),
                {{"with a cache", StudyKind::decode},
                 {"without a cache", StudyKind::decode_without_cache}});
  }

  /// The table of the study, from the numbers that were judged.
  std::string table() const {
    std::string csv = "call,batch,tokens,ms,tokens_per_second,utilisation\n";
    for (const StudyCall& call : study_calls()) {
      const Row row = row_of(call);
      csv += message(name_of(call.kind), ",", call.batch, ",", call.length, ",", row.milliseconds,
                     ",", row.tokens_per_second, ",", row.utilisation, "\n");
    }
    return csv;
  }

  LatencyChart chart(const std::string& name) const {
    const std::string json = file(name + ".json");
    if (json.empty()) {
      throw Refusal(
          {"RL0450", "there is no " + name + ".json in the folder",
           "write the chart with rooflab::plot::write(chart, folder / \"" + name + "\")"});
    }
    try {
      return plot::latency_from_json(json);
    } catch (const std::invalid_argument& error) {
      throw Refusal({"RL0451",
                     message(name, ".json cannot be read as such a chart: ", error.what()),
                     "fill in the chart's structure and let plot::write make the files"});
    }
  }

 private:
  std::string file(const std::string& name) const { return result(evidence_, name, std::string()); }

  Row row_of(const StudyCall& call) const {
    const std::string prefix = name_of(call.kind) + "_" + std::to_string(call.index) + "_";
    const auto whole = [&](const char* what) {
      return result(evidence_, prefix + what, std::int64_t{-1});
    };
    const auto number = [&](const char* what) {
      return result(evidence_, prefix + what, std::nan(""));
    };
    return {whole("batch"), whole("length"), number("ms"), number("tokens_per_second"),
            number("utilisation")};
  }

  void check_row(const StudyCall& call) const {
    const Row row = row_of(call);
    if (row.batch != call.batch || row.length != call.length || std::isnan(row.milliseconds)) {
      throw Refusal({"RL0535",
                     message("there is no row of ", words_of(call), " where layer_study.h has it"),
                     "layer_study.h: a row for each length, and for each batch with a cache and "
                     "without one, in that order"});
    }
    if (evidence_.keeps_records) {
      check_time(call, row.milliseconds);
    } else {
      check_plausible(call, row.milliseconds);
    }
    check_tokens(call, row);
    check_utilisation(call, row);
  }

  /// How many calls of this kind the work is, by its floating-point operations; 0: it is of another
  /// kind.
  static double calls_in(const RecordedCall& work, const StudyCall& call) {
    const double count = std::round(work.flops / cost_flops(call));
    const bool fits = work.flops >= kLeastWork * count * least_flops(call) &&
                      work.flops <= kMostWork * count * cost_flops(call);
    return fits ? count : 0;
  }

  /// Whether the work is whole calls of this kind, each of which took so long.
  static bool took(const RecordedCall& work, const StudyCall& call, double milliseconds) {
    const double count = std::max(1.0, std::round(work.span_ms / milliseconds));
    return work.flops >= kLeastWork * count * least_flops(call) &&
           work.flops <= kMostWork * count * cost_flops(call) &&
           milliseconds >= (1 - kClock) * work.busy_ms / count &&
           milliseconds <= (1 + kClock) * work.span_ms / count + kClockSlackMs;
  }

  /// What took the time of a row, one call or a few, must be whole layers.
  void check_work(const StudyCall& call, double got) const {
    constexpr double kMostCalls = 4;
    for (const RecordedCall& work : timed_) {
      const double count = std::max(1.0, std::round(work.span_ms / got));
      const double flops = work.flops / count;
      const bool took_as_long = std::abs(work.span_ms / count - got) <= kClock * got;
      if (!took_as_long || count > kMostCalls || flops >= kLeastWork * least_flops(call)) continue;
      throw Refusal({"RL0537",
                     message("what took the time of ", words_of(call), " does ", flops,
                             " floating-point operations, and a layer takes ", least_flops(call)),
                     "the times of a study are those of the whole layer: finish it before you time "
                     "it"});
    }
  }

  void check_time(const StudyCall& call, double got) const {
    const auto fits = [&](const RecordedCall& work) { return took(work, call, got); };
    if (got > 0 && std::ranges::any_of(timed_, fits)) return;
    check_work(call, got);
    const auto of_call = [&](const RecordedCall& work) { return calls_in(work, call) > 0; };
    const auto work = std::ranges::find_if(timed_, of_call);
    if (work == timed_.end()) {
      throw Refusal({"RL0537",
                     message("nothing that was timed does the work of ", words_of(call), ", ",
                             least_flops(call), " floating-point operations"),
                     "let rooflab::time_ms time a call of your finished layer, on "
                     "device.context.stream"});
    }
    const double right = work->span_ms / calls_in(*work, call);
    const Evidence evidence{message("; ", words_of(call), " takes ", right,
                                    " ms by the device's record, and the row says ", got)};
    constexpr const char* kUnits = "rooflab::time_ms gives milliseconds, and rows have them";
    constexpr double kWide = 0.2;  // of factors that are far apart
    std::vector<Slip> slips = {{right * 1e-3, "RL0537", "the time is in seconds", kUnits},
                               {right * 1e3, "RL0537", "the time is in microseconds", kUnits}};
    if (call.batch > 1) {
      slips.push_back({right / static_cast<double>(call.batch), "RL0537",
                       "this is the time of a call over its batch",
                       "a row has the time of the whole call"});
    }
    if (auto complaint = explained(got, kWide, slips, evidence)) throw Refusal(*complaint);
    throw Refusal({"RL0537", "this is not the time that the device saw" + evidence,
                   "rooflab::time_ms of one call, with a call to warm up, and nothing else in it"});
  }

  /// Without records: what no GPU with this peak could reach is refused.
  void check_plausible(const StudyCall& call, double milliseconds) const {
    constexpr double kShare = 1.3;  // boost clocks may beat a data sheet
    const double seconds = milliseconds * 1e-3;
    if (seconds > 0 && least_flops(call) / seconds <= kShare * peak_) return;
    throw Refusal({"RL0537", message(words_of(call), " cannot have taken ", milliseconds, " ms"),
                   "rooflab::time_ms of one call, in milliseconds"});
  }

  static void check_tokens(const StudyCall& call, const Row& row) {
    const double seconds = row.milliseconds * 1e-3;
    const auto batch = static_cast<double>(call.batch);
    const auto all = static_cast<double>(call.batch * call.length);
    const double tokens = call.kind == StudyKind::prefill ? all : batch;
    const double right = tokens / seconds;
    if (is_close(row.tokens_per_second, right, kArithmetic)) return;
    const Evidence evidence{message("; at its time ", words_of(call), " makes ", right,
                                    " new tokens a second, and the row says ",
                                    row.tokens_per_second)};
    const std::vector<Slip> slips = {
        {tokens / row.milliseconds, "RL0457", "these are tokens a millisecond",
         "a millisecond is 1e-3 seconds"},
        {all / seconds, "RL0457", "all tokens of the texts are counted",
         "decode makes one new token for each sequence, with or without a cache"},
        {1 / seconds, "RL0457", "the tokens of one sequence are counted",
         "each sequence of the batch gets a new token"}};
    if (auto complaint = explained(row.tokens_per_second, kArithmetic, slips, evidence)) {
      throw Refusal(*complaint);
    }
    throw Refusal({"RL0457", "the tokens a second are wrong" + evidence,
                   "new tokens of all sequences over the time in seconds"});
  }

  void check_utilisation(const StudyCall& call, const Row& row) const {
    const double whole = row.milliseconds * 1e-3 * peak_;
    const double right = cost_flops(call) / whole;
    if (is_close(row.utilisation, right, kArithmetic)) return;
    const Evidence evidence{message("; ", words_of(call), " reaches ", right,
                                    " of the peak at its time, and the row says ",
                                    row.utilisation)};
    StudyCall other = call;
    other.kind = call.kind == StudyKind::decode ? StudyKind::prefill : StudyKind::decode;
    const Sentence of_other = call.kind == StudyKind::decode
                                  ? Sentence("these are the FLOPs of all tokens of the text")
                                  : Sentence("these are the FLOPs of one new token");
    const std::vector<Slip> slips = {
        {right * 100, "RL0457", "the utilisation is in percent", "1 is all of the peak"},
        {right * 1e-3, "RL0457", "the time is taken for seconds", "a millisecond is 1e-3 seconds"},
        {cost_macs(call) / whole, "RL0457", "MACs are counted as FLOPs",
         "take flops of what your cost.h returns"},
        {cost_flops(other) / whole, "RL0457", of_other,
         "with a cache one token of each sequence goes through the layer, without one all of them "
         "do"}};
    if (auto complaint = explained(row.utilisation, kArithmetic, slips, evidence)) {
      throw Refusal(*complaint);
    }
    throw Refusal({"RL0457", "the utilisation is wrong" + evidence,
                   "flops of prefill_cost or decode_cost for kStudyLayer, over the time in seconds "
                   "and device.gpu.flops_per_second"});
  }

  /// The first call of a kind and size loads its kernels, and lets libraries set up what they need.
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

  struct Line {
    const char* label;
    StudyKind kind;
  };

  void check_chart(const std::string& name, const std::vector<std::int64_t>& sizes,
                   const std::vector<Line>& lines) const {
    const LatencyChart drawn = chart(name);
    const auto as_text = [](std::int64_t size) { return std::to_string(size); };
    if (!std::ranges::equal(drawn.x, sizes, {}, {}, as_text)) {
      throw Refusal({"RL0535", name + ".json has other sizes along x than the study",
                     "one size for each row, in the order of the rows"});
    }
    for (const Line& line : lines) check_line(name, drawn, line);
    if (file(name + ".csv") == plot::to_csv(drawn) && file(name + ".svg") == plot::to_svg(drawn)) {
      return;
    }
    throw Refusal({"RL0450",
                   message(name, ".csv or ", name, ".svg is not what ", name, ".json looks like"),
                   "let one call of rooflab::plot::write make all three files"});
  }

  void check_line(const std::string& name, const LatencyChart& drawn, const Line& line) const {
    const auto series = std::ranges::find(drawn.latency_ms, line.label, &plot::Series::label);
    if (series == drawn.latency_ms.end()) {
      throw Refusal({"RL0535", message(name, ".json has no series \"", line.label, "\""),
                     "layer_study.h names the series of each chart"});
    }
    for (const StudyCall& call : study_calls()) {
      if (call.kind != line.kind) continue;
      const auto index = static_cast<std::size_t>(call.index);
      const double value = index < series->values.size() ? series->values[index] : std::nan("");
      if (is_close(value, row_of(call).milliseconds, kArithmetic)) continue;
      throw Refusal({"RL0535",
                     message("the row of ", words_of(call), " says ", row_of(call).milliseconds,
                             " ms, and ", name, ".json says ", value),
                     "a chart shows the milliseconds of the rows"});
    }
  }

  const CallEvidence& evidence_;
  double peak_;
  std::vector<RecordedCall> timed_;
};

class LayerStudyOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    if (is_layer(parameters)) return make_layer_problem(of_layer(parameters), seed);
    Problem problem{parameters, {}};
    problem.parameters.emplace("function", std::string());
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return is_layer(problem.parameters) ? layer_outputs(problem) : std::vector<Expected>();
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    if (is_layer(problem.parameters)) return {};
    return refusals_of([&] { StudyJudge(evidence).judge(); });
  }

  std::map<std::string, std::string> artifacts(const Problem& problem,
                                               const CallEvidence& evidence) const override {
    if (is_layer(problem.parameters)) return {};
    // Drawn here, from numbers: a student's own SVG could hold anything.
    const StudyJudge study(evidence);
    std::map<std::string, std::string> files{{"study.csv", study.table()}};
    for (const char* name : {"prefill", "decode"}) {
      const LatencyChart chart = study.chart(name);
      files[std::string(name) + ".svg"] = plot::to_svg(chart);
      files[std::string(name) + ".csv"] = plot::to_csv(chart);
      files[std::string(name) + ".json"] = plot::to_json(chart);
    }
    return files;
  }

 private:
  /// A case that compares what the layer of the study returns: a study is of a layer, and not of
  /// kernels that do as much.
  static bool is_layer(const Values& parameters) {
    return parameters.contains("function") && !text(parameters, "function").empty();
  }

  static Values of_layer(Values parameters) {
    const Values shape{{"hidden", kStudyHidden},          {"intermediate", kStudyIntermediate},
                       {"query_heads", kStudyQueryHeads}, {"key_value_heads", std::int64_t{1}},
                       {"head_dim", kStudyHeadDim},       {"window", std::int64_t{0}},
                       {"type", std::string("float")}};
    parameters.insert(shape.begin(), shape.end());
    return parameters;
  }
};

ROOFLAB_ORACLE("layer_study", LayerStudyOracle)

}  // namespace
}  // namespace rooflab
