#include "grader/author/verify/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace rooflab::verify {
namespace {

using nlohmann::json;

std::string indented(const std::string& text) {
  std::string lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines += "  " + line + "\n";
  return lines;
}

const char* state_of(const Outcome& outcome) {
  if (outcome.fault) return "fault";
  if (!outcome.proved()) return "failed";
  return outcome.applicable ? "proved" : "not-applicable";
}

json json_of(const Result& result) {
  const auto& [claim, outcome] = result;
  json one = {{"proof", verify::name_of(claim.proof)}, {"state", state_of(outcome)}};
  if (claim.part) one["part"] = *claim.part;
  if (!claim.gpu.empty()) one["gpu"] = claim.gpu;
  if (!claim.name.empty()) one["name"] = claim.name;
  if (outcome.margin) one["margin"] = *outcome.margin;
  if (!outcome.not_applicable.empty()) one["not_applicable"] = outcome.not_applicable;
  if (claim.proof == Proof::mistakes) {
    one["held_out"] = outcome.held_out;
    if (outcome.recognition) {
      one["recognition"] = verify::name_of(*outcome.recognition);
      one["first_code"] = outcome.first_code ? outcome.first_code->text() : "";
    }
  }
  for (const Failure& failure : outcome.failures) {
    one["failures"].push_back({{"story", failure.story}, {"replay", failure.replay}});
  }
  one["seconds"] = outcome.seconds;
  return one;
}

json json_of(const Confusion& confusion) {
  return {{"recognised", confusion.recognised},
          {"unrecognised", confusion.unrecognised},
          {"wrongly_recognised", confusion.wrongly_recognised}};
}

}  // namespace

bool Report::proved() const {
  return std::ranges::all_of(results, [](const Result& one) { return one.outcome.proved(); });
}

bool Report::has_fault() const {
  return std::ranges::any_of(results, [](const Result& one) { return one.outcome.fault; });
}

Confusion confusion_of(const Report& report, const std::string& gpu, bool held_out) {
  Confusion confusion;
  for (const auto& [claim, outcome] : report.results) {
    if (claim.gpu != gpu || outcome.held_out != held_out || !outcome.recognition) continue;
    switch (*outcome.recognition) {
      case Recognition::recognised:
        ++confusion.recognised;
        break;
      case Recognition::unrecognised:
        ++confusion.unrecognised;
        break;
      case Recognition::wrongly_recognised:
        ++confusion.wrongly_recognised;
        break;
    }
  }
  return confusion;
}

std::string failures_text(const Report& report) {
  std::string text;
  for (const auto& [claim, outcome] : report.results) {
    for (const Failure& failure : outcome.failures) {
      text += fmt::format("{}: {}\n{}", outcome.fault ? "FAULT" : "FAILED", describe(claim),
                          indented(failure.story));
      if (!failure.replay.empty()) text += fmt::format("  replay: {}\n", failure.replay);
      text += '\n';
    }
  }
  return text;
}

std::string to_json(const Report& report) {
  json document = {{"schema", 1},
                   {"proved", report.proved()},
                   {"gpus", report.gpus},
                   {"seconds", report.seconds},
                   {"parts", json::array()},
                   {"checks", json::array()}};
  for (const auto& [number, title] : report.parts) {
    document["parts"].push_back({{"number", number}, {"title", title}});
  }
  for (const Result& result : report.results) document["checks"].push_back(json_of(result));
  for (const std::string& gpu : report.gpus) {
    document["confusion"][gpu] = {{"planted", json_of(confusion_of(report, gpu, false))},
                                  {"held_out", json_of(confusion_of(report, gpu, true))}};
  }
  return document.dump(2) + "\n";
}

}  // namespace rooflab::verify
