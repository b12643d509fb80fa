#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/codes/code.h"

/// What a course promises, and what became of each promise, as plain values.
namespace rooflab::verify {

/// A kind of proof.
enum class Proof : std::uint8_t {
  generated,  ///< starter/ is what solutions/ strips to
  starter,    ///< the starter builds, earns nothing, and says of each task where to begin
  solution,   ///< the solution earns every point, with room to spare
  mistakes,   ///< a planted mistake gets the verdict and the diagnosis that it declares
  right,      ///< a right submission in another style keeps its points, and is not found fault with
  documents,  ///< links lead somewhere, and the commands shown run
  release,    ///< the student kit holds nothing that students must not have
};
inline constexpr Proof kProofs[] = {Proof::generated, Proof::starter, Proof::solution,
                                    Proof::mistakes,  Proof::right,   Proof::documents,
                                    Proof::release};
const char* name_of(Proof proof);
/// The proof of that name; nothing when there is none.
std::optional<Proof> proof_of(std::string_view name);

/// One promise.
struct Claim {
  Proof proof = Proof::generated;
  std::optional<int> part = {};  ///< empty: of the whole course
  std::string gpu = {};          ///< empty: on whichever
  /// Of the mistake, the right submission or the check of documents; empty where there is but one.
  std::string name = {};
};

/// "solution of part 3 on t4", "mistake tiled_by_cublas of part 1 on a100",
/// "right submission gemv_early_returns of part 1 on t4", "documents: links".
std::string describe(const Claim& claim);

/// Why a promise is not held.
struct Failure {
  std::string story;   ///< what, where, what to do; may have several lines
  std::string replay;  ///< the command that shows it again
};

/// What the first diagnostic of a planted mistake is about.
enum class Recognition : std::uint8_t {
  recognised,          ///< the cause that the mistake declares
  unrecognised,        ///< only a symptom, which several causes have
  wrongly_recognised,  ///< another cause
};
inline constexpr Recognition kRecognitions[] = {Recognition::recognised, Recognition::unrecognised,
                                                Recognition::wrongly_recognised};
const char* name_of(Recognition recognition);

/// What became of a claim.
struct Outcome {
  std::vector<Failure> failures;
  /// The grader itself, not the course, is why it could not be proved.
  bool fault = false;
  /// Tasks that the GPU cannot run; a claim about nothing else is not applicable.
  std::vector<std::string> not_applicable;
  bool applicable = true;
  bool out_of_time = false;  ///< a time limit was reached, which a busy machine can be the cause of
  std::optional<double> margin;  ///< solutions: least efficiency over target of all timed cases
  std::optional<Recognition> recognition;  ///< mistakes
  std::optional<simgpu::Code> first_code;  ///< mistakes: of the first diagnostic
  bool held_out = false;                   ///< mistakes
  double seconds = 0;                      ///< wall time that it took

  bool proved() const { return failures.empty(); }
};

struct Ran;

/// A claim with the way to prove it.
struct Check {
  Claim claim;
  int weight = 0;  ///< those with more start first
  /// Writes what is needed into a new folder, and names the command to run. A grade is written to
  /// `folder`/grade.json. Empty: there is nothing to run.
  std::function<std::vector<std::string>(const std::filesystem::path& folder)> command = {};
  std::function<Outcome(const Ran&)> judge = {};
};

}  // namespace rooflab::verify
