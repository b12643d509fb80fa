#include "simgpu/model/library_product.h"

#include <algorithm>
#include <array>
#include <span>

namespace simgpu::model {
namespace {

constexpr double kOfThePeak = 0.92, kWithEverySlot = 0.77;

struct Tile {
  std::uint32_t rows, columns;
};
/// Of the kernels that cuBLAS and CUTLASS name after their tiles (`ampere_sgemm_128x64_nn`). From
/// the largest on: of equally fast ones the largest reads the least.
constexpr std::array<Tile, 6> kSimtTiles{
    {{128, 128}, {128, 64}, {64, 128}, {64, 64}, {64, 32}, {32, 32}}};
constexpr std::array<Tile, 6> kTensorTiles{
    {{128, 256}, {256, 128}, {128, 128}, {128, 64}, {64, 128}, {64, 64}}};
constexpr std::array<std::uint32_t, 6> kPartsOfK{1, 2, 3, 4, 8, 16};
/// A part of k that is shorter is not worth the sum of the parts.
constexpr std::uint64_t kShortestPart = 256;
/// Few rows or columns have kernels of their own, whose tiles are a multiple of that.
constexpr std::uint64_t kThinnest = 8;
constexpr double kBytesOfAPartialSum = 4;

bool is_of_tensor_cores(const std::string& flop_type) { return flop_type.ends_with("_tensor"); }

std::uint64_t parts(std::uint64_t whole, std::uint64_t part) { return (whole + part - 1) / part; }

/// All dimensions are above 0.
class Splits {
 public:
  Splits(const LibraryProduct& product, const gpu_spec::GpuSpec& gpu)
      : product_(product),
        gpu_(gpu),
        multiprocessors_(static_cast<std::uint64_t>(std::max(1, gpu.sm_count))),
        rate_of_sm_(library_efficiency(product.flop_type, gpu) *
                    arithmetic_rate(product.flop_type, gpu) /
                    static_cast<double>(multiprocessors_)) {}

  ProductSplit fastest() const {
    ProductSplit best = of(tiles().front(), 1);
    for (const std::uint32_t parts_of_k : kPartsOfK) {
      if (parts_of_k > 1 && product_.k / parts_of_k < kShortestPart) break;
      for (const Tile& tile : tiles()) {
        const ProductSplit split = of(tile, parts_of_k);
        if (split.compute_us < kClearly * best.compute_us) best = split;
      }
    }
    return best;
  }

 private:
  static constexpr double kClearly = 0.999;

  std::span<const Tile> tiles() const {
    if (is_of_tensor_cores(product_.flop_type)) return kTensorTiles;
    return kSimtTiles;
  }

  /// A tile that sticks out takes as long as a whole one.
  ProductSplit of(Tile tile, std::uint32_t parts_of_k) const {
    tile.rows = thin(tile.rows, product_.m);
    tile.columns = thin(tile.columns, product_.n);
    const std::uint64_t down = parts(product_.m, tile.rows);
    const std::uint64_t across = parts(product_.n, tile.columns);
    const std::uint64_t deep = parts_of_k * product_.batch;
    const std::uint64_t of_busiest = parts(down * across * deep, multiprocessors_);
    const double operations = 2.0 * tile.rows * tile.columns *
                              static_cast<double>(parts(product_.k, parts_of_k)) *
                              static_cast<double>(of_busiest);
    return {.tile_rows = tile.rows,
            .tile_columns = tile.columns,
            .parts_of_k = parts_of_k,
            .grid = {static_cast<std::uint32_t>(down), static_cast<std::uint32_t>(across),
                     static_cast<std::uint32_t>(deep)},
            .compute_us = operations / rate_of_sm_ * 1e6 + sum_of_parts_us(parts_of_k)};
  }

  static std::uint32_t thin(std::uint32_t tile, std::uint64_t whole) {
    const std::uint64_t needed = parts(whole, kThinnest) * kThinnest;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(tile, needed));
  }

  /// Each part is written to L2 and read there.
  double sum_of_parts_us(std::uint32_t parts_of_k) const {
    if (parts_of_k == 1 || gpu_.l2_bytes_per_second <= 0) return 0;
    const double elements = static_cast<double>(product_.m) * static_cast<double>(product_.n) *
                            static_cast<double>(product_.batch);
    return 2 * parts_of_k * elements * kBytesOfAPartialSum / gpu_.l2_bytes_per_second * 1e6;
  }

  const LibraryProduct& product_;
  const gpu_spec::GpuSpec& gpu_;
  std::uint64_t multiprocessors_;
  double rate_of_sm_;  ///< operations in a second
};

}  // namespace

double arithmetic_rate(const std::string& flop_type, const gpu_spec::GpuSpec& gpu) {
  auto peak = gpu.peak_flops.find(flop_type);
  if (peak == gpu.peak_flops.end()) peak = gpu.peak_flops.find("fp32");
  return peak == gpu.peak_flops.end() ? 0 : peak->second / gpu.slowdown_under_load();
}

double library_efficiency(const std::string& flop_type, const gpu_spec::GpuSpec& gpu) {
  constexpr int kLanesOfAScheduler = 32;
  const bool takes_every_slot =
      flop_type == "fp32" && gpu.fp32_lanes_per_sm >= kLanesOfAScheduler * gpu.schedulers_per_sm;
  return takes_every_slot ? kWithEverySlot : kOfThePeak;
}

ProductSplit fastest_split(const LibraryProduct& product, const gpu_spec::GpuSpec& gpu) {
  const bool is_empty = std::min({product.m, product.n, product.k, product.batch}) == 0;
  if (is_empty || arithmetic_rate(product.flop_type, gpu) <= 0) return {.grid = {1, 1, 1}};
  return Splits(product, gpu).fastest();
}

}  // namespace simgpu::model
