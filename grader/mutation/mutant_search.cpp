#include "grader/mutation/mutant_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

namespace rooflab::mutation {
namespace {

/// A variant of the search, with the mutants that it stands for.
struct Attempt {
  Variant variant;
  std::vector<std::size_t> mutants;  ///< indexes
  std::uint64_t most_blocks = 0;     ///< of its launches, in what it was tried on
  std::size_t held = 0;              ///< RightMutant::held
  bool breaks_others = false;        ///< likewise
};

/// A problem that a mutant is tried on.
struct Posed {
  Values parameters;
  int draw = 0;
};

std::vector<Posed> posed(const std::vector<Values>& all) {
  std::vector<Posed> problems;
  for (const Values& parameters : all) problems.push_back({parameters});
  return problems;
}

class Search {
 public:
  Search(const std::vector<Mutant>& mutants, const SearchTools& tools)
      : mutants_(mutants), tools_(tools) {}

  SearchResult run() {
    const std::vector<Tried> itself = try_itself(tools_.candidates);
    for (std::size_t i = 0; i < itself.size(); ++i) {
      if (itself[i].is_right()) continue;
      itself_ = itself[i];
      result_.parameters = tools_.candidates[i];
      shrink();
      result_.was_sound = itself_.is_sound;
      const bool is_last = i + 1 == itself.size();
      if (!try_singles() && !is_last) continue;  // it tells too little
      if (result_.right.empty() && itself_.is_sound) try_values();
      if (result_.right.empty()) try_same_changes();
      if (result_.right.empty()) try_pairs();
      return std::move(result_);
    }
    return {};
  }

 private:
  std::vector<Tried> try_itself(const std::vector<Values>& all) const {
    std::vector<Trial> trials;
    for (const Values& parameters : all) trials.push_back({parameters});
    return tools_.call(trials);
  }

  /// A smaller problem that is wrong, too, where all mutants together would take too much work.
  /// What a call does that ends early says nothing of the work of a right one: its problem is as
  /// small as its numbers.
  void shrink() {
    constexpr int kMostRounds = 8;
    constexpr double kEnough = 0.1;
    const auto mutants = static_cast<double>(mutants_.size());
    const auto cost_of = [this](const Values& parameters, const Tried& tried) {
      return itself_.is_sound ? tried.work : product_of_numbers(parameters);
    };
    for (int round = 0; round < kMostRounds && tools_.smaller; ++round) {
      if (itself_.is_sound && itself_.work * mutants < kEnough * tools_.most_work) return;
      const std::vector<Values> less = tools_.smaller(result_.parameters);
      const std::vector<Tried> tried = try_itself(less);
      std::optional<std::size_t> best;
      double least = cost_of(result_.parameters, itself_);
      for (std::size_t i = 0; i < tried.size(); ++i) {
        const double cost = cost_of(less[i], tried[i]);
        if (!fails_alike(tried[i], itself_) || cost >= least) continue;
        best = i;
        least = cost;
      }
      if (!best) return;
      itself_ = tried[*best];
      result_.parameters = less[*best];
    }
  }

  static bool fails_alike(const Tried& one, const Tried& other) {
    return !one.is_right() && one.is_sound == other.is_sound && one.failure == other.failure;
  }

  static double product_of_numbers(const Values& parameters) {
    double product = 1;
    for (const auto& [name, value] : parameters) {
      if (const auto* const number = std::get_if<std::int64_t>(&value)) {
        product *= static_cast<double>(std::max<std::int64_t>(*number, 1));
      }
    }
    return product;
  }

  unsigned steps_to(std::uint32_t line) const {
    const auto known = tools_.steps_to.find(line);
    return known == tools_.steps_to.end() ? 0 : known->second;
  }

  /// What a slip of the pen changes comes first, in case there is no time for all: names are fewer
  /// than numbers, and mistaken more often. Of each what lies closest to an access that fails.
  std::vector<std::size_t> in_order() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < mutants_.size(); ++i) {
      if (!mutants_[i].is_any_value) order.push_back(i);
    }
    const auto place_of = [this](std::size_t i) {
      const Mutant& mutant = mutants_[i];
      return std::tuple(!is_slip_of_the_pen(mutant), steps_to(mutant.line), mutant.kind);
    };
    std::ranges::stable_sort(order, {}, place_of);
    return order;
  }

