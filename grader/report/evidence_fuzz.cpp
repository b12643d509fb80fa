// libFuzzer's entry to what is read of a worker's result and of a class's database: any text is a
// grade, which is written and read the same again, or an EvidenceError. The bytes are read as a
// text, and make one, and change a right one.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "grader/report/evidence.h"
#include "simgpu/fuzzing/grammar/json_text.h"

namespace rooflab {
namespace {

constexpr std::array<std::string_view, 14> kKeys = {
    "version", "result",  "tasks",       "verdict", "score", "cases",     "seed",
    "timings", "printed", "diagnostics", "code",    "peaks", "artifacts", "groups"};

void require(bool holds) {
  if (!holds) std::abort();
}

std::string right_evidence() {
  TaskResult task;
  task.id = "gemm";
  task.title = "GEMM";
  task.verdict = Verdict::wrong_answer;
  task.printed = "x\x1b[2J";
  task.cases = {{.name = "one", .verdict = Verdict::race}};
  Diagnostic story;
  story.code = "RL0301";
  story.message = "it is wrong";
  task.diagnostics = {story};
  task.timings.resize(1);
  GradeResult result;
  result.part = 1;
  result.device = "sim:a100";
  result.seed = Seed(1, 2);
  result.tasks = {task};
  return to_evidence(result);
}

void read(const std::string& text) {
  try {
    const std::string written = to_evidence(from_evidence(text));
    require(to_evidence(from_evidence(written)) == written);
  } catch (const EvidenceError& error) {
    require(!std::string_view(error.what()).empty());
  }
  try {
    const std::string written = to_text(revealed_from(text));
    require(to_text(revealed_from(written)) == written);
  } catch (const EvidenceError& error) {
    require(!std::string_view(error.what()).empty());
  }
}

}  // namespace
}  // namespace rooflab

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string right = rooflab::right_evidence();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  rooflab::read(std::string(bytes));
  simgpu::fuzzing::Choices choices(bytes);
  simgpu::fuzzing::JsonText json(choices, rooflab::kKeys);
  if (choices.coin()) {
    rooflab::read(json.changed(right));
  } else {
    rooflab::read(choices.coin() ? "[" + json.object() + "]" : json.object());
  }
  return 0;
}
