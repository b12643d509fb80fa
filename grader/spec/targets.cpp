#include "grader/spec/targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/spec/part.h"
#include "grader/spec/toml_reader.h"
#include "specs/gpu_spec.h"

namespace rooflab {
namespace {

constexpr int kTen = 10;  // 8.0 is 80

/// 80 of "8.0".
int capability_of(TableReader& reader, const std::string& gpu) {
  const std::string text = reader.text(gpu);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto dot = text.find('.');
  const bool good = dot != std::string::npos && dot >= 1 && dot <= 2 && text.size() == dot + 2 &&
                    std::ranges::all_of(text.substr(0, dot) + text.substr(dot + 1), is_digit);
  if (!good) {
    throw reader.error(gpu, fmt::format("\"{}\" is no compute capability", text),
                       "write it as in \"8.0\"");
  }
  return std::stoi(text.substr(0, dot)) * kTen + (text[dot + 1] - '0');
}

Reached read_reached(const toml::table& table, const std::filesystem::path& file,
                     const std::string& gpu) {
  TableReader reader(table, file, fmt::format("what was reached on {}", gpu));
  Reached reached{
      .gpu = gpu, .naive = reader.number("naive"), .solution = reader.number("solution")};
  reader.finish();
  if (!(reached.solution > 0 && reached.solution <= 1)) {
    throw reader.error("solution", "no solution reaches that share of the roofline",
                       "measure it anew: grader targets --measure");
  }
  if (!(reached.naive >= 0 && reached.naive <= 1)) {
    throw reader.error("naive", "no naive version reaches that share of the roofline",
                       "measure it anew: grader targets --measure");
  }
  return reached;
}

MeasuredCase read_measured(const toml::table& table, const std::filesystem::path& file,
                           const std::string& where,
                           const std::map<std::string, int>& capabilities) {
  TableReader reader(table, file, where);
  MeasuredCase measured;
  measured.sources = reader.text_or("sources", "");
  for (const auto& [gpu, capability] : capabilities) {
    reader.maybe(gpu, [&, &gpu = gpu, &capability = capability](const toml::table& inner) {
      measured.reached.push_back(read_reached(inner, file, gpu));
      measured.reached.back().compute_capability = capability;
    });
  }
  reader.finish();  // finds a GPU that [gpus] does not have
  return measured;
}

std::vector<std::string> keys_in(const toml::table& table) {
  std::vector<std::string> keys;
  for (const auto& [key, node] : table) keys.emplace_back(key.str());
  return keys;
}

}  // namespace

std::optional<Targets> targets_from(const Reached& reached, const Targets& elsewhere) {
  constexpr double kFull = 0.795;       // of the solution: 1 / 1.25, and a little for rounding
  constexpr double kLeastWidth = 1.05;  // of full over zero
  const double full = kFull * reached.solution;
  // A GPU that allows more leaves the beginning of the points where it is; one that allows less
  // moves it down with their end.
  const double zero = elsewhere.zero * std::min(1.0, full / elsewhere.full);
  const Targets targets{.zero = std::max(zero, reached.naive), .full = full};
  if (!(targets.full >= kLeastWidth * targets.zero)) return std::nullopt;
  return targets;
}

MeasuredTargets load_targets(const std::filesystem::path& file) {
  MeasuredTargets targets;
  if (!std::filesystem::exists(file)) return targets;
  const toml::table table = parse_toml(file);
  TableReader reader(table, file, "targets");
  std::map<std::string, int> capabilities;
  reader.maybe("gpus", [&](const toml::table& gpus) {
    TableReader own(gpus, file, "[gpus]");
    for (const std::string& gpu : keys_in(gpus)) capabilities[gpu] = capability_of(own, gpu);
  });
  reader.maybe("task", [&](const toml::table& tasks) {
    TableReader of_tasks(tasks, file, "[task]");
    for (const std::string& task : keys_in(tasks)) {
      of_tasks.maybe(task, [&](const toml::table& cases) {
        TableReader of_cases(cases, file, fmt::format("[task.{}]", task));
        for (const std::string& name : keys_in(cases)) {
          of_cases.maybe(name, [&](const toml::table& one) {
            const std::string where = fmt::format("timed case \"{}\" of {}", name, task);
            targets[{task, name}] = read_measured(one, file, where, capabilities);
          });
        }
      });
    }
  });
  reader.finish();
  return targets;
}

std::string targets_text(const MeasuredTargets& targets) {
  std::map<std::string, int> capabilities;
  for (const auto& [name, measured] : targets) {
    for (const Reached& one : measured.reached) capabilities[one.gpu] = one.compute_capability;
  }
  std::string text =
      "# What a naive version and the solution reach of each roofline, on simulated GPUs: the "
      "targets of every [[task.speed]] follow\n# from it (docs/design/targets.md, \"By GPU\"). "
      "Written by `grader targets --measure`.\n\n[gpus]\n";
  for (const auto& [gpu, capability] : capabilities) {
    text += fmt::format("{} = \"{}.{}\"\n", gpu, capability / kTen, capability % kTen);
  }
  for (const auto& [name, measured] : targets) {
    text += fmt::format("\n[task.{}.{}]\nsources = {}\n", name.first, toml_string(name.second),
                        toml_string(measured.sources));
    for (const Reached& one : measured.reached) {
      text += fmt::format("{} = {{ naive = {:.4}, solution = {:.4} }}\n", one.gpu, one.naive,
                          one.solution);
    }
  }
  return text;
}

void add_targets(const MeasuredTargets& targets, PartSpec& part) {
  for (TaskSpec& task : part.tasks) {
    for (SpeedSpec& speed : task.speeds) {
      const auto found = targets.find({task.id, speed.name});
      if (found != targets.end()) speed.reached = found->second.reached;
    }
  }
}

const Reached* reached_on(const SpeedSpec& speed, const gpu_spec::GpuSpec& gpu) {
  const Reached* least = nullptr;
  for (const Reached& one : speed.reached) {
    if (one.gpu == gpu.id) return &one;
    if (one.compute_capability != gpu.compute_capability()) continue;
    if (least == nullptr || one.solution < least->solution) least = &one;
  }
  return least;
}

PartSpec with_targets_of(PartSpec part, const gpu_spec::GpuSpec& gpu) {
  for (TaskSpec& task : part.tasks) {
    for (SpeedSpec& speed : task.speeds) {
      const Reached* reached = reached_on(speed, gpu);
      if (maximum_points(speed) == 0 || reached == nullptr) continue;
      const auto targets = targets_from(*reached, {speed.zero_efficiency, speed.full_efficiency});
      speed.is_for_answer = !targets;
      speed.zero_efficiency = targets ? targets->zero : 0;
      speed.full_efficiency = targets ? targets->full : 0;
    }
  }
  return part;
}

}  // namespace rooflab
