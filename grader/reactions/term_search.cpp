#include "grader/reactions/term_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "grader/reactions/term_laws.h"

namespace rooflab {
namespace {

using ResultLaw = std::optional<Law> (*)(const TermTable&, std::size_t);

/// The first result of which a law says something.
std::optional<Law> of_any(const TermTable& table, const std::vector<std::size_t>& results,
                          ResultLaw law) {
  for (const std::size_t result : results) {
    if (auto found = law(table, result)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Law> find_law(const std::vector<TermSample>& samples, const RightResults& right) {
  const TermTable table(samples);
  if (table.rows().empty() || !table.is_repeatable()) return std::nullopt;
  std::vector<std::size_t> wrong = table.wrong_results();
  if (wrong.empty()) return std::nullopt;
  // Of several, the smaller numbers go into the larger ones more often than the other way round.
  std::ranges::stable_sort(
      wrong, {}, [&](std::size_t result) { return std::abs(table.base().expected[result]); });
  std::vector<std::size_t> all(table.results().size());
  std::iota(all.begin(), all.end(), std::size_t{0});

  if (auto law = of_any(table, wrong, narrow_type_law)) return law;
  if (auto law = of_any(table, wrong, composition_law)) return law;
  // One parameter that explains several results at once is simpler than a law for each of them.
  if (wrong.size() > 1) {
    if (auto law = left_out_law(table, all, right)) return law;
  }
  for (const ResultLaw law : {factor_law, summand_law}) {
    if (auto found = of_any(table, wrong, law)) return found;
  }
  if (auto law = left_out_law(table, wrong, right)) return law;
  if (auto law = of_any(table, wrong, replaced_summand_law)) return law;
  if (auto law = exchanged_law(table, wrong, right)) return law;
  for (const ResultLaw law : {rounding_law, choice_law, dependence_law}) {
    if (auto found = of_any(table, wrong, law)) return found;
  }
  return std::nullopt;
}

}  // namespace rooflab
