#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/lent.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/rounding.h"
#include "labs/oracle_support/selection.h"
#include "labs/part1-metrics/oracle/matrix_product.h"
#include "labs/part1-metrics/oracle/tensors.h"

namespace rooflab {
namespace {

/// C (m, n) = A (m, k) B (k, n).
class GemmOracle : public Oracle {
 public:
  GemmOracle() : GemmOracle(ElementType::float32, "fp32", kFloat32Unit) {}

  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const Sizes s = sizes(parameters);
    Random random(seed);
    Problem problem{parameters, {}};
    problem.vast = is_vast(parameters);
    const auto add = [&](const char* name, std::int64_t rows, std::int64_t columns) {
      problem.tensors.push_back(
          problem.vast
              ? repeated(random_input(name, type_, {vast_period(type_)}, random), rows * columns)
              : random_input(name, type_, {rows, columns}, random));
    };
    add("A", s.m, s.k);
    add("B", s.k, s.n);
    problem.tensors.push_back(output("C", ElementType::float32, {s.m, s.n}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    if (problem.vast) return {elements_of_product(problem)};
    const Inputs in = inputs(problem);
    return {{"C", multiply(in.view_a(), in.view_b(), in.m, in.n, in.k), tolerance(in)}};
  }

  Work work(const Values& parameters) const override {
    const Sizes s = sizes(parameters);
    const auto m = static_cast<double>(s.m);
    const auto n = static_cast<double>(s.n);
    const auto k = static_cast<double>(s.k);
    const double input_bytes = static_cast<double>(size_of(type_)) * (m * k + k * n);
    return {{{peak_, 2 * m * n * k}}, input_bytes + sizeof(float) * m * n};
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    return judges_structure(problem.parameters) ? complaints_of_lent(evidence)
                                                : std::vector<Complaint>{};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    if (problem.vast) return {};  // other cases know them
    const Inputs in = inputs(problem);
    std::vector<KnownMistake> mistakes;
    const std::vector<double> bounds = tolerance(in);
    const auto add = [&](Code code, const char* cause, const char* advice,
                         std::vector<double> values) {
      mistakes.push_back({code, cause, advice, {{"C", std::move(values), bounds}}});
    };
    add("RL0411", "A is read as if it were transposed",
        "element (row, k) of A is at row * K + k: the elements of a row are neighbours",
        multiply({in.a.data(), in.m, true}, in.view_b(), in.m, in.n, in.k));
    add("RL0412", "B is read as if it were transposed",
        "element (k, column) of B is at k * N + column: the elements of a row are neighbours",
        multiply(in.view_a(), {in.b.data(), in.k, true}, in.m, in.n, in.k));
    add_transposed_tiles(in, add);
    add_dropped_steps(in, add);
    add_swapped_output(in, add);
    add_wrong_leading_dimension(in, add);
    if (in.m == in.n && in.n == in.k) {
      add("RL0419", "the product is B A instead of A B",
          "matrix multiplication does not commute: which factor is passed first?",
          multiply(in.view_b(), in.view_a(), in.m, in.n, in.k));
    }
    add("RL0410", "C holds only zeros",
        "does the sum reach C, and does the loop over k run at all?",
        std::vector<double>(bounds.size(), 0.0));
    return mistakes;
  }

 protected:
  struct Sizes {
    std::int64_t m, n, k;
  };
  static Sizes sizes(const Values& parameters) {
    return {integer(parameters, "m"), integer(parameters, "n"), integer(parameters, "k")};
  }

  GemmOracle(ElementType type, std::string peak, double unit)
      : type_(type), peak_(std::move(peak)), unit_(unit) {}

 private:
  static constexpr std::array<std::int64_t, 5> kTileSizes = {8, 16, 32, 64, 128};

  struct Inputs : Sizes {
    std::vector<double> a, b;
    MatrixView view_a() const { return {a.data(), k, false}; }
    MatrixView view_b() const { return {b.data(), n, false}; }
  };

  static Inputs inputs(const Problem& problem) {
    return {sizes(problem.parameters), widened(tensor(problem, "A")),
            widened(tensor(problem, "B"))};
  }
  std::vector<double> tolerance(const Inputs& in) const {
    return product_tolerance(in.a, in.b, in.m, in.n, in.k, unit_);
  }

  /// Some elements of a product that is too large to compute as a whole.
  Expected elements_of_product(const Problem& problem) const {
    const Sizes s = sizes(problem.parameters);
    Expected product{"C", {}, {}, elements_if_vast(problem, "C")};
    std::vector<std::size_t> row(static_cast<std::size_t>(s.k)), column(row.size());
    for (const std::size_t element : product.index) {
      const auto i = static_cast<std::int64_t>(element) / s.n;
      const auto j = static_cast<std::int64_t>(element) % s.n;
      for (std::int64_t l = 0; l < s.k; ++l) {
        row[l] = static_cast<std::size_t>(i * s.k + l);
        column[l] = static_cast<std::size_t>(l * s.n + j);
      }
      const std::vector<double> a = widened(tensor(problem, "A"), row);
      const std::vector<double> b = widened(tensor(problem, "B"), column);
      product.value.push_back(std::inner_product(a.begin(), a.end(), b.begin(), 0.0));
      product.tolerance.push_back(product_tolerance(a, b, 1, 1, s.k, unit_).front());
    }
    return product;
  }

  /// The sum over k in [from, to) alone.
  static std::vector<double> partial(const Inputs& in, std::int64_t from, std::int64_t to) {
    return multiply({in.a.data() + from, in.k, false}, {in.b.data() + from * in.n, in.n, false},
                    in.m, in.n, to - from);
  }

  /// Each tile of one operand is transposed in shared memory, or where it is read from there.
  template <typename Add>
  static void add_transposed_tiles(const Inputs& in, const Add& add) {
    constexpr const char* kAdvice =
        "store element (y, x) of the tile at [y][x], and multiply As[y][k] by Bs[k][x]";
    for (const std::int64_t tile : kTileSizes) {
      if (in.k % tile != 0) continue;
      if (in.m % tile == 0) {
        const std::vector<double> a = with_transposed_tiles(in.a, in.k, tile);
        add("RL0411", "the tiles of A are transposed", kAdvice,
            multiply({a.data(), in.k, false}, in.view_b(), in.m, in.n, in.k));
      }
      if (in.n % tile == 0) {
        const std::vector<double> b = with_transposed_tiles(in.b, in.n, tile);
        add("RL0412", "the tiles of B are transposed", kAdvice,
            multiply(in.view_a(), {b.data(), in.n, false}, in.m, in.n, in.k));
      }
    }
  }
  static std::vector<double> with_transposed_tiles(const std::vector<double>& from,
                                                   std::int64_t columns, std::int64_t tile) {
    std::vector<double> to(from.size());
    for (std::int64_t i = 0; i < std::ssize(from); ++i) {
      const std::int64_t row = i / columns, column = i % columns;
      to[i] =
          from[(row / tile * tile + column % tile) * columns + column / tile * tile + row % tile];
    }
    return to;
  }

  template <typename Add>
  static void add_dropped_steps(const Inputs& in, const Add& add) {
    for (const std::int64_t tile : kTileSizes) {
      const std::int64_t whole = in.k / tile * tile;
      if (whole > 0 && whole < in.k) {
        add("RL0413", "the last, partial tile along K is missing from the sums",
            "round the number of tiles along K up, and fill the rest of the last one with zeros",
            partial(in, 0, whole));
      }
      const std::int64_t last = (in.k - 1) / tile * tile;
      if (last > 0) {
        add("RL0416", "only the last tile along K is in the sums",
            "set the sum to zero once, before the loop over the tiles", partial(in, last, in.k));
      }
    }
    if (in.k > 1) {  // of one step, nothing is left but zeros, for which there are other reasons
      add("RL0417", "the last step along K is missing from the sums",
          "the loop over k runs while k < K", partial(in, 0, in.k - 1));
    }
  }

  /// C^T stored where C belongs: element (i, j) at j * m + i.
  template <typename Add>
  static void add_swapped_output(const Inputs& in, const Add& add) {
    const std::vector<double> right = multiply(in.view_a(), in.view_b(), in.m, in.n, in.k);
    std::vector<double> swapped(right.size());
    for (std::int64_t i = 0; i < in.m; ++i) {
      for (std::int64_t j = 0; j < in.n; ++j) swapped[j * in.m + i] = right[i * in.n + j];
    }
    add("RL0414", "C is stored as if it were transposed",
        "element (row, column) of C lies at row * N + column; x runs along the columns",
        std::move(swapped));
  }

  /// Rows of A taken to be n or m long, rows of B to be k or m long: only where that stays inside.
  template <typename Add>
  static void add_wrong_leading_dimension(const Inputs& in, const Add& add) {
    constexpr const char* kAdvice =
        "the distance between two rows is the number of columns: K in A, N in B and in C";
    const auto reaches = [](std::int64_t rows, std::int64_t columns, std::int64_t leading) {
      return (rows - 1) * leading + columns;
    };
    for (const std::int64_t leading : {in.n, in.m}) {
      if (leading >= in.k || reaches(in.m, in.k, leading) > in.m * in.k) continue;
      add("RL0415", "the rows of A are taken to be shorter than they are", kAdvice,
          overlapping_a(in, leading));
    }
    for (const std::int64_t leading : {in.k, in.m}) {
      if (leading >= in.n || reaches(in.k, in.n, leading) > in.k * in.n) continue;
      add("RL0415", "the rows of B are taken to be shorter than they are", kAdvice,
          overlapping_b(in, leading));
    }
  }

  /// BLAS refuses leading dimensions shorter than a row, so the overlapping rows are copied apart.
  static std::vector<double> overlapping_a(const Inputs& in, std::int64_t leading) {
    const std::vector<double> a = spread(in.a, in.m, in.k, leading);
    return multiply({a.data(), in.k, false}, in.view_b(), in.m, in.n, in.k);
  }
  static std::vector<double> overlapping_b(const Inputs& in, std::int64_t leading) {
    const std::vector<double> b = spread(in.b, in.k, in.n, leading);
    return multiply(in.view_a(), {b.data(), in.n, false}, in.m, in.n, in.k);
  }
  static std::vector<double> spread(const std::vector<double>& from, std::int64_t rows,
                                    std::int64_t columns, std::int64_t leading) {
    std::vector<double> to;
    to.reserve(static_cast<std::size_t>(rows * columns));
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto begin = from.begin() + row * leading;
      to.insert(to.end(), begin, begin + columns);
    }
    return to;
  }

