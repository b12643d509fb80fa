#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/selection.h"
#include "labs/part3-decoder/oracle/operations.h"
#include "labs/part3-decoder/oracle/tensors.h"

namespace rooflab {

void store_tokens(const Numbers& tokens, const std::vector<std::int64_t>& source,
                  const std::vector<std::int64_t>& slot, const CacheShape& shape, Numbers& cache) {
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      for (std::int64_t h = 0; h < shape.heads; ++h) {
        const std::int64_t from = ((b * shape.length + source[i]) * shape.heads + h);
        const std::int64_t to = (b * shape.heads + h) * shape.capacity + slot[i];
        std::copy_n(tokens.begin() + from * shape.head_dim, shape.head_dim,
                    cache.begin() + to * shape.head_dim);
      }
    }
  }
}

void append_to_cache(const Numbers& tokens, const Numbers& positions, const CacheShape& shape,
                     Numbers& cache) {
  std::vector<std::int64_t> slots;
  for (const double position : positions) {
    slots.push_back(static_cast<std::int64_t>(position) % shape.capacity);
  }
  store_tokens(tokens, all_tokens(shape.length), slots, shape, cache);
}

Numbers swap_middle_axes(const Numbers& x, std::int64_t batch, std::int64_t rows,
                         std::int64_t columns, std::int64_t depth) {
  Numbers swapped(x.size());
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        std::copy_n(x.begin() + ((b * rows + r) * columns + c) * depth, depth,
                    swapped.begin() + ((b * columns + c) * rows + r) * depth);
      }
    }
  }
  return swapped;
}

