#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grader/contract/problem.h"
#include "grader/contract/sentence.h"
#include "simgpu/codes/code.h"
#include "simgpu/report.h"

namespace rooflab {

using simgpu::Code;

/// A known-wrong result: when a student's output matches it, the mistake has a name.
struct KnownMistake {
  Code code;  ///< has a page in handouts/errors/
  /// One sentence, the same for all cases: "B is read as if it were transposed".
  std::string cause;
  std::string advice;  ///< one sentence: what to look at
  std::vector<Expected> outputs;
};

/// The peak rates of a GPU that most charts are about.
struct PeakRates {
  double flops_per_second = 0;  ///< of fp32
  double bytes_per_second = 0;  ///< of DRAM
};

/// What a call did, for oracles that judge more than its outputs.
struct CallEvidence {
  Values results;              ///< what the guest returned: untrusted
  simgpu::Activity activity;   ///< what the device saw: trusted
  bool keeps_records = false;  ///< false on a real GPU, where `activity` is empty whatever happened
  PeakRates peaks = {};  ///< of the simulated GPU; zeros on a real one, whose clock may be any
};

/// A fault that an oracle found in results or activity.
struct Complaint {
  Code code;
  Sentence message;    ///< cause, then evidence
  std::string advice;  ///< the same for all cases
};

/// What an oracle says of how a right call was made.
struct SpeedRemark {
  Complaint complaint;
  /// The timed call earns no points for speed, launches or bytes: it does not do what these points
  /// are for, as the task's page says. Answers keep theirs.
  bool forfeits_points = false;
};

/// The trusted side of a task: makes its inputs, knows the right outputs, and counts its work. Runs
/// in the grader, never in the guest. Oracles compute in fp64 or wider, by another algorithm than
/// the solutions.
class Oracle {
 public:
  virtual ~Oracle() = default;

  /// Inputs of one case from its parameters (part.toml) and the seed. Same arguments, same problem.
  /// Unless overridden, the parameters are all there is.
  virtual Problem make(const Values& parameters, std::uint64_t /*seed*/) const {
    return {parameters, {}};
  }

  /// The right contents of every output and in_out tensor.
  virtual std::vector<Expected> expect(const Problem&) const { return {}; }

  /// The right named results; numbers compare within 1e-9 relative. `values` tasks only.
  virtual Values expect_results(const Problem&) const { return {}; }

  /// The right named results for parameters of no case, to see how results react to parameters
  /// (grader/reactions). Those of a case must be what the case expects. Nothing where there is no
  /// telling, and where the parameters make no sense: they may be such that no author would choose.
  virtual Values results_elsewhere(const Problem& problem) const { return expect_results(problem); }

  /// Work of a case, for its roofline.
  virtual Work work(const Values& parameters) const;

  /// Known-wrong outputs for this problem; computed only after a wrong answer.
  virtual std::vector<KnownMistake> mistakes(const Problem&) const { return {}; }

  /// Anything else that must hold of every call, such as how often a function was called: what it
  /// finds is a wrong answer. What only makes a call slower belongs to judge_speed.
  virtual std::vector<Complaint> judge(const Problem&, const CallEvidence&) const { return {}; }

  /// What to say of how a timed call came to its right answer: advice, which a report shows beside
  /// the time. Only what the device saw counts.
  virtual std::vector<SpeedRemark> judge_speed(const Values& /*parameters*/,
                                               const CallEvidence&) const {
    return {};
  }

  /// Files to show with the result of a right call, by name ([a-z0-9._-]): an SVG drawn from data
  /// that the student's code returned, parsed and validated here.
  virtual std::map<std::string, std::string> artifacts(const Problem&, const CallEvidence&) const {
    return {};
  }

  /// The cause of results of which at least one is not what it should be, such as a summand that is
  /// missing; nothing when the oracle knows none.
  virtual std::optional<Complaint> explain(const Problem&, const Values& /*got*/,
                                           const Values& /*expected*/) const {
    return std::nullopt;
  }
};

/// Registration: a lab's oracle library holds one ROOFLAB_ORACLE(name, Class) per oracle; the
/// grader loads every library it finds in lib/labs/ and asks for oracles by part directory and
/// name.
using OracleFactory = std::unique_ptr<Oracle> (*)();
std::map<std::string, OracleFactory>& oracle_registry();  // of the library that this is linked into

#define ROOFLAB_ORACLE(name, Class)                                                     \
  namespace {                                                                           \
  [[maybe_unused]] const bool registered_##Class = (                                    \
      ::rooflab::oracle_registry()[name] = []() -> std::unique_ptr<::rooflab::Oracle> { \
        return std::make_unique<Class>();                                               \
      },                                                                                \
      true);                                                                            \
  }

/// The sizes of what a grader and an oracle library exchange, as one number: a library that was
/// built from other headers than the grader is refused, since its every call would read the wrong
/// bytes.
inline constexpr std::uint64_t kOracleLayout =
    (((((sizeof(CallEvidence) * 1009 + sizeof(simgpu::KernelRecord)) * 1009 +
        sizeof(simgpu::MemoryRecord) + sizeof(simgpu::ApiRecord)) *
           1009 +
       sizeof(simgpu::Finding)) *
          1009 +
      sizeof(Problem)) *
         1009 +
     sizeof(Tensor)) *
        1009 +
    sizeof(KnownMistake) + sizeof(Work) + sizeof(Expected);

/// Put once into a lab's oracle library: the grader looks these symbols up.
#define ROOFLAB_ORACLE_LIBRARY()                                                        \
  namespace rooflab {                                                                   \
  std::map<std::string, OracleFactory>& oracle_registry() {                             \
    static std::map<std::string, OracleFactory> registry;                               \
    return registry;                                                                    \
  }                                                                                     \
  }                                                                                     \
  extern "C" std::uint64_t rooflab_oracle_layout() { return ::rooflab::kOracleLayout; } \
  extern "C" const void* rooflab_oracles() { return &::rooflab::oracle_registry(); }

}  // namespace rooflab