  ElementType type_;
  std::string peak_;
  double unit_;
};

/// The same with bf16 inputs on the tensor cores: their products are exact in fp32, the sums are
/// not.
class Bf16GemmOracle : public GemmOracle {
 public:
  Bf16GemmOracle() : GemmOracle(ElementType::bfloat16, "bf16_tensor", kTensorCoreUnit) {}

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    if (!judges_structure(problem.parameters)) return {};
    const auto complaint = without_tensor_cores(
        work(problem.parameters), evidence,
        "load fragments of A and B with wmma::load_matrix_sync and multiply them with "
        "wmma::mma_sync: multiply-adds of single elements run on the CUDA cores");
    return complaint ? std::vector{*complaint} : std::vector<Complaint>();
  }
};

/// Values that a call's kernels load from global memory. Of one that was cut short, all of its
/// blocks are taken to load as those that began did; a kernel behind it, which did not run, as that
/// one by thread.
double loaded_values(const simgpu::Activity& activity) {
  double loaded = 0, by_thread = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    const auto blocks = static_cast<double>(kernel.grid.count());
    const double threads = blocks * static_cast<double>(kernel.block.count());
    double own = static_cast<double>(kernel.counters.global_load_bytes) / sizeof(float);
    if (kernel.at_least && kernel.sampled_blocks > 0) {
      own *= blocks / static_cast<double>(kernel.sampled_blocks);
    } else if (kernel.at_least && kernel.counters.warp_instructions == 0) {
      own = by_thread * threads;
    }
    by_thread = own / threads;
    loaded += own;
  }
  return loaded;
}

