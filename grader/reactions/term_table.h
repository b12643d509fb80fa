#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "grader/contract/problem.h"
#include "grader/reactions/term_search.h"

/// What calls with different parameters returned and should have returned, as numbers.
namespace rooflab {

/// Whole numbers of 64 bits stay whole.
using Number = long double;

struct TermRow {
  std::vector<Number> parameters;     ///< in the order of TermTable::parameters
  std::vector<Number> got, expected;  ///< in the order of TermTable::results
  bool proves = false;                ///< not used to find a law, only to hold it against
  const TermSample* sample = nullptr;
};

class TermTable {
 public:
  /// @param samples the case itself first; they outlive the table
  explicit TermTable(const std::vector<TermSample>& samples);

  const std::vector<std::string>& parameters() const { return parameters_; }
  const std::vector<std::string>& results() const { return results_; }
  const std::vector<TermRow>& rows() const { return rows_; }
  /// That of the case.
  const TermRow& base() const { return rows_.front(); }

  /// Whether calls with the same parameters returned the same.
  bool is_repeatable() const;

  /// Results that are wrong in the case and, in other numbers, elsewhere: so often that a law says
  /// something.
  std::vector<std::size_t> wrong_results() const;

  /// Whether a result is not what it should be.
  bool is_wrong(const TermRow& row, std::size_t result) const;

  /// Parameters that have several values, none of them zero.
  std::vector<std::size_t> varying() const;

  /// Rows that differ from the case in that parameter alone.
  std::vector<const TermRow*> with_other(std::size_t parameter) const;

 private:
  std::vector<std::string> parameters_, results_;
  std::vector<TermRow> rows_;
};

bool is_whole_number(Number value);

/// Whether two numbers are the same but for rounding. Whole numbers are only the same when they are
/// equal.
/// @param scale of what they were computed from
bool is_same(Number a, Number b, Number scale = 0);

}  // namespace rooflab