  std::vector<Tried> try_all(const std::vector<Attempt>& attempts) {
    std::vector<Trial> trials;
    for (const Attempt& attempt : attempts) {
      trials.push_back({result_.parameters, 0, attempt.variant});
    }
    std::vector<Tried> tried = tools_.call(trials);
    result_.tried += tried.size();
    return tried;
  }

  /// Tries them, and keeps those that are right.
  /// @return whether there was time for all
  bool try_and_keep(const std::vector<Attempt>& attempts) {
    const std::vector<Tried> tried = try_all(attempts);
    std::vector<Attempt> right;
    for (std::size_t i = 0; i < tried.size(); ++i) {
      if (tried[i].is_right()) right.push_back(attempts[i]);
    }
    keep(std::move(right));
    return tried.size() == attempts.size();
  }

  /// False where so many are right that the problem does not tell them apart.
  bool try_singles() {
    constexpr std::size_t kMostRight = 40;
    std::vector<Attempt> attempts;
    for (const std::size_t i : in_order()) {
      attempts.push_back({.variant = {mutants_[i].number}, .mutants = {i}});
    }
    const std::vector<Tried> tried = try_all(attempts);
    std::vector<Attempt> right;
    singles_.clear();
    for (std::size_t i = 0; i < tried.size(); ++i) {
      singles_.emplace_back(attempts[i], tried[i]);
      if (tried[i].is_right()) right.push_back(attempts[i]);
    }
    result_.was_cut_short = tried.size() < attempts.size();
    // Those that explain best come first.
    std::ranges::stable_sort(right, {}, [this](const Attempt& attempt) {
      return mutants_[attempt.mutants.front()].kind;
    });
    const bool tells = right.size() <= kMostRight;
    if (!tells) right.resize(kMostRight);
    keep(std::move(right));
    return tells || !result_.right.empty();
  }

  /// Calls each of them on each problem. @return by attempt, by problem; fewer where time was short
  std::vector<std::vector<Tried>> try_on(const std::vector<Attempt>& attempts,
                                         const std::vector<Posed>& problems) const {
    std::vector<Trial> trials;
    for (const Attempt& attempt : attempts) {
      for (const auto& [parameters, draw] : problems) {
        trials.push_back({parameters, draw, attempt.variant});
      }
    }
    const std::vector<Tried> tried = tools_.call(trials);
    std::vector<std::vector<Tried>> by_attempt(attempts.size());
    for (std::size_t i = 0; i < tried.size(); ++i) {
      by_attempt[i / problems.size()].push_back(tried[i]);
    }
    return by_attempt;
  }

