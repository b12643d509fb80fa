#pragma once

#include <string>
#include <vector>

#include "grader/contract/oracle.h"
#include "grader/contract/problem.h"
#include "labs/oracle_support/rounding.h"

/// What a result may be off by, from the types it is computed and stored in, and the list of what
/// it looks like when a known mistake made it.
namespace rooflab {

/// Exact values, and for each how far correct fp32 arithmetic may be off before it is stored.
struct Computed {
  std::vector<double> value;
  std::vector<double> error;
};

/// Half the distance of the type's numbers next to `value`: what storing it may change it by.
double half_ulp(ElementType type, double value);

/// `value` rounded to the type, to nearest, ties to even. @pre type is float32 or bfloat16
double rounded(ElementType type, double value);

/// What a tensor of the type must hold: each value, within its error and one rounding.
Expected stored(const std::string& tensor, ElementType type, Computed computed);

/// Known mistakes that change something: one that gives what is right in this case, such as a
/// window off by one where no window is, cannot be told and is left out.
class Mistakes {
 public:
  explicit Mistakes(std::vector<Expected> right) : right_(std::move(right)) {}

  void add(const std::string& code, const std::string& cause, const std::string& advice,
           std::vector<Expected> outputs);
  std::vector<KnownMistake> take() { return std::move(mistakes_); }

 private:
  std::vector<Expected> right_;
  std::vector<KnownMistake> mistakes_;
};

}  // namespace rooflab