/// The same by tiles: what a block loads from global memory should serve many of its threads. One
/// that does not is right, and its speed points are for something else.
class TiledGemmOracle : public GemmOracle {
 public:
  std::vector<SpeedRemark> judge_speed(const Values& parameters,
                                       const CallEvidence& evidence) const override {
    if (!evidence.keeps_records) return {};
    // Without tiles, each thread loads a value of A and one of B for each multiply-add that the
    // case takes. Those that the kernels made may be others.
    const Sizes s = sizes(parameters);
    const double untiled = 2.0 * static_cast<double>(s.m * s.n) * static_cast<double>(s.k);
    const double loaded = loaded_values(evidence.activity);
    constexpr double kGoodReuse = 8;
    constexpr double kLeastReuse = 2;  // of a patch of 2 x 2 in each thread, or a tile as small
    const double reuse = loaded > 0 ? untiled / loaded : kGoodReuse;
    if (reuse >= kGoodReuse) return {};
    constexpr const char* kAdvice =
        "let each thread load one element of each tile into shared memory, and multiply from "
        "there: in tiles of 32 x 32 each element serves 32 threads";
    if (reuse >= kLeastReuse) {
      return {{{"RL0431",
                message("each value that is loaded from global memory serves ", rounded(reuse),
                        " multiply-adds: the tiles are small"),
                kAdvice},
               false}};
    }
    return {
        {{"RL0431",
          message("global memory is read as if there were no tiles: each element of A is loaded ",
                  rounded(static_cast<double>(s.n) / reuse), " times and each of B ",
                  rounded(static_cast<double>(s.m) / reuse), " times"),
          kAdvice},
         true}};
  }

 private:
  static double rounded(double number) { return std::round(10 * number) / 10; }
};

/// The same by a call of cuBLAS, which is what the task is about.
class LibraryGemmOracle : public GemmOracle {
 public:
  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    if (auto complaints = GemmOracle::judge(problem, evidence); !complaints.empty()) {
      return complaints;
    }
    const auto& kernels = evidence.activity.kernels;
    const bool is_library = std::ranges::any_of(kernels, &simgpu::KernelRecord::library_routine);
    if (!evidence.keeps_records || kernels.empty() || is_library) return {};
    return {{"RL0431", "the product does not come from cuBLAS: no routine of the library ran",
             "call cublasSgemm with the handle that you are given: this task is about the order of "
             "its arguments, not about a kernel"}};
  }
};

ROOFLAB_ORACLE("gemm", GemmOracle)
ROOFLAB_ORACLE("gemm_cublas", LibraryGemmOracle)
ROOFLAB_ORACLE("gemm_tiled", TiledGemmOracle)
ROOFLAB_ORACLE("gemm_bf16", Bf16GemmOracle)

}  // namespace
}  // namespace rooflab