  /// Leaves those that are right on all of these problems, as far as there is time: a call that was
  /// cut off says nothing.
  void hold(std::vector<Attempt>& attempts, const std::vector<Posed>& problems) const {
    if (attempts.empty() || problems.empty()) return;
    const auto tried = try_on(attempts, problems);
    std::vector<Attempt> still;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      std::vector<Tried> ended = tried[i];
      std::erase_if(ended, &Tried::took_too_long);
      if (!std::ranges::all_of(ended, &Tried::is_right)) continue;
      Attempt& kept = still.emplace_back(std::move(attempts[i]));
      kept.held += ended.size();
      for (const Tried& each : ended) {
        kept.most_blocks = std::max(kept.most_blocks, each.most_blocks);
      }
    }
    attempts = std::move(still);
  }

  /// With other inputs, and in the cases, the cheapest ones first while there are many. At least
  /// one case has to tell.
  void hold_always(std::vector<Attempt>& attempts) const {
    constexpr std::size_t kFew = 4;
    hold(attempts, {{result_.parameters, 1}});
    std::erase_if(attempts, [](const Attempt& attempt) { return attempt.held == 0; });
    for (Attempt& attempt : attempts) attempt.held = 0;
    std::vector<Posed> cases = posed(tools_.cases);
    while (attempts.size() > kFew && !cases.empty()) {
      hold(attempts, {cases.front()});
      cases.erase(cases.begin());
    }
    hold(attempts, cases);
    std::erase_if(attempts, [](const Attempt& attempt) { return attempt.held == 0; });
  }

  /// Of those that are right once, the ones that always are.
  void keep(std::vector<Attempt> attempts) {
    hold_always(attempts);
    keep_best_elsewhere(attempts);
    if (attempts.empty()) return;
    const std::uint64_t blocks = most_blocks_of_itself();
    for (const Attempt& attempt : attempts) {
      RightMutant& right = result_.right.emplace_back();
      for (const std::size_t i : attempt.mutants) right.mutants.push_back(mutants_[i]);
      right.value = attempt.variant.value;
      right.held = attempt.held;
      right.breaks_others = attempt.breaks_others;
      right.leaves_one_block = attempt.most_blocks == 1 && blocks > 1;
      right.launches_more = blocks > 0 && attempt.most_blocks > blocks;
      right.vanishes = attempt.mutants.size() == 1 && is_right_at_zero(right.mutants.front());
    }
  }

  std::uint64_t most_blocks_of_itself() const {
    std::uint64_t most = itself_.most_blocks;
    for (const Tried& tried : try_itself(tools_.cases)) {
      most = std::max(most, tried.most_blocks);
    }
    return most;
  }

  /// Whether a division explains no more than that its quotient is 0.
  bool is_right_at_zero(const Mutant& mutant) const {
    if (mutant.vanished == 0) return false;
    std::vector<Attempt> zero{{.variant = {mutant.vanished}, .mutants = {}}};
    hold_always(zero);
    return !zero.empty();
  }

  /// Those that make the most of the other cases right, and none wrong that was right; where all
  /// do, the single ones among them say at least what decides about these cases. A number that is
  /// right for some cases alone was made for them.
  void keep_best_elsewhere(std::vector<Attempt>& attempts) const {
    if (attempts.empty() || tools_.others.empty()) return;
    const std::vector<Tried> itself = try_itself(tools_.others);
    const auto tried = try_on(attempts, posed(tools_.others));
    std::tuple<bool, std::ptrdiff_t> most{};
    std::vector<std::pair<Attempt, std::tuple<bool, std::ptrdiff_t>>> left;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      Attempt& attempt = attempts[i];
      attempt.breaks_others = makes_wrong(tried[i], itself);
      const std::ptrdiff_t right = std::ranges::count_if(tried[i], &Tried::is_right);
      const MutantKind kind = mutants_[attempt.mutants.front()].kind;
      const bool is_number = kind == MutantKind::number || kind == MutantKind::trivial;
      const bool is_made_for_some = is_number && right < std::ssize(tools_.others);
      if (is_made_for_some || (attempt.breaks_others && attempt.mutants.size() > 1)) continue;
      const std::tuple rank(!attempt.breaks_others, right);
      most = std::max(most, rank);
      left.emplace_back(std::move(attempt), rank);
    }
    attempts.clear();
    for (auto& [attempt, rank] : left) {
      if (rank == most) attempts.push_back(std::move(attempt));
    }
  }

  /// Whether a problem that is right without a mutant is not with it.
  static bool makes_wrong(const std::vector<Tried>& with, const std::vector<Tried>& without) {
    for (std::size_t i = 0; i < std::min(with.size(), without.size()); ++i) {
      if (without[i].is_right() && !with[i].is_right()) return true;
    }
    return false;
  }

  /// Numbers of the file: one of them alone may be wrong, as its reciprocal or by a usual factor.
  /// Else its right value is where a result is no longer off, which the secant's rule finds.
  void try_values() {
    try_usual_slips();
    if (result_.right.empty()) solve_for_values();
  }

  Attempt with_value(std::size_t mutant, double value) const {
    return {.variant = {mutants_[mutant].number, 0, value}, .mutants = {mutant}};
  }

  void try_usual_slips() {
    constexpr std::array kFactors{4.0, 0.25, 8.0, 0.125, 10.0, 0.1};
    std::vector<Attempt> attempts;
    for (std::size_t i = 0; i < mutants_.size(); ++i) {
      if (!mutants_[i].is_any_value) continue;
      const double value = tools_.value_of(mutants_[i].before);
      if (!std::isfinite(value) || value == 0) continue;
      for (const double slip : {1 / value, value * value, std::sqrt(std::abs(value))}) {
        attempts.push_back(with_value(i, slip));
      }
      for (const double factor : kFactors) attempts.push_back(with_value(i, factor * value));
    }
    try_and_keep(attempts);
  }

  void solve_for_values() {
    struct Unknown {
      std::size_t mutant;
      double before, error_before, now;
    };
    std::vector<Unknown> unknowns;
    for (std::size_t i = 0; i < mutants_.size(); ++i) {
      if (!mutants_[i].is_any_value) continue;
      const double value = tools_.value_of(mutants_[i].before);
      if (!std::isfinite(value)) continue;
      const double step = value == 0 ? 1e-3 : 0.01 * std::abs(value);
      unknowns.push_back({i, value, itself_.error, value + step});
    }
    constexpr int kRounds = 12;
    for (int round = 0; round < kRounds && !unknowns.empty() && result_.right.empty(); ++round) {
      std::vector<Attempt> attempts;
      for (const Unknown& unknown : unknowns) {
        attempts.push_back(with_value(unknown.mutant, unknown.now));
      }
      const std::vector<Tried> tried = try_all(attempts);
      std::vector<Unknown> next;
      std::vector<Attempt> right;
      for (std::size_t i = 0; i < tried.size(); ++i) {
        Unknown unknown = unknowns[i];
        if (tried[i].is_right()) right.push_back(attempts[i]);
        const double slope =
            (tried[i].error - unknown.error_before) / (unknown.now - unknown.before);
        const double to = unknown.now - tried[i].error / slope;
        if (!tried[i].is_sound || !std::isfinite(to)) continue;
        next.push_back({unknown.mutant, unknown.now, tried[i].error, to});
      }
      keep(std::move(right));
      unknowns = std::move(next);
    }
  }

  /// A slip that was made twice: the same change at two places of a line, or of lines side by side.
  void try_same_changes() {
    constexpr std::size_t kMost = 200;
    constexpr std::uint32_t kFarthest = 2;  // lines
    std::vector<Attempt> attempts;
    for (std::size_t i = 0; i < mutants_.size(); ++i) {
      const std::uint32_t last = mutants_[i].line + kFarthest;
      for (std::size_t j = i + 1; j < mutants_.size() && mutants_[j].line <= last; ++j) {
        if (attempts.size() < kMost && is_same_change(mutants_[i], mutants_[j])) {
          attempts.push_back(both(i, j));
        }
      }
    }
    try_and_keep(attempts);
  }

  static bool is_same_change(const Mutant& one, const Mutant& other) {
    const bool may = one.kind == MutantKind::comparison || one.kind == MutantKind::name ||
                     one.kind == MutantKind::arithmetic || one.kind == MutantKind::function;
    return may && one.kind == other.kind && one.before == other.before && one.after == other.after;
  }

  Attempt both(std::size_t one, std::size_t other) const {
    return {.variant = {mutants_[one].number, mutants_[other].number}, .mutants = {one, other}};
  }

  /// Whether a mutant alone mends something: the results are there at last, or fewer are wrong.
  /// Where none is, the problem does not tell what another mutant would add.
  bool is_better(const Tried& single) const {
    constexpr double kEnough = 0.9;
    if (!single.is_sound || single.is_right()) return false;
    return !itself_.is_sound ||
           static_cast<double>(single.wrong) <= kEnough * static_cast<double>(itself_.wrong);
  }

  /// Two mistakes: one mutant makes some of it right, and with another all of it is.
  void try_pairs() {
    // Where the file fails, most that comes to an end has only lost what fails.
    const std::size_t most_firsts = itself_.is_sound ? 4 : 1;
    std::vector<std::pair<Attempt, Tried>> better;
    std::ranges::copy_if(singles_, std::back_inserter(better),
                         [this](const auto& single) { return is_better(single.second); });
    std::ranges::stable_sort(better, {}, [](const auto& single) { return single.second.wrong; });
    if (better.size() > most_firsts) better.resize(most_firsts);
    for (const auto& [first, tried_alone] : better) {
      std::vector<Attempt> attempts;
      for (const auto& [second, ignored] : singles_) {
        const std::size_t one = first.mutants.front(), other = second.mutants.front();
        if (one != other) attempts.push_back(both(one, other));
      }
      if (!try_and_keep(attempts) || !result_.right.empty()) return;
    }
  }

  const std::vector<Mutant>& mutants_;
  const SearchTools& tools_;
  SearchResult result_;
  Tried itself_;
  std::vector<std::pair<Attempt, Tried>> singles_;
};

}  // namespace

SearchResult find_right_mutants(const std::vector<Mutant>& mutants, const SearchTools& tools) {
  return Search(mutants, tools).run();
}

}  // namespace rooflab::mutation
