#include "labs/part5-flash-attention/oracle/wrong_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace rooflab {
namespace {

/// Below the smallest number and above the largest, fp32 has none.
double as_float(double value) { return static_cast<double>(static_cast<float>(value)); }

double sum_of(const Numbers& numbers) { return std::reduce(numbers.begin(), numbers.end()); }

/// exp(s - maximum) in fp32, and their sum.
Softmax with_maximum(const Scores& scores, double maximum) {
  Softmax softmax;
  for (const double score : scores.values) {
    softmax.weight.push_back(as_float(std::exp(score - maximum)));
  }
  softmax.divisor = sum_of(softmax.weight);
  softmax.log_sum_exp = maximum + std::log(softmax.divisor);
  return softmax;
}

/// The score behind the last one of the tile that score `begin` is in.
std::size_t end_of_tile(const Scores& scores, std::size_t begin, std::int64_t tile) {
  const std::int64_t key = scores.first + static_cast<std::int64_t>(begin);
  const auto to_next = static_cast<std::size_t>(tile - key % tile);
  return std::min(scores.values.size(), begin + to_next);
}

/// Multiplies each weight by what the sums are multiplied by before later keys are added.
void multiply_by_later(const Numbers& before, Numbers& weight) {
  double later = 1;
  for (std::size_t j = weight.size(); j-- > 0;) {
    weight[j] = as_float(weight[j] * later);
    later *= before[j];
  }
}

/// For each score the largest of all scores up to the end of its tile.
Numbers running_maximum(const Scores& scores, std::int64_t tile) {
  Numbers maxima(scores.values.size());
  double maximum = -std::numeric_limits<double>::infinity();
  for (std::size_t begin = 0; begin < maxima.size();) {
    const std::size_t end = end_of_tile(scores, begin, tile);
    for (std::size_t j = begin; j < end; ++j) maximum = std::max(maximum, scores.values[j]);
    std::fill(maxima.begin() + static_cast<std::ptrdiff_t>(begin),
              maxima.begin() + static_cast<std::ptrdiff_t>(end), maximum);
    begin = end;
  }
  return maxima;
}

/// Calls `part` with the weights, their sum and the maximum of each part's own softmax.
template <typename Part>
void for_each_split(const Scores& scores, std::int64_t splits, const Part& part) {
  const auto count = static_cast<std::int64_t>(scores.values.size());
  const std::int64_t size = (count + splits - 1) / splits;
  for (std::int64_t begin = 0; begin < count; begin += size) {
    const auto first = scores.values.begin() + begin;
    const Scores own{scores.first + begin, Numbers(first, first + std::min(size, count - begin)),
                     scores.key_length};
    part(right_softmax(own));
  }
}

}  // namespace

Softmax without_maximum(const Scores& scores) { return with_maximum(scores, 0); }

SoftmaxRule with_maximum_from_zero(bool divides_by_zero) {
  return [=](const Scores& scores) {
    Softmax softmax = with_maximum(scores, std::max(0.0, *std::ranges::max_element(scores.values)));
    if (softmax.divisor == 0 && !divides_by_zero) softmax.divisor = 1;
    return softmax;
  };
}

Softmax not_normalised(const Scores& scores) {
  Softmax softmax = right_softmax(scores);
  softmax.divisor = 1;
  return softmax;
}

SoftmaxRule not_rescaled(std::int64_t tile, Unscaled unscaled) {
  return [=](const Scores& scores) {
    Softmax softmax = right_softmax(scores);
    const double maximum = softmax.log_sum_exp - std::log(softmax.divisor);
    const Numbers maxima = running_maximum(scores, tile);
    Numbers weight(maxima.size());
    for (std::size_t j = 0; j < maxima.size(); ++j) {
      weight[j] = std::exp(scores.values[j] - maxima[j]);
    }
    if (unscaled.weights) {
      softmax.divisor = sum_of(weight);
      softmax.log_sum_exp = maximum + std::log(softmax.divisor);
    }
    if (unscaled.values) softmax.weight = std::move(weight);
    return softmax;
  };
}

SoftmaxRule maximum_of_own_tile(std::int64_t tile) {
  return [=](const Scores& scores) {
    Softmax softmax;
    softmax.divisor = 0;
    Numbers before;  // of each key: what its tile multiplies the sums so far by
    double maximum = -std::numeric_limits<double>::infinity();
    for (std::size_t begin = 0; begin < scores.values.size();) {
      const std::size_t end = end_of_tile(scores, begin, tile);
      const auto first = scores.values.begin();
      const double own = *std::max_element(first + static_cast<std::ptrdiff_t>(begin),
                                           first + static_cast<std::ptrdiff_t>(end));
      before.push_back(as_float(std::exp(maximum - own)));
      softmax.divisor = as_float(softmax.divisor * before.back());
      before.resize(end, 1);
      for (; begin < end; ++begin) {
        softmax.weight.push_back(std::exp(scores.values[begin] - own));
        softmax.divisor += softmax.weight.back();
      }
      maximum = own;
    }
    multiply_by_later(before, softmax.weight);
    softmax.log_sum_exp = maximum + std::log(softmax.divisor);
    return softmax;
  };
}

