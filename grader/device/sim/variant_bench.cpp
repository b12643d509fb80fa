#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include "grader/device/sim/sim_device_testing.h"
using namespace rooflab;
TEST(Bench, It) {
  const char* lib = getenv("LIB");
  const std::string entry = getenv("ENTRY");
  const int count = atoi(getenv("COUNT"));
  const bool checked = atoi(getenv("CHECKED"));
  Problem p;
  p.parameters = {};
  const auto add = [&](const char* name, Role role, std::vector<std::int64_t> shape) {
    Tensor t{.name = name, .role = role, .shape = shape, .data = {}};
    if (role == Role::input) {
      t.data.resize(t.bytes());
      for (size_t i = 0; i < t.data.size() / 4; ++i) {
        float v = (float)(i % 7) * 0.25f;
        memcpy(t.data.data() + 4 * i, &v, 4);
      }
    }
    p.tensors.push_back(t);
  };
  if (entry == "gemm_tiled") {
    const std::int64_t n = atoi(getenv("N"));
    p.parameters = {{"m", n}, {"n", n}, {"k", n}};
    add("A", Role::input, {n, n});
    add("B", Role::input, {n, n});
    add("C", Role::output, {n, n});
  } else if (entry == "scale") {
    p = scaling_problem();
  } else {
    const std::int64_t ql = 5, kl = 37, h = 4, hk = 2, d = 64, batch = 2, cap = 40;
    p.parameters = {{"batch", batch}, {"query_length", ql}, {"query_heads", h}, {"key_value_heads", hk}, {"head_dim", d}, {"capacity", cap}, {"window", std::int64_t{0}}, {"scale", 0.125}, {"type", std::string("float")}};
    add("q", Role::input, {batch, ql, h, d}); add("keys", Role::input, {batch, hk, cap, d}); add("values", Role::input, {batch, hk, cap, d});
    add("positions", Role::input, {ql});
    for (int i = 0; i < ql; ++i) { int v = kl - ql + i; memcpy(p.tensors.back().data.data() + 4*i, &v, 4); }
    add("out", Role::output, {batch, ql, h, d});
  }
  RunRequest r;
  r.library = lib;
  r.entry = entry;
  r.problem = &p;
  r.variants_checked = checked; r.gives_stream = getenv("STREAM") != nullptr;
  r.variants_time_limit = std::chrono::seconds(100);
  r.fresh = [&](int) { return p; };
  SimDevice device("a100", sim_options());
  for (int n : {1, count}) {
    r.variants.assign(n, {0, 2, 0});
    auto a = std::chrono::steady_clock::now();
    RunOutcome o = device.run(r);
    double ms = std::chrono::duration<double>(std::chrono::steady_clock::now() - a).count() * 1e3;
    int sound = 0;
    for (auto& c : o.variant_calls) sound += c.is_sound;
    printf(
        "%d calls: %.1f ms, end %d %s %s, sound %d, first failure %s, warp instr %llu\n", n, ms,
        (int)o.end, o.detail.c_str(), o.cuda_error.c_str(), sound,
        o.variant_calls.empty() ? "" : o.variant_calls[0].failure_code.c_str(),
        o.variant_calls.empty() ? 0ull : (unsigned long long)o.variant_calls[0].warp_instructions);
  }
}