namespace {

/// key_cache, value_cache (batch, heads, capacity, head_dim) take k, v (batch, length, heads,
/// head_dim): the token at position p goes to slot p % capacity.
class KvCacheOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const CacheShape s = shape(parameters);
    const ElementType type = storage_type(parameters);
    const bool has_nans = parameters.contains("nans");
    Random random(seed);
    Problem problem{parameters, {}};
    problem.vast = is_vast(parameters);
    const auto add = [&](const char* name, Role role, const std::vector<std::int64_t>& whole) {
      if (!problem.vast) {
        // A copy has the sign of a zero, too, and the bits of a NaN.
        Tensor tensor =
            with_negative_zeros(random_tensor(name, type, role, whole, 1, random), random);
        if (has_nans) tensor = with_nans(std::move(tensor), random);
        problem.tensors.push_back(std::move(tensor));
        return;
      }
      const std::int64_t count = whole[0] * whole[1] * whole[2] * whole[3];
      problem.tensors.push_back(
          repeated(random_tensor(name, type, role, {vast_period(type)}, 1, random), count));
    };
    for (const char* name : {"k", "v"}) {
      add(name, Role::input, {s.batch, s.length, s.heads, s.head_dim});
    }
    Tensor positions = consecutive("positions", integer(parameters, "first_position", 0), s.length);
    problem.tensors.push_back(problem.vast ? in_whole_pages(std::move(positions))
                                           : std::move(positions));
    for (const char* name : {"key_cache", "value_cache"}) {
      add(name, Role::in_out, {s.batch, s.heads, s.capacity, s.head_dim});
    }
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    if (problem.vast)
      return {some_of("key_cache", "k", problem), some_of("value_cache", "v", problem)};
    const CacheShape s = shape(problem.parameters);
    const Numbers positions = widened(problem, "positions");
    return caches(problem, [&](const Numbers& tokens, Numbers& cache) {
      append_to_cache(tokens, positions, s, cache);
    });
  }

  Work work(const Values& parameters) const override {
    const CacheShape s = shape(parameters);
    const auto kept = static_cast<double>(std::min(s.length, s.capacity));
    const auto per_token = static_cast<double>(s.batch * s.heads * s.head_dim);
    const auto bytes = static_cast<double>(size_of(storage_type(parameters)));
    constexpr double kKeysAndValues = 2;
    constexpr double kReadAndWrite = 2;
    return {{}, bytes * kKeysAndValues * kReadAndWrite * kept * per_token};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    if (problem.vast) return {};  // other cases know them
    Mistakes mistakes(expect(problem));
    add_wrong_slots(problem, mistakes);
    add_wrong_tokens(problem, mistakes);
    add_wrong_axes(problem, mistakes);
    return mistakes.take();
  }

 private:
  static CacheShape shape(const Values& parameters) {
    return {integer(parameters, "batch"), integer(parameters, "length"),
            integer(parameters, "heads"), integer(parameters, "head_dim"),
            integer(parameters, "capacity")};
  }

  /// Some elements of a vast cache: what a new token has, or what was there.
  static Expected some_of(const char* cache, const char* tokens, const Problem& problem) {
    const CacheShape s = shape(problem.parameters);
    const Numbers positions = widened(problem, "positions");
    Expected expected{cache, {}, {}, elements_if_vast(problem, cache)};
    for (const std::size_t element : expected.index) {
      const auto i = static_cast<std::int64_t>(element);
      const std::int64_t slot = i / s.head_dim % s.capacity;
      const std::int64_t head = i / s.head_dim / s.capacity % s.heads;
      const std::int64_t batch = i / s.head_dim / s.capacity / s.heads;
      std::optional<std::int64_t> newest;
      // Of more new tokens than a cache holds, the last ones are in it.
      for (std::int64_t t = std::max<std::int64_t>(0, s.length - s.capacity); t < s.length; ++t) {
        if (static_cast<std::int64_t>(positions[t]) % s.capacity == slot) newest = t;
      }
      const std::int64_t from =
          newest ? ((batch * s.length + *newest) * s.heads + head) * s.head_dim + i % s.head_dim
                 : i;
      expected.value.push_back(
          widened(tensor(problem, newest ? tokens : cache), {static_cast<std::size_t>(from)})[0]);
    }
    expected.tolerance.assign(expected.value.size(), 0.0);
    return expected;
  }

  /// Copies are exact. @param append fills one cache from its new tokens
  template <typename Append>
  static std::vector<Expected> caches(const Problem& problem, const Append& append,
                                      const char* keys = "k", const char* values = "v") {
    std::vector<Expected> outputs;
    for (const auto& [tokens, name] : {std::pair{keys, "key_cache"}, {values, "value_cache"}}) {
      Numbers cache = widened(problem, name);
      append(widened(problem, tokens), cache);
      Numbers tolerance(cache.size(), 0.0);
      outputs.push_back({name, std::move(cache), std::move(tolerance)});
    }
    return outputs;
  }

  /// Tokens [first, last) go where `slot` says.
  template <typename Slot>
  static std::vector<Expected> placed(const Problem& problem, std::int64_t first, std::int64_t last,
                                      const Slot& slot) {
    std::vector<std::int64_t> source;
    std::vector<std::int64_t> slots;
    for (std::int64_t t = first; t < last; ++t) {
      source.push_back(t);
      slots.push_back(slot(t));
    }
    return caches(problem, [&](const Numbers& tokens, Numbers& cache) {
      store_tokens(tokens, source, slots, shape(problem.parameters), cache);
    });
  }

  static void add_wrong_slots(const Problem& problem, Mistakes& mistakes) {
    const CacheShape s = shape(problem.parameters);
    const std::int64_t first = integer(problem.parameters, "first_position", 0);
    const std::int64_t oldest = std::max<std::int64_t>(0, s.length - s.capacity);
    constexpr Code kCode = "RL0471";
    constexpr const char* kAdvice = "the token at position p belongs in slot p % capacity";
    const auto add = [&](const char* cause, const auto& slot) {
      mistakes.add(kCode, cause, kAdvice, placed(problem, oldest, s.length, slot));
    };
    add("tokens are one slot too late", [&](auto t) { return (first + t + 1) % s.capacity; });
    add("tokens are one slot too early",
        [&](auto t) { return (first + t + s.capacity - 1) % s.capacity; });
    add("slots are counted from the start of the call instead of by position",
        [&](auto t) { return t % s.capacity; });
    add("the kept tokens start at slot 0 instead of at their positions",
        [&](auto t) { return t - oldest; });
  }

  static void add_wrong_tokens(const Problem& problem, Mistakes& mistakes) {
    const CacheShape s = shape(problem.parameters);
    const std::int64_t first = integer(problem.parameters, "first_position", 0);
    constexpr Code kCode = "RL0472";
    constexpr const char* kAdvice =
        "a ring forgets the oldest token: of more than `capacity` tokens the last ones stay";
    mistakes.add(kCode, "the first tokens stay in the cache instead of the last", kAdvice,
                 placed(problem, 0, std::min(s.length, s.capacity),
                        [&](auto t) { return (first + t) % s.capacity; }));
    const std::int64_t beyond = std::clamp<std::int64_t>(s.capacity - first, 0, s.length);
    mistakes.add(kCode, "tokens at positions beyond the capacity are dropped", kAdvice,
                 placed(problem, 0, beyond, [&](auto t) { return first + t; }));
    mistakes.add(
        kCode, "tokens at positions beyond the capacity all go to the last slot", kAdvice,
        placed(problem, 0, s.length, [&](auto t) { return std::min(first + t, s.capacity - 1); }));
  }

  static void add_wrong_axes(const Problem& problem, Mistakes& mistakes) {
    const CacheShape s = shape(problem.parameters);
    const Numbers positions = widened(problem, "positions");
    mistakes.add("RL0434", "every sequence of the batch gets the tokens of the first one",
                 "the offset of a token in k and v needs its sequence: (batch * length + token) * "
                 "heads * head_dim",
                 caches(problem, [&](Numbers tokens, Numbers& cache) {
                   const std::size_t sequence = tokens.size() / static_cast<std::size_t>(s.batch);
                   for (std::size_t i = sequence; i < tokens.size(); ++i) {
                     tokens[i] = tokens[i % sequence];
                   }
                   append_to_cache(tokens, positions, s, cache);
                 }));
    const auto append = [&](const Numbers& tokens, Numbers& cache) {
      append_to_cache(tokens, positions, s, cache);
    };
    mistakes.add("RL0473", "keys and values are swapped",
                 "k goes to key_cache and v to value_cache: compare the order of the arguments",
                 caches(problem, append, "v", "k"));
    constexpr Code kCode = "RL0474";
    constexpr const char* kAdvice =
        "new tokens are (batch, length, heads, head_dim), the caches (batch, heads, capacity, "
        "head_dim)";
    mistakes.add(kCode, "the new tokens are read as if heads came before length", kAdvice,
                 caches(problem, [&](const Numbers& tokens, Numbers& cache) {
                   append_to_cache(swap_middle_axes(tokens, s.batch, s.heads, s.length, s.head_dim),
                                   positions, s, cache);
                 }));
    mistakes.add(kCode, "the caches are written as if slots came before heads", kAdvice,
                 caches(problem, [&](const Numbers& tokens, Numbers& cache) {
                   cache = swap_middle_axes(cache, s.batch, s.capacity, s.heads, s.head_dim);
                   append_to_cache(tokens, positions, s, cache);
                   cache = swap_middle_axes(cache, s.batch, s.heads, s.capacity, s.head_dim);
                 }));
  }
};

ROOFLAB_ORACLE("kv_cache", KvCacheOracle)

}  // namespace
}  // namespace rooflab
