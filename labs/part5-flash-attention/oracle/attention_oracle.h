#pragma once

#include "labs/part5-flash-attention/oracle/attention_case.h"

namespace rooflab {

/// out, and for some tasks log_sum_exp, of an attention problem.
class AttentionOracle : public Oracle {
 public:
  explicit AttentionOracle(bool has_log_sum_exp) : has_log_sum_exp_(has_log_sum_exp) {}

  Problem make(const Values& parameters, std::uint64_t seed) const override {
    return read(parameters).problem(parameters, seed);
  }
  std::vector<Expected> expect(const Problem& problem) const override {
    const AttentionCase c = read(problem.parameters);
    return c.expected(problem, c.rule());
  }
  Work work(const Values& parameters) const override { return read(parameters).work(); }
  std::vector<KnownMistake> mistakes(const Problem& problem) const override;

 protected:
  /// Fragments of keys or of values that are loaded the wrong way round.
  std::vector<KnownMistake> mistakes_of_fragments(const Problem& problem) const;
  AttentionCase read(const Values& parameters) const {
    return AttentionCase::read(parameters, has_log_sum_exp_);
  }

 private:
  bool has_log_sum_exp_;
};

}  // namespace rooflab
