#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/diagnose/axes.h"
#include "grader/diagnose/diagnose.h"
#include "grader/reactions/facts.h"
#include "grader/reactions/measured_reactions.h"

/// The cause of a wrong output that nobody has foreseen: found by what the submission and the
/// oracle make of other inputs.
namespace rooflab {

/// What a search works with.
struct ReactionTools {
  const Oracle& oracle;
  AxisNames axes;
  /// Parameters of problems of which one may be wrong, the smallest first. The last is that of the
  /// case which failed.
  std::vector<Values> candidates;
  /// Parameters of all cases that failed, and of others of their kind, right or wrong: another
  /// problem has to be one whose solution the submission gives in each.
  std::vector<Values> cases;
  /// A problem of these parameters: 0, or another number for other inputs.
  std::function<Problem(const Values& parameters, int draw)> draw;
  CallAll call;
  /// The outputs that are not what is expected.
  std::function<std::vector<TensorCheck>(const Problem&, const std::vector<Expected>&,
                                         const Outputs&)>
      compare;
  /// What went into an element of an output in a call; nothing where the device cannot say. May be
  /// empty.
  std::function<std::optional<ElementOrigin>(const Problem&, const ElementPlace&)> origin = {};
};

/// A cause, in the task's own words. It has been seen with two draws of the inputs.
struct FoundCause {
  Code code;
  std::string message;
  std::vector<std::string> evidence;
  std::string help;
  /// What was found is no cause, but narrows down where it may be: it is evidence, without a
  /// message.
  bool is_looks = false;
  Values parameters = {};  ///< of the problem that showed it
  /// The load that a fact is about; no line where nobody knows.
  std::string file = {};
  unsigned line = 0;
  std::string label = {};
};

/// What a search came to.
struct SearchedCause {
  std::optional<FoundCause> cause;
  /// Parameters of the first candidate that is wrong with two draws of the inputs; nothing where
  /// only the case itself is.
  std::optional<Values> smallest;
};

/// What the outputs say: another problem whose solution they are, or else how single elements
/// depend on the inputs. No cause where neither explains them: it is never guessed, what is said
/// was seen, element by element.
SearchedCause search_cause(const ReactionTools& tools);

}  // namespace rooflab
