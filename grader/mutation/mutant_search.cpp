#include "grader/mutation/mutant_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace rooflab::mutation {
namespace {

/// A variant of the search, with the mutants that it stands for.
struct Attempt {
  Variant variant;
  std::vector<std::size_t> mutants;  ///< indexes
  std::uint64_t most_blocks = 0;     ///< of its launches, in what it was tried on
};

class Search {
 public:
  Search(const std::vector<Mutant>& mutants, const SearchTools& tools)
      : mutants_(mutants), tools_(tools) {}

  SearchResult run() {
    for (const Values& parameters : tools_.candidates) {
      const std::vector<Tried> itself = tools_.call(parameters, 0, {Variant{}});
      if (itself.size() != 1 || itself.front().is_right()) continue;
      itself_ = itself.front();
      result_.parameters = parameters;
      result_.was_sound = itself_.is_sound;
      const bool is_last = &parameters == &tools_.candidates.back();
      if (!try_singles() && !is_last) continue;  // it tells too little
      if (result_.right.empty() && itself_.is_sound) try_values();
      if (result_.right.empty() && itself_.is_sound) try_pairs();
      return std::move(result_);
    }
    return {};
  }

 private:
  /// Those that explain best come first.
  std::vector<std::size_t> in_order() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < mutants_.size(); ++i) {
      if (!mutants_[i].is_any_value) order.push_back(i);
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return mutants_[i].kind; });
    return order;
  }

  std::vector<Tried> try_all(const std::vector<Attempt>& attempts) {
    std::vector<Variant> variants;
    for (const Attempt& attempt : attempts) variants.push_back(attempt.variant);
    std::vector<Tried> tried = tools_.call(result_.parameters, 0, variants);
    result_.tried += tried.size();
    return tried;
  }

  /// False where so many are right that the problem does not tell them apart.
  bool try_singles() {
    constexpr std::size_t kMostRight = 40;
    std::vector<Attempt> attempts;
    for (const std::size_t i : in_order())
      attempts.push_back({.variant = {mutants_[i].number}, .mutants = {i}});
    const std::vector<Tried> tried = try_all(attempts);
    std::vector<Attempt> right;
    singles_.clear();
    for (std::size_t i = 0; i < tried.size(); ++i) {
      singles_.emplace_back(attempts[i], tried[i]);
      if (tried[i].is_right()) right.push_back(attempts[i]);
    }
    const bool tells = right.size() <= kMostRight;
    if (!tells) right.resize(kMostRight);
    keep(std::move(right));
    return tells || !result_.right.empty();
  }

  /// Calls all that has to be right, until nothing is left.
  void hold(std::vector<Attempt>& attempts) const {
    const auto once = [&](const Values& parameters, int draw) {
      if (attempts.empty()) return;
      std::vector<Variant> variants;
      for (const Attempt& attempt : attempts) variants.push_back(attempt.variant);
      const std::vector<Tried> tried = tools_.call(parameters, draw, variants);
      std::vector<Attempt> still;
      for (std::size_t i = 0; i < tried.size(); ++i) {
        if (!tried[i].is_right()) continue;
        Attempt& kept = still.emplace_back(std::move(attempts[i]));
        kept.most_blocks = std::max(kept.most_blocks, tried[i].most_blocks);
      }
      attempts = std::move(still);
    };
    once(result_.parameters, 1);
    for (const Values& parameters : tools_.cases) once(parameters, 0);
  }

  /// Of those that are right once, the ones that always are.
  void keep(std::vector<Attempt> attempts) {
    hold(attempts);
    keep_best_elsewhere(attempts);
    if (attempts.empty()) return;
    const std::uint64_t blocks = most_blocks_of_itself();
    for (const Attempt& attempt : attempts) {
      RightMutant& right = result_.right.emplace_back();
      for (const std::size_t i : attempt.mutants) right.mutants.push_back(mutants_[i]);
      right.value = attempt.variant.value;
      right.leaves_one_block = attempt.most_blocks == 1 && blocks > 1;
      right.vanishes = attempt.mutants.size() == 1 && is_right_at_zero(right.mutants.front());
    }
  }

  std::uint64_t most_blocks_of_itself() const {
    std::uint64_t most = itself_.most_blocks;
    for (const Values& parameters : tools_.cases) {
      for (const Tried& tried : tools_.call(parameters, 0, {Variant{}})) {
        most = std::max(most, tried.most_blocks);
      }
    }
    return most;
  }

  /// Whether a division explains no more than that its quotient is 0.
  bool is_right_at_zero(const Mutant& mutant) const {
    if (mutant.vanished == 0) return false;
    std::vector<Attempt> zero{{.variant = {mutant.vanished}, .mutants = {}}};
    hold(zero);
    return !zero.empty();
  }

  /// Those that make the most of the other cases right. A number that is right for some cases alone
  /// was made for them.
  void keep_best_elsewhere(std::vector<Attempt>& attempts) const {
    if (attempts.empty() || tools_.others.empty()) return;
    std::vector<Variant> variants;
    for (const Attempt& attempt : attempts) variants.push_back(attempt.variant);
    std::vector<std::size_t> right(attempts.size());
    for (const Values& parameters : tools_.others) {
      const std::vector<Tried> tried = tools_.call(parameters, 0, variants);
      for (std::size_t i = 0; i < tried.size(); ++i) right[i] += tried[i].is_right() ? 1 : 0;
    }
    const std::size_t most = *std::ranges::max_element(right);
    std::vector<Attempt> best;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      const bool is_number = mutants_[attempts[i].mutants.front()].kind == MutantKind::number;
      const bool is_made_for_some = is_number && right[i] < tools_.others.size();
      if (right[i] == most && !is_made_for_some) best.push_back(std::move(attempts[i]));
    }
    attempts = std::move(best);
  }

  /// Numbers of the file: where one of them alone is wrong, its right value is where a result is no
  /// longer off, which the secant's rule finds.
  void try_values() {
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
        attempts.push_back({.variant = {mutants_[unknown.mutant].number, 0, unknown.now},
                            .mutants = {unknown.mutant}});
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

  /// Two mistakes: one mutant makes some of it right, and with another all of it is.
  void try_pairs() {
    constexpr std::size_t kMostFirsts = 4;
    constexpr double kEnough = 0.9;
    std::vector<std::pair<Attempt, Tried>> better;
    for (const auto& single : singles_) {
      const bool is_better =
          single.second.is_sound &&
          static_cast<double>(single.second.wrong) <= kEnough * static_cast<double>(itself_.wrong);
      if (is_better) better.push_back(single);
    }
    std::ranges::stable_sort(better, {}, [](const auto& single) { return single.second.wrong; });
    if (better.size() > kMostFirsts) better.resize(kMostFirsts);
    for (const auto& [first, tried_alone] : better) {
      std::vector<Attempt> attempts;
      for (const auto& [second, ignored] : singles_) {
        const std::size_t one = first.mutants.front(), other = second.mutants.front();
        if (one == other) continue;
        attempts.push_back(
            {.variant = {mutants_[one].number, mutants_[other].number}, .mutants = {one, other}});
      }
      const std::vector<Tried> tried = try_all(attempts);
      std::vector<Attempt> right;
      for (std::size_t i = 0; i < tried.size(); ++i) {
        if (tried[i].is_right()) right.push_back(attempts[i]);
      }
      keep(std::move(right));
      if (!result_.right.empty() || tried.size() < attempts.size()) return;
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
