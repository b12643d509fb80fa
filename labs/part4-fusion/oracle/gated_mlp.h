#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "labs/oracle_support/gelu.h"
#include "labs/oracle_support/rounding.h"

/// A gated MLP in fp64. Every way in which a known mistake departs from it is part of its rule.
namespace rooflab {

/// Arrays in row-major order: x (tokens, hidden), gate_proj and up_proj (intermediate, hidden),
/// down_proj (hidden, intermediate).
struct GatedMlp {
  std::int64_t tokens, hidden, intermediate;
  ElementType type;
  std::vector<double> x, gate_proj, up_proj, down_proj;
};

struct GatedMlpRule {
  /// What is stored between the two steps, from an element of gate and the one of up beside it.
  std::function<double(double gate, double up)> product = [](double gate, double up) {
    return gelu_tanh(gate) * up;
  };
  bool gate_and_up_are_stored =
      false;                  ///< gate and up are rounded to the type before their product
  bool sums_in_half = false;  ///< of gate and up, rounded after every 16 terms, as on tensor cores
  bool projections_transposed =
      false;                         ///< gate_proj and up_proj are read as (hidden, intermediate)
  bool down_transposed = false;      ///< down_proj is read as (intermediate, hidden)
  std::int64_t terms_of_hidden = 0;  ///< 0: all; else how many the sums over hidden have
};

/// product (tokens, intermediate): what the rule makes of gate and up, gelu(gate) * up unless it
/// says otherwise, with how far right implementations may be off before they store it.
Computed gated_product(const GatedMlp& mlp, const GatedMlpRule& rule = {});

/// out (tokens, hidden), with how far right implementations may be off: in fp32 sums, whose order
/// is free and which tensor cores truncate, and in the rounding of the product to the type.
Computed gated_mlp(const GatedMlp& mlp, const GatedMlpRule& rule = {});

}  // namespace rooflab
