#include "grader/contract/oracle.h"
#include "labs/oracle_support/lent.h"
#include "labs/oracle_support/parameters.h"
#include "labs/part3-decoder/oracle/layer_case.h"
#include "labs/part3-decoder/oracle/layer_mistakes.h"

namespace rooflab {
namespace {

/// A decoder layer on the tensors of layer_case.h.
class LayerOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    return make_layer_problem(parameters, seed);
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return layer_outputs(problem);
  }

  Work work(const Values& parameters) const override {
    return layer_work(read_layer_case(parameters));
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    return judges_structure(problem.parameters) ? complaints_of_lent(evidence)
                                                : std::vector<Complaint>{};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    const LayerCase layer = read_layer_case(problem.parameters);
    // Some thirty layers, each of which may take a second: small cases tell mistakes as well.
    constexpr double kMostFlops = 1e9;
    double flops = 0;
    for (const auto& [peak, count] : layer_work(layer).flops) flops += count;
    if (flops > kMostFlops) return {};
    return layer_mistakes(layer.shape, layer.has_cache() ? layer.capacity : 0,
                          [&](const LayerRule& rule, bool stores_keys) {
                            return layer_outputs(problem, rule, stores_keys);
                          });
  }
};

ROOFLAB_ORACLE("layer", LayerOracle)

}  // namespace
}  // namespace rooflab
