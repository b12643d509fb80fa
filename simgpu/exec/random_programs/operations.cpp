#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "simgpu/exec/random_programs/program.h"

/// Operations by the host's own arithmetic: nothing here comes from simgpu/arith.
namespace simgpu::random_programs {
namespace {

__extension__ using Wide = unsigned __int128;
__extension__ using WideSigned = __int128;

std::uint32_t u32(Bits x) { return static_cast<std::uint32_t>(x); }
std::int32_t s32(Bits x) { return static_cast<std::int32_t>(u32(x)); }
std::int64_t s64(Bits x) { return static_cast<std::int64_t>(x); }
float f32(Bits x) { return std::bit_cast<float>(u32(x)); }
double f64(Bits x) { return std::bit_cast<double>(x); }
Bits raw(float x) { return std::bit_cast<std::uint32_t>(x); }
Bits raw(double x) { return std::bit_cast<std::uint64_t>(x); }
Bits raw(std::int32_t x) { return static_cast<std::uint32_t>(x); }
Bits raw(std::int64_t x) { return static_cast<Bits>(x); }

/// PTX's order has -0 before +0, and a NaN only where both are.
template <class T>
T least(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T most(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

/// Float to integer by truncation; what does not fit is clamped.
template <class I, class T>
I truncated(T x, I of_nan) {
  if (std::isnan(x)) return of_nan;
  const T whole = std::trunc(x);
  const auto low = static_cast<T>(std::numeric_limits<I>::min());
  const T past = std::ldexp(T{1}, std::numeric_limits<I>::digits);
  if (whole < low) return std::numeric_limits<I>::min();
  if (whole >= past) return std::numeric_limits<I>::max();
  return static_cast<I>(whole);
}

Bits reversed(std::uint32_t x) {
  std::uint32_t result = 0;
  for (int i = 0; i < 32; ++i) result |= (x >> i & 1U) << (31 - i);
  return result;
}

Bits field(std::uint32_t x, std::uint32_t position, std::uint32_t length) {
  const Wide shifted = Wide{x} >> std::min<std::uint32_t>(position & 255, 64);
  const std::uint32_t bits = length & 255;
  return bits >= 32 ? u32(static_cast<Bits>(shifted))
                    : static_cast<Bits>(shifted) & ((Bits{1} << bits) - 1);
}

using Table = std::vector<Operation>;

void add_integers(Table& table) {
  const auto rrr = [&](const char* spelling, Bits (*value)(Bits, Bits, Bits)) {
    table.push_back({spelling, 'r', "rr", value});
  };
  rrr("add.u32", [](Bits a, Bits b, Bits) -> Bits { return u32(a + b); });
  rrr("sub.s32", [](Bits a, Bits b, Bits) -> Bits { return u32(a - b); });
  rrr("mul.lo.u32", [](Bits a, Bits b, Bits) -> Bits { return u32(a * b); });
  rrr("mul.hi.u32", [](Bits a, Bits b, Bits) -> Bits { return a * b >> 32; });
  rrr("mul.hi.s32", [](Bits a, Bits b, Bits) -> Bits {
    return u32(static_cast<Bits>(std::int64_t{s32(a)} * s32(b) >> 32));
  });
  rrr("min.s32", [](Bits a, Bits b, Bits) -> Bits { return raw(std::min(s32(a), s32(b))); });
  rrr("max.u32", [](Bits a, Bits b, Bits) -> Bits { return std::max(u32(a), u32(b)); });
  rrr("and.b32", [](Bits a, Bits b, Bits) -> Bits { return a & b; });
  rrr("or.b32", [](Bits a, Bits b, Bits) -> Bits { return a | b; });
  rrr("xor.b32", [](Bits a, Bits b, Bits) -> Bits { return a ^ b; });
  rrr("shl.b32", [](Bits a, Bits b, Bits) -> Bits { return b > 31 ? 0 : u32(a << b); });
  rrr("shr.u32", [](Bits a, Bits b, Bits) -> Bits { return b > 31 ? 0 : a >> b; });
  rrr("shr.s32", [](Bits a, Bits b, Bits) -> Bits { return raw(s32(a) >> std::min<Bits>(b, 31)); });
  rrr("div.u32", [](Bits a, Bits b, Bits) -> Bits { return b == 0 ? 0xFFFFFFFF : a / b; });
  rrr("rem.u32", [](Bits a, Bits b, Bits) -> Bits { return b == 0 ? 0xFFFFFFFF : a % b; });
  table.push_back({"not.b32", 'r', "r", [](Bits a, Bits, Bits) -> Bits { return u32(~a); }});
  table.push_back({"popc.b32", 'r', "r", [](Bits a, Bits, Bits) -> Bits {
                     return static_cast<Bits>(std::popcount(u32(a)));
                   }});
  table.push_back({"clz.b32", 'r', "r", [](Bits a, Bits, Bits) -> Bits {
                     return static_cast<Bits>(std::countl_zero(u32(a)));
                   }});
  table.push_back({"brev.b32", 'r', "r", [](Bits a, Bits, Bits) { return reversed(u32(a)); }});
  table.push_back({"bfe.u32", 'r', "rrr",
                   [](Bits a, Bits b, Bits c) { return field(u32(a), u32(b), u32(c)); }});
  table.push_back(
      {"mad.lo.s32", 'r', "rrr", [](Bits a, Bits b, Bits c) -> Bits { return u32(a * b + c); }});
  table.push_back({"sad.u32", 'r', "rrr", [](Bits a, Bits b, Bits c) -> Bits {
                     return u32(c + (u32(a) > u32(b) ? a - b : b - a));
                   }});
  table.push_back({"selp.b32", 'r', "rrp", [](Bits a, Bits b, Bits c) { return c ? a : b; }});
}

void add_long_integers(Table& table) {
  const auto ddd = [&](const char* spelling, Bits (*value)(Bits, Bits, Bits)) {
    table.push_back({spelling, 'd', "dd", value});
  };
  ddd("add.u64", [](Bits a, Bits b, Bits) { return a + b; });
  ddd("sub.s64", [](Bits a, Bits b, Bits) { return a - b; });
  ddd("mul.lo.s64", [](Bits a, Bits b, Bits) { return a * b; });
  ddd("mul.hi.u64", [](Bits a, Bits b, Bits) { return static_cast<Bits>(Wide{a} * b >> 64); });
  ddd("max.s64", [](Bits a, Bits b, Bits) { return raw(std::max(s64(a), s64(b))); });
  ddd("min.u64", [](Bits a, Bits b, Bits) { return std::min(a, b); });
  ddd("xor.b64", [](Bits a, Bits b, Bits) { return a ^ b; });
  table.push_back({"shl.b64", 'd', "dr", [](Bits a, Bits b, Bits) { return b > 63 ? 0 : a << b; }});
  table.push_back({"shr.s64", 'd', "dr",
                   [](Bits a, Bits b, Bits) { return raw(s64(a) >> std::min<Bits>(b, 63)); }});
  table.push_back({"mul.wide.u32", 'd', "rr", [](Bits a, Bits b, Bits) { return a * b; }});
  table.push_back({"mad.wide.s32", 'd', "rrd", [](Bits a, Bits b, Bits c) -> Bits {
                     return static_cast<Bits>(static_cast<WideSigned>(s32(a)) * s32(b)) + c;
                   }});
  table.push_back({"cvt.u64.u32", 'd', "r", [](Bits a, Bits, Bits) { return a; }});
  table.push_back(
      {"cvt.s64.s32", 'd', "r", [](Bits a, Bits, Bits) { return raw(std::int64_t{s32(a)}); }});
  table.push_back({"cvt.u32.u64", 'r', "d", [](Bits a, Bits, Bits) -> Bits { return u32(a); }});
  table.push_back({"popc.b64", 'r', "d",
                   [](Bits a, Bits, Bits) -> Bits { return static_cast<Bits>(std::popcount(a)); }});
  table.push_back({"selp.b64", 'd', "ddp", [](Bits a, Bits b, Bits c) { return c ? a : b; }});
}

void add_floats(Table& table) {
  const auto fff = [&](const char* spelling, Bits (*value)(Bits, Bits, Bits)) {
    table.push_back({spelling, 'f', "ff", value});
  };
  fff("add.f32", [](Bits a, Bits b, Bits) { return raw(f32(a) + f32(b)); });
  fff("sub.rn.f32", [](Bits a, Bits b, Bits) { return raw(f32(a) - f32(b)); });
  fff("mul.f32", [](Bits a, Bits b, Bits) { return raw(f32(a) * f32(b)); });
  fff("div.rn.f32", [](Bits a, Bits b, Bits) { return raw(f32(a) / f32(b)); });
  fff("min.f32", [](Bits a, Bits b, Bits) { return raw(least(f32(a), f32(b))); });
  fff("max.f32", [](Bits a, Bits b, Bits) { return raw(most(f32(a), f32(b))); });
  table.push_back({"fma.rn.f32", 'f', "fff",
                   [](Bits a, Bits b, Bits c) { return raw(std::fma(f32(a), f32(b), f32(c))); }});
  table.push_back({"neg.f32", 'f', "f", [](Bits a, Bits, Bits) { return raw(-f32(a)); }});
  table.push_back({"abs.f32", 'f', "f", [](Bits a, Bits, Bits) { return raw(std::fabs(f32(a))); }});
  table.push_back(
      {"sqrt.rn.f32", 'f', "f", [](Bits a, Bits, Bits) { return raw(std::sqrt(f32(a))); }});
  table.push_back({"cvt.rn.f32.s32", 'f', "r",
                   [](Bits a, Bits, Bits) { return raw(static_cast<float>(s32(a))); }});
  table.push_back({"cvt.rzi.s32.f32", 'r', "f",
                   [](Bits a, Bits, Bits) { return raw(truncated<std::int32_t>(f32(a), 0)); }});
  table.push_back({"selp.f32", 'f', "ffp", [](Bits a, Bits b, Bits c) { return c ? a : b; }});
}

void add_doubles(Table& table) {
  const auto ggg = [&](const char* spelling, Bits (*value)(Bits, Bits, Bits)) {
    table.push_back({spelling, 'g', "gg", value});
  };
  ggg("add.f64", [](Bits a, Bits b, Bits) { return raw(f64(a) + f64(b)); });
  ggg("mul.rn.f64", [](Bits a, Bits b, Bits) { return raw(f64(a) * f64(b)); });
  ggg("div.rn.f64", [](Bits a, Bits b, Bits) { return raw(f64(a) / f64(b)); });
  ggg("max.f64", [](Bits a, Bits b, Bits) { return raw(most(f64(a), f64(b))); });
  table.push_back({"fma.rn.f64", 'g', "ggg",
                   [](Bits a, Bits b, Bits c) { return raw(std::fma(f64(a), f64(b), f64(c))); }});
  table.push_back({"cvt.f64.f32", 'g', "f",
                   [](Bits a, Bits, Bits) { return raw(static_cast<double>(f32(a))); }});
  table.push_back({"cvt.rn.f32.f64", 'f', "g",
                   [](Bits a, Bits, Bits) { return raw(static_cast<float>(f64(a))); }});
  table.push_back({"cvt.rn.f64.s64", 'g', "d",
                   [](Bits a, Bits, Bits) { return raw(static_cast<double>(s64(a))); }});
}

void add_predicates(Table& table) {
  table.push_back(
      {"setp.lt.s32", 'p', "rr", [](Bits a, Bits b, Bits) -> Bits { return s32(a) < s32(b); }});
  table.push_back({"setp.ge.u32", 'p', "rr", [](Bits a, Bits b, Bits) -> Bits { return a >= b; }});
  table.push_back({"setp.ne.s32", 'p', "rr", [](Bits a, Bits b, Bits) -> Bits { return a != b; }});
  table.push_back(
      {"setp.gt.s64", 'p', "dd", [](Bits a, Bits b, Bits) -> Bits { return s64(a) > s64(b); }});
  table.push_back(
      {"setp.lt.f32", 'p', "ff", [](Bits a, Bits b, Bits) -> Bits { return f32(a) < f32(b); }});
  table.push_back(
      {"setp.geu.f32", 'p', "ff", [](Bits a, Bits b, Bits) -> Bits { return !(f32(a) < f32(b)); }});
  table.push_back(
      {"setp.eq.f64", 'p', "gg", [](Bits a, Bits b, Bits) -> Bits { return f64(a) == f64(b); }});
  table.push_back({"and.pred", 'p', "pp", [](Bits a, Bits b, Bits) { return a & b; }});
  table.push_back({"xor.pred", 'p', "pp", [](Bits a, Bits b, Bits) { return a ^ b; }});
  table.push_back({"not.pred", 'p', "p", [](Bits a, Bits, Bits) { return a ^ 1; }});
}

}  // namespace

const std::vector<Operation>& operations() {
  static const Table kTable = [] {
    Table table;
    add_integers(table);
    add_long_integers(table);
    add_floats(table);
    add_doubles(table);
    add_predicates(table);
    return table;
  }();
  return kTable;
}

}  // namespace simgpu::random_programs
