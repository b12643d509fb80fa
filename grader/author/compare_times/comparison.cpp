#include "grader/author/compare_times/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace rooflab::compare_times {
namespace {

const CaseTime* find_case(const Times& times, const std::string& kernel, const std::string& name) {
  for (const TimedKernel& timed : times.kernels) {
    if (timed.name != kernel) continue;
    const auto found = std::ranges::find(timed.cases, name, &CaseTime::name);
    if (found != timed.cases.end()) return &*found;
  }
  return nullptr;
}

/// The cases of one half, and of one part of it or all.
struct Group {
  std::string name;
  std::vector<TimePair> pairs = {};
  std::set<std::string> kernels = {};
  double worst = 1;  ///< modelled over measured, farthest from 1

  void add(const ComparedCase& one) {
    const double ratio = one.time_us.modelled / one.time_us.measured;
    if (std::abs(std::log(ratio)) >= std::abs(std::log(worst))) worst = ratio;
    pairs.push_back(one.time_us);
    kernels.insert(one.kernel);
  }
};

/// Each part that has cases in this half, then all of them.
std::vector<Group> groups_of(const Comparison& comparison, Half half) {
  std::map<std::string, Group> parts;
  Group all{.name = "all"};
  for (const ComparedCase& one : comparison.cases) {
    if (half_of(one.kernel) != half) continue;
    const std::string part = part_of(one.kernel);
    parts.try_emplace(part, Group{.name = part}).first->second.add(one);
    all.add(one);
  }
  std::vector<Group> groups;
  for (auto& [name, group] : parts) groups.push_back(std::move(group));
  groups.push_back(std::move(all));
  return groups;
}

std::string or_dash(double value, const char* form) {
  return std::isnan(value) ? "-" : fmt::format(fmt::runtime(form), value);
}

std::string row_of(const Group& group) {
  return fmt::format("  {:<28}{:>8}{:>7}{:>10}{:>9}{:>9}\n", group.name, group.kernels.size(),
                     group.pairs.size(),
                     or_dash(mean_absolute_percentage_error(group.pairs), "{:.1f} %"),
                     or_dash(kendall_tau_b(group.pairs), "{:.3f}"),
                     group.pairs.empty() ? "-" : fmt::format("{:.2f}x", group.worst));
}

std::string half_title(Half half) {
  return half == Half::fitting ? "The fitting half: constants may be chosen by it"
                               : "The judging half: nothing is chosen by it";
}

std::string clocks_of(const MeasuredTimes& measured) {
  if (!measured.clocks_watched) return "clocks were not watched";
  return fmt::format("SM at {:.0f} MHz before, {:.0f} MHz behind", measured.sm_mhz_before,
                     measured.sm_mhz_after);
}

nlohmann::json number_or_null(double value) {
  return std::isnan(value) ? nlohmann::json() : nlohmann::json(value);
}

nlohmann::json document_of(const Group& group) {
  return {{"kernels", group.kernels.size()},
          {"cases", group.pairs.size()},
          {"mape_percent", number_or_null(mean_absolute_percentage_error(group.pairs))},
          {"kendall_tau_b", number_or_null(kendall_tau_b(group.pairs))},
          {"worst_ratio", group.pairs.empty() ? nlohmann::json() : nlohmann::json(group.worst)}};
}

nlohmann::json document_of(const Comparison& comparison) {
  const MeasuredTimes& measured = comparison.measured;
  nlohmann::json document = {{"gpu", measured.gpu},
                             {"kind", measured.kind},
                             {"device", measured.device},
                             {"driver", measured.driver},
                             {"date", measured.date},
                             {"left_out", comparison.left_out},
                             {"halves", nlohmann::json::object()},
                             {"cases", nlohmann::json::array()}};
  for (const Half half : kHalves) {
    for (const Group& group : groups_of(comparison, half)) {
      document["halves"][name_of(half)][group.name] = document_of(group);
    }
  }
  for (const ComparedCase& one : comparison.cases) {
    document["cases"].push_back({{"kernel", one.kernel},
                                 {"name", one.name},
                                 {"half", name_of(half_of(one.kernel))},
                                 {"measured_us", one.time_us.measured},
                                 {"modelled_us", one.time_us.modelled}});
  }
  return document;
}

}  // namespace

Comparison compare(MeasuredTimes measured, const Times& modelled) {
  Comparison comparison;
  for (const LeftOut& left_out : measured.times.left_out) {
    comparison.left_out.push_back(
        fmt::format("{}: has no measured time ({})", left_out.name, left_out.why));
  }
  for (const TimedKernel& kernel : measured.times.kernels) {
    for (const CaseTime& one : kernel.cases) {
      const CaseTime* model = find_case(modelled, kernel.name, one.name);
      const std::string what = fmt::format("{}, {}", kernel.name, one.name);
      if (model == nullptr) {
        comparison.left_out.push_back(what + ": the model has no time for it now");
      } else if (model->digest != one.digest) {
        comparison.left_out.push_back(what + ": its source or its case has changed since");
      } else {
        comparison.cases.push_back({kernel.name, one.name, {one.time_us, model->time_us}});
      }
    }
  }
  comparison.measured = std::move(measured);
  return comparison;
}

std::string comparison_text(const Comparison& comparison) {
  const MeasuredTimes& measured = comparison.measured;
  std::string text =
      fmt::format("{} · driver {} · {} · {} · model of specs/gpus/{}.toml\n", measured.device,
                  measured.driver, measured.date, clocks_of(measured), measured.gpu);
  if (measured.kind != "measured") {
    text += "A rehearsal: these times are modelled themselves, and say nothing about the model.\n";
  }
  text += fmt::format("\n  {:<66}{:>9}{:>13}{:>13}{:>7}\n", "", "half", measured.kind, "modelled",
                      "ratio");
  for (const ComparedCase& one : comparison.cases) {
    text +=
        fmt::format("  {:<66}{:>9}{:>10.2f} us{:>10.2f} us{:>7.2f}\n", one.kernel + ", " + one.name,
                    name_of(half_of(one.kernel)), one.time_us.measured, one.time_us.modelled,
                    one.time_us.modelled / one.time_us.measured);
  }
  for (const Half half : kHalves) {
    text += fmt::format("\n{}\n  {:<28}{:>8}{:>7}{:>10}{:>9}{:>9}\n", half_title(half), "",
                        "kernels", "cases", "MAPE", "tau-b", "worst");
    for (const Group& group : groups_of(comparison, half)) text += row_of(group);
  }
  if (!comparison.left_out.empty()) text += "\nLeft out:\n";
  for (const std::string& one : comparison.left_out) text += "  " + one + "\n";
  return text;
}

std::string to_json(const std::vector<Comparison>& comparisons) {
  nlohmann::json document = {{"schema", 1}, {"files", nlohmann::json::array()}};
  for (const Comparison& comparison : comparisons) {
    document["files"].push_back(document_of(comparison));
  }
  return document.dump(2) + "\n";
}

}  // namespace rooflab::compare_times
