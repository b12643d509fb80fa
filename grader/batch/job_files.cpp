#include "grader/batch/job_files.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "grader/batch/batch_folder.h"
#include "grader/batch/execute/executor.h"
#include "grader/report/evidence.h"
#include "grader/spec/files.h"
#include "grader/spec/json_bounds.h"

namespace rooflab {
namespace {

constexpr const char* kJobFile = "job.json";

}  // namespace

std::filesystem::path sources_of(const std::filesystem::path& folder) { return folder / "sources"; }

void write_job(const std::filesystem::path& folder, const JobDescription& job,
               const SourceFiles& sources) {
  for (const auto& [path, content] : sources) {
    write_file_atomically(sources_of(folder) / path, content);
  }
  const nlohmann::ordered_json document{{"grading", job.grading},   {"part", job.part},
                                        {"device", job.device},     {"seed", text_of(job.seed)},
                                        {"students", job.students}, {"sandbox", job.sandbox},
                                        {"causes", job.causes},     {"threads", job.threads}};
  write_file_atomically(folder / kJobFile, document.dump(2) + "\n");
}

JobDescription read_job(const std::filesystem::path& folder) {
  const std::string text = read_file(folder / kJobFile);
  try {
    const auto document = nlohmann::json::parse(text);
    return {.grading = document.at("grading").get<std::string>(),
            .part = document.at("part").get<int>(),
            .device = document.at("device").get<std::string>(),
            .seed = seed_of(document.at("seed").get<std::string>()),
            .students = document.value("students", std::vector<std::string>()),
            .sandbox = document.at("sandbox").get<bool>(),
            .causes = document.value("causes", std::string("full")),
            .threads = document.at("threads").get<unsigned>()};
  } catch (const nlohmann::json::exception& error) {
    throw BatchError(fmt::format("{} is no job of a batch: {}; run the batch again",
                                 (folder / kJobFile).string(), error.what()));
  }
}

void write_result(const std::filesystem::path& folder, GradeResult result, const std::string& gpu,
                  const std::vector<RevealedCase>& revealed,
                  const std::map<std::string, std::string>& texts,
                  const std::map<std::string, double>& numbers) {
  const double build_s = std::exchange(result.build_s, 0);
  const double run_s = std::exchange(result.run_s, 0);
  const nlohmann::json document{{"evidence", to_evidence(result)},
                                {"revealed", to_text(revealed)},
                                {"texts", texts},
                                {"numbers", numbers},
                                {"gpu", gpu},
                                {"build_s", build_s},
                                {"run_s", run_s}};
  write_file_atomically(folder / kResultFile, document.dump() + "\n");
}

std::optional<GradedResult> read_result(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder / kResultFile, error)) return std::nullopt;
  try {
    constexpr std::size_t kLargest = std::size_t{256} << 20;
    const std::string text = read_file(folder / kResultFile, kLargest);
    if (json_nests_too_deep(text)) return std::nullopt;
    const auto document = nlohmann::json::parse(text);
    GradedResult graded;
    graded.evidence = document.at("evidence").get<std::string>();
    graded.result = from_evidence(graded.evidence);
    graded.revealed = document.value("revealed", "");
    graded.texts = document.value("texts", std::map<std::string, std::string>{});
    graded.numbers = document.value("numbers", std::map<std::string, double>{});
    graded.gpu = document.at("gpu").get<std::string>();
    graded.build_s = document.at("build_s").get<double>();
    graded.run_s = document.at("run_s").get<double>();
    return graded;
  } catch (const nlohmann::json::exception&) {  // half of a result, or none at all
  } catch (const EvidenceError&) {
  } catch (const FileError&) {
  }
  return std::nullopt;
}

}  // namespace rooflab