SoftmaxRule tiles_not_rescaled(std::int64_t tile) {
  return [=](const Scores& scores) {
    Softmax softmax;
    double maximum = 0;
    for (std::size_t begin = 0; begin < scores.values.size();) {
      const std::size_t end = end_of_tile(scores, begin, tile);
      const auto first = scores.values.begin();
      maximum = *std::max_element(first + static_cast<std::ptrdiff_t>(begin),
                                  first + static_cast<std::ptrdiff_t>(end));
      for (; begin < end; ++begin) {
        softmax.weight.push_back(std::exp(scores.values[begin] - maximum));
      }
    }
    softmax.divisor = sum_of(softmax.weight);
    softmax.log_sum_exp = maximum + std::log(softmax.divisor);
    return softmax;
  };
}

SoftmaxRule rescaled_for_each_key(std::int64_t tile) {
  return [=](const Scores& scores) {
    Softmax softmax = right_softmax(scores);
    const Numbers maxima = running_maximum(scores, tile);
    Numbers weight, before;
    double maximum = -std::numeric_limits<double>::infinity();
    for (std::size_t begin = 0; begin < maxima.size();) {
      const std::size_t end = end_of_tile(scores, begin, tile);
      before.resize(end, std::exp(maximum - maxima[begin]));
      maximum = maxima[begin];
      for (; begin < end; ++begin) weight.push_back(std::exp(scores.values[begin] - maximum));
    }
    multiply_by_later(before, weight);
    softmax.weight = std::move(weight);
    return softmax;
  };
}

SoftmaxRule divided_after_each_tile(std::int64_t tile) {
  return [=](const Scores& scores) {
    Softmax softmax = right_softmax(scores);
    const Numbers maxima = running_maximum(scores, tile);
    Numbers weight, before;
    double sum = 0;
    double maximum = -std::numeric_limits<double>::infinity();
    for (std::size_t begin = 0; begin < maxima.size();) {
      const std::size_t end = end_of_tile(scores, begin, tile);
      const double rescale = std::exp(maximum - maxima[begin]);
      const double divisor = sum;
      maximum = maxima[begin];
      sum *= rescale;
      before.push_back(begin == 0 ? 0 : rescale / divisor);
      before.resize(end, 1);
      for (; begin < end; ++begin) {
        weight.push_back(std::exp(scores.values[begin] - maximum));
        sum += weight.back();
      }
    }
    multiply_by_later(before, weight);
    softmax.weight = std::move(weight);
    softmax.divisor = sum;  // after the last tile
    return softmax;
  };
}

SoftmaxRule sum_of_lane(const RowLanes& lanes, std::int64_t lane) {
  return [=](const Scores& scores) {
    Softmax softmax = right_softmax(scores);
    const double maximum = softmax.log_sum_exp - std::log(softmax.divisor);
    softmax.divisor = 0;
    for (std::size_t j = 0; j < softmax.weight.size(); ++j) {
      const std::int64_t key = scores.first + static_cast<std::int64_t>(j);
      if (lanes.owner(key) == lane) softmax.divisor += softmax.weight[j];
    }
    softmax.log_sum_exp = maximum + std::log(softmax.divisor);
    return softmax;
  };
}

SoftmaxRule last_tile_alone(std::int64_t tile) {
  return [=](const Scores& scores) {
    const std::int64_t end = scores.first + static_cast<std::int64_t>(scores.values.size());
    const std::int64_t begin = std::max(scores.first, (end - 1) / tile * tile);
    Scores left = scores;
    for (std::int64_t j = scores.first; j < begin; ++j) {
      left.values[static_cast<std::size_t>(j - scores.first)] =
          -std::numeric_limits<double>::infinity();
    }
    return right_softmax(left);
  };
}

SoftmaxRule with_padding(std::int64_t tile) {
  return [=](const Scores& scores) {
    const std::int64_t padding = (tile - scores.key_length % tile) % tile;
    const double maximum = std::max(0.0, *std::ranges::max_element(scores.values));
    Softmax softmax;
    for (const double score : scores.values) softmax.weight.push_back(std::exp(score - maximum));
    softmax.divisor = sum_of(softmax.weight) + static_cast<double>(padding) * std::exp(0 - maximum);
    softmax.log_sum_exp = maximum + std::log(softmax.divisor);
    return softmax;
  };
}

SoftmaxRule mean_of_splits(std::int64_t splits) {
  return [=](const Scores& scores) {
    Softmax all = sum_of_splits(splits)(scores);
    all.divisor = static_cast<double>(splits);
    return all;
  };
}

SoftmaxRule sum_of_splits(std::int64_t splits) {
  return [=](const Scores& scores) {
    Softmax all;
    for_each_split(scores, splits, [&](const Softmax& part) {
      for (const double weight : part.weight) all.weight.push_back(weight / part.divisor);
    });
    return all;
  };
}

SoftmaxRule splits_not_rescaled(std::int64_t splits) {
  return [=](const Scores& scores) {
    Softmax all;
    for_each_split(scores, splits, [&](const Softmax& part) {
      all.weight.insert(all.weight.end(), part.weight.begin(), part.weight.end());
    });
    all.divisor = sum_of(all.weight);
    return all;
  };
}

}  // namespace rooflab
