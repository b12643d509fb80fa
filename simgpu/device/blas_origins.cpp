#include "simgpu/device/blas_origins.h"

#include <cstdint>
#include <vector>

namespace simgpu {
namespace {

using blas::Element;
using blas::Request;
using blas::Routine;

/// Matrices by column, in memory that is followed.
class FollowedRoutine {
 public:
  FollowedRoutine(Provenance& provenance, const Request& request, double alpha, double beta)
      : provenance_(provenance), request_(request), reads_inputs_(alpha != 0), reads_c_(beta != 0) {
    if (request.scalars_on_device == 0) return;
    const unsigned bytes = request.input == Element::f64 ? 8 : 4;
    if (request.alpha_address != 0) alpha_ = provenance.read(request.alpha_address, bytes);
    if (request.beta_address != 0) beta_ = provenance.read(request.beta_address, bytes);
  }

  void run() {
    switch (request_.routine) {
      case Routine::gemm:
        for (std::int64_t i = 0; i < request_.batch; ++i) multiply(i);
        return;
      case Routine::gemv:
        multiply_vector();
        return;
      case Routine::axpy:
      case Routine::scal:
        update_vector(request_.routine == Routine::axpy);
        return;
      default:
        reduce();
    }
  }

 private:
  using Sets = std::vector<OriginSet>;

  unsigned input_bytes() const { return static_cast<unsigned>(size_of(request_.input)); }
  unsigned output_bytes() const { return static_cast<unsigned>(size_of(request_.output)); }
  OriginSet input(std::uint64_t base, std::int64_t element) {
    return provenance_.read(base + static_cast<std::uint64_t>(element) * input_bytes(),
                            input_bytes());
  }
  void add(OriginSet& to, OriginSet set) { to = provenance_.unite(to, set); }

  void store(std::int64_t element, OriginSet set) {
    const std::uint64_t address = request_.c + static_cast<std::uint64_t>(element) * output_bytes();
    add(set, alpha_);
    if (reads_c_) {
      add(set, beta_);
      add(set, provenance_.read(address, output_bytes()));
    }
    provenance_.computed(address, output_bytes(), set);
  }

  /// Of each line of a matrix what its elements have together.
  Sets lines(std::uint64_t base, std::int64_t count, std::int64_t length, std::int64_t to_line,
             std::int64_t to_element) {
    Sets sets(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count && reads_inputs_; ++i) {
      for (std::int64_t j = 0; j < length; ++j) {
        add(sets[static_cast<std::size_t>(i)], input(base, i * to_line + j * to_element));
      }
    }
    return sets;
  }

  void multiply(std::int64_t matrix) {
    const Request& r = request_;
    const auto base = [&](std::uint64_t address, std::int64_t stride) {
      return address + static_cast<std::uint64_t>(matrix * stride) * input_bytes();
    };
    const bool ta = r.transpose_a != 0, tb = r.transpose_b != 0;
    const Sets rows = lines(base(r.a, r.stride_a), r.m, r.k, ta ? r.lda : 1, ta ? 1 : r.lda);
    const Sets columns = lines(base(r.b, r.stride_b), r.n, r.k, tb ? 1 : r.ldb, tb ? r.ldb : 1);
    for (std::int64_t j = 0; j < r.n; ++j) {
      for (std::int64_t i = 0; i < r.m; ++i) {
        store(matrix * r.stride_c + i + j * r.ldc,
              provenance_.unite(rows[static_cast<std::size_t>(i)],
                                columns[static_cast<std::size_t>(j)]));
      }
    }
  }

  void multiply_vector() {
    const Request& r = request_;
    const bool ta = r.transpose_a != 0;
    const std::int64_t count = ta ? r.n : r.m, length = ta ? r.m : r.n;
    const Sets x = lines(r.b, 1, length, 0, r.ldb);
    const Sets rows = lines(r.a, count, length, ta ? r.lda : 1, ta ? 1 : r.lda);
    for (std::int64_t i = 0; i < count; ++i) {
      store(i * r.ldc, provenance_.unite(rows[static_cast<std::size_t>(i)], x[0]));
    }
  }

  /// y gets x added to it, or x is scaled.
  void update_vector(bool adds) {
    const Request& r = request_;
    for (std::int64_t i = 0; i < r.n; ++i) {
      OriginSet set = input(r.b, i * r.ldb);
      add(set, alpha_);
      const std::int64_t step = adds ? r.ldc : r.ldb;
      const std::uint64_t address =
          (adds ? r.c : r.b) + static_cast<std::uint64_t>(i * step) * input_bytes();
      if (adds) add(set, provenance_.read(address, input_bytes()));
      provenance_.computed(address, input_bytes(), set);
    }
  }

  /// A sum or a norm, which the host gets or the device keeps.
  void reduce() {
    const Request& r = request_;
    if (r.result_address == 0) return provenance_.host_read();
    OriginSet set = lines(r.b, 1, r.n, 0, r.ldb)[0];
    if (r.routine == Routine::dot) add(set, lines(r.c, 1, r.n, 0, r.ldc)[0]);
    provenance_.computed(r.result_address, input_bytes(), set);
  }

  Provenance& provenance_;
  const Request& request_;
  const bool reads_inputs_, reads_c_;
  OriginSet alpha_ = OriginSets::kNone, beta_ = OriginSets::kNone;
};

}  // namespace

void follow_routine(Provenance& provenance, const blas::Request& request, double alpha,
                    double beta) {
  const bool scales = request.routine == Routine::gemm || request.routine == Routine::gemv;
  FollowedRoutine(provenance, request, scales ? alpha : 1, beta).run();
}

}  // namespace simgpu
