#include "labs/part4-fusion/oracle/decoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace rooflab {
namespace {

/// Part 3's golden vectors, which the published implementation computed in fp32.
nlohmann::json golden_layers() {
  std::ifstream file(ROOFLAB_SOURCE_DIR "/labs/part3-decoder/golden/layers.json");
  return nlohmann::json::parse(file).at("layers");
}

DecoderSizes sizes_of(const nlohmann::json& layer, std::int64_t capacity) {
  const auto size = [&](const char* name) { return layer.at(name).get<std::int64_t>(); };
  return {size("batch"),
          size("hidden"),
          size("intermediate"),
          size("query_heads"),
          size("key_value_heads"),
          size("head_dim"),
          capacity};
}

DecoderNumbers weights_of(const nlohmann::json& layer, const DecoderSizes& sizes) {
  DecoderNumbers weights;
  for (const auto& [name, values] : layer.at("weights").items()) {
    weights[name] = values.get<Numbers>();
    if (!name.ends_with("_norm")) continue;
    for (double& value : weights[name]) value += 1;  // as DecoderWeights has them
  }
  const RotationTables tables =
      rotation_tables(sizes.capacity, sizes.head_dim, layer.at("theta").get<double>());
  weights["cosines"] = tables.cosines;
  weights["sines"] = tables.sines;
  return weights;
}

/// Token `t` of (batch, length, hidden).
Numbers token_of(const Numbers& all, std::int64_t t, std::int64_t length,
                 const DecoderSizes& sizes) {
  Numbers token;
  for (std::int64_t b = 0; b < sizes.batch; ++b) {
    const auto begin = all.begin() + (b * length + t) * sizes.hidden;
    token.insert(token.end(), begin, begin + sizes.hidden);
  }
  return token;
}

TEST(DecoderTest, GivesTokenByTokenWhatThePublishedLayerGives) {
  int layers = 0;
  for (const nlohmann::json& layer : golden_layers()) {
    if (layer.at("window") != 0) continue;
    SCOPED_TRACE(layer.at("name"));
    ++layers;
    std::int64_t tokens = 0;
    for (const auto& call : layer.at("calls")) tokens += call.at("length").get<std::int64_t>();
    const DecoderSizes sizes = sizes_of(layer, tokens);
    const DecoderNumbers weights = weights_of(layer, sizes);
    const auto slots =
        static_cast<std::size_t>(sizes.batch * sizes.key_value_heads * tokens * sizes.head_dim);
    DecoderHistory history{Numbers(slots), Numbers(slots)};
    for (const auto& call : layer.at("calls")) {
      const auto length = call.at("length").get<std::int64_t>();
      const auto first = call.at("first_position").get<std::int64_t>();
      const auto hidden = call.at("hidden").get<Numbers>();
      const auto output = call.at("output").get<Numbers>();
      for (std::int64_t t = 0; t < length; ++t) {
        const Numbers expected = token_of(output, t, length, sizes);
        const Numbers got =
            decode_token(token_of(hidden, t, length, sizes), first + t, sizes, weights, history);
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
          EXPECT_NEAR(got[i], expected[i], 100 * 0x1p-24 * (1 + std::abs(expected[i])));
        }
      }
    }
  }
  EXPECT_EQ(layers, 3);
}

}  // namespace
}  // namespace rooflab
