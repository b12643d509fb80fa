#include "grader/mutation/variant_header.h"

namespace rooflab::mutation {
namespace {

// Operators are replaced by pairs of operators around an object, `a < Relation(17) > b`: both have
// the precedence of the one that stood there, so that nobody has to know where operands end.
// Alternatives of a place have the numbers behind a multiple of 16, in the order of
// kSignsAndObjects in expressions.cpp (grader/device/VARIANTS.md). They are read by a volatile
// access: of a choice that stays the same, a compiler would make a copy of each loop for each
// variant.
constexpr std::string_view kHeader = R"header(#pragma once
#include <cmath>
#include <type_traits>
#ifdef __CUDACC__
#define ROOFLAB_BOTH __host__ __device__ __forceinline__
#else
#define ROOFLAB_BOTH inline
#endif
namespace rooflab_variants {
struct Choice { int first; int second; double value; };
static Choice of_host;
#ifdef __CUDACC__
// A byte for each place of the source: which of its alternatives is chosen.
static __constant__ unsigned char rooflab_chosen_table[ROOFLAB_PLACES];
static __constant__ double rooflab_chosen_value;
#endif
/// Which alternative of a place is chosen, whose numbers follow a multiple of 16; 0: what stands there.
ROOFLAB_BOTH int at(int number) {
#ifdef __CUDA_ARCH__
  unsigned chosen;
  asm volatile("ld.const.u8 %0, [%1];" : "=r"(chosen) : "l"(__cvta_generic_to_constant(&rooflab_chosen_table[number / 16])));
  return static_cast<int>(chosen);
#else
  if (of_host.first / 16 == number / 16) return of_host.first % 16;
  return of_host.second / 16 == number / 16 ? of_host.second % 16 : 0;
#endif
}
ROOFLAB_BOTH double any_value() {
#ifdef __CUDA_ARCH__
  return rooflab_chosen_value;
#else
  return of_host.value;
#endif
}
ROOFLAB_BOTH bool is(int number) { return at(number) == number % 16; }
/// The last alternative of a place that divides: what is divided is 0.
constexpr int kVanished = 14;
#define ROOFLAB_MADE(R, expression) \
  if constexpr (requires { static_cast<R>(expression); }) return static_cast<R>(expression); else break
#define ROOFLAB_OBJECT(Name, sign)                                                  \
  struct Name { int number; ROOFLAB_BOTH explicit constexpr Name(int n) : number(n) {} }; \
  template <class A> struct Left##Name { A left; int number; };                     \
  template <class A> ROOFLAB_BOTH Left##Name<A> operator sign(A left, Name object) { return {left, object.number}; }
ROOFLAB_OBJECT(Less, <)
ROOFLAB_OBJECT(LessEqual, <)
ROOFLAB_OBJECT(Greater, <)
ROOFLAB_OBJECT(GreaterEqual, <)
ROOFLAB_OBJECT(Equal, ==)
ROOFLAB_OBJECT(Unequal, ==)
ROOFLAB_OBJECT(Sum, +)
ROOFLAB_OBJECT(Difference, +)
ROOFLAB_OBJECT(Product, *)
ROOFLAB_OBJECT(Quotient, *)
ROOFLAB_OBJECT(Remainder, *)
#define ROOFLAB_RELATION(Name, sign, strict, mirrored)                              \
  template <class A, class B> ROOFLAB_BOTH bool operator>(Left##Name<A> l, B right) { \
    switch (at(l.number) - 1) {                                                      \
      case 0: return l.left strict right;                                           \
      case 1: return l.left mirrored right;                                         \
    }                                                                               \
    return l.left sign right;                                                       \
  }
ROOFLAB_RELATION(Less, <, <=, >)
ROOFLAB_RELATION(LessEqual, <=, <, >=)
ROOFLAB_RELATION(Greater, >, >=, <)
ROOFLAB_RELATION(GreaterEqual, >=, >, <=)
template <class A, class B> ROOFLAB_BOTH bool operator==(LeftEqual<A> l, B right) {
  return is(l.number) ? !(l.left == right) : static_cast<bool>(l.left == right);
}
template <class A, class B> ROOFLAB_BOTH bool operator==(LeftUnequal<A> l, B right) {
  return is(l.number) ? !(l.left != right) : static_cast<bool>(l.left != right);
}
template <class A, class B> ROOFLAB_BOTH auto operator+(LeftSum<A> l, B right) {
  using R = decltype(l.left + right);
  switch (at(l.number) - 1) {
    case 0: ROOFLAB_MADE(R, l.left - right);
    case 1: ROOFLAB_MADE(R, l.left);
    case 2: ROOFLAB_MADE(R, right);
    case 3: ROOFLAB_MADE(R, l.left * right);
    case 4: ROOFLAB_MADE(R, l.left + right + 1);
    case 5: ROOFLAB_MADE(R, l.left + right - 1);
  }
  return l.left + right;
}
template <class A, class B> ROOFLAB_BOTH auto operator+(LeftDifference<A> l, B right) {
  using R = decltype(l.left - right);
  switch (at(l.number) - 1) {
    case 0: ROOFLAB_MADE(R, l.left + right);
    case 1: ROOFLAB_MADE(R, l.left);
    case 2: ROOFLAB_MADE(R, right - l.left);
    case 3: ROOFLAB_MADE(R, l.left - right + 1);
    case 4: ROOFLAB_MADE(R, l.left - right - 1);
  }
  return l.left - right;
}
template <class A, class B> ROOFLAB_BOTH auto operator*(LeftProduct<A> l, B right) {
  using R = decltype(l.left * right);
  switch (at(l.number) - 1) {
    case 0: ROOFLAB_MADE(R, l.left + right);
    case 1: ROOFLAB_MADE(R, l.left);
    case 2: ROOFLAB_MADE(R, right);
    case 3: if (right == B()) break; ROOFLAB_MADE(R, l.left / right);
    case 4: ROOFLAB_MADE(R, l.left * right * right);
    case 5: ROOFLAB_MADE(R, l.left * l.left * right);
    case 6: ROOFLAB_MADE(R, l.left - right);
    case kVanished: ROOFLAB_MADE(R, R());
  }
  return l.left * right;
}
template <class A, class B> ROOFLAB_BOTH auto operator*(LeftQuotient<A> l, B right) {
  using R = decltype(l.left / right);
  switch (at(l.number) - 1) {
    case 0: ROOFLAB_MADE(R, l.left * right);
    case 1: ROOFLAB_MADE(R, l.left);
    case 2: if (l.left == A()) break; ROOFLAB_MADE(R, right / l.left);
    case 3: if constexpr (std::is_integral_v<A>) { ROOFLAB_MADE(R, l.left % right); } else { break; }
    case 4: if constexpr (std::is_integral_v<A>) { ROOFLAB_MADE(R, (l.left + right - 1) / right); } else { break; }
    case 5: ROOFLAB_MADE(R, l.left / right / right);
    case 6: if constexpr (std::is_floating_point_v<B>) { ROOFLAB_MADE(R, l.left / sqrt(right)); } else { break; }
    case kVanished: ROOFLAB_MADE(R, R());
  }
  return l.left / right;
}
template <class A, class B> ROOFLAB_BOTH auto operator*(LeftRemainder<A> l, B right) {
  using R = decltype(l.left % right);
  switch (at(l.number) - 1) {
    case 0: ROOFLAB_MADE(R, l.left / right);
    case 1: ROOFLAB_MADE(R, l.left);
    case kVanished: ROOFLAB_MADE(R, R());
  }
  return l.left % right;
}
/// A number in the source; the last alternative is any value.
template <class T> ROOFLAB_BOTH T number(int first, T x) {
  switch (at(first) - 1) {
    case 0: return static_cast<T>(x + 1);
    case 1: return static_cast<T>(x - 1);
    case 2: return static_cast<T>(x * 2);
    case 3: return static_cast<T>(x / 2);
    case 4: return static_cast<T>(-x);
    case 5: return static_cast<T>(0);
    case 6: return static_cast<T>(1);
    case 7: return static_cast<T>(any_value());
  }
  return x;
}
/// Another value in place of one, where it has the same type.
template <class A> ROOFLAB_BOTH A picked(int, int, A a) { return a; }
template <class A, class B, class... More> ROOFLAB_BOTH A picked(int chosen, int index, A a, B b, More... more) {
  if constexpr (std::is_same_v<A, B> || (std::is_integral_v<A> && std::is_integral_v<B>)) {
    if (chosen == index) return static_cast<A>(b);
  }
  return picked(chosen, index + 1, a, more...);
}
template <class A, class... More> requires(!std::is_class_v<A>)
ROOFLAB_BOTH A pick(int first, A a, More... more) {
  return picked(at(first), 1, a, more...);
}
/// Of objects the place of one, to which something may be written.
template <class A> ROOFLAB_BOTH A& picked_place(int, int, A& a) { return a; }
template <class A, class B, class... More> ROOFLAB_BOTH A& picked_place(int chosen, int index, A& a, B& b, More&... more) {
  if constexpr (std::is_same_v<A, B>) {
    if (chosen == index) return b;
  }
  return picked_place(chosen, index + 1, a, more...);
}
template <class A, class... More> requires std::is_class_v<A>
ROOFLAB_BOTH A& pick(int first, A& a, More&... more) {
  return picked_place(at(first), 1, a, more...);
}
template <class A, class... More> requires std::is_class_v<A>
ROOFLAB_BOTH A pick(int first, A&& a, More... more) {
  return picked(at(first), 1, static_cast<A&&>(a), more...);
}
/// A value times or over others, by pairs of numbers.
template <class A> ROOFLAB_BOTH A scaled_by(int, int, A a) { return a; }
template <class A, class B, class... More> ROOFLAB_BOTH A scaled_by(int chosen, int index, A a, B b, More... more) {
  if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B>) {
    if (chosen == index) return static_cast<A>(a * b);
    if (chosen == index + 1 && b != B()) return static_cast<A>(a / b);
  }
  return scaled_by(chosen, index + 2, a, more...);
}
template <class A, class... More> ROOFLAB_BOTH A scaled(int first, A a, More... more) {
  const int chosen = at(first);
  if constexpr (std::is_arithmetic_v<A>) {
    if (chosen - 1 == kVanished) return A();
  }
  return scaled_by(chosen, 1, a, more...);
}
/// A whole number plus or minus others, by pairs of numbers.
template <class A> ROOFLAB_BOTH A shifted_by(int, int, A a) { return a; }
template <class A, class B, class... More> ROOFLAB_BOTH A shifted_by(int chosen, int index, A a, B b, More... more) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    if (chosen == index) return static_cast<A>(a + b);
    if (chosen == index + 1) return static_cast<A>(a - b);
  }
  return shifted_by(chosen, index + 2, a, more...);
}
template <class A, class... More> ROOFLAB_BOTH A shifted(int first, A a, More... more) {
  return shifted_by(at(first), 1, a, more...);
}
/// A whole number minus others, or its rest, by pairs of numbers behind so many.
template <class A> ROOFLAB_BOTH A rest_by(int, int, A a) { return a; }
template <class A, class B, class... More> ROOFLAB_BOTH A rest_by(int chosen, int index, A a, B b, More... more) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    if (chosen == index) return static_cast<A>(a - b);
    if (chosen == index + 1 && b != B()) return static_cast<A>(a % b);
  }
  return rest_by(chosen, index + 2, a, more...);
}
template <class A, class... More> ROOFLAB_BOTH A rest(int first, int behind, A a, More... more) {
  return rest_by(at(first), 1 + behind, a, more...);
}
/// One of two values, or the other one.
template <class A, class B> ROOFLAB_BOTH A either(int number, A a, B b) {
  if constexpr (requires { static_cast<A>(b); }) {
    if (is(number)) return static_cast<A>(b);
  }
  return a;
}
/// An operand that goes elsewhere: its factor is gone from here, and comes there.
template <class A> ROOFLAB_BOTH A unless(int number, A a) {
  if constexpr (std::is_arithmetic_v<A>) {
    if (is(number)) return A(1);
  }
  return a;
}
template <class A, class B> ROOFLAB_BOTH A multiplied_if(int number, A a, B b) {
  if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B>) {
    if (is(number)) return static_cast<A>(a * b);
  }
  return a;
}
template <class A, class B> ROOFLAB_BOTH A divided_if(int number, A a, B b) {
  if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B>) {
    if (is(number) && b != B()) return static_cast<A>(a / b);
  }
  return a;
}
/// A sum that comes to be inside a product: the operand grows here, and is nothing there. A type
/// that would become another one stays as it is.
template <class A, class B> constexpr bool kKeepsType = false;
template <class A, class B> requires (std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
constexpr bool kKeepsType<A, B> = std::is_same_v<decltype(A() + B()), A>;
template <class A, class B> ROOFLAB_BOTH A increased_if(int number, A a, B b) {
  if constexpr (kKeepsType<A, B>) {
    if (is(number)) return a + b;
  }
  return a;
}
template <class A, class B> ROOFLAB_BOTH A decreased_if(int number, A a, B b) {
  if constexpr (kKeepsType<A, B>) {
    if (is(number)) return a - b;
  }
  return a;
}
template <class B, class A> ROOFLAB_BOTH B nothing_if(int number, B b, A) {
  if constexpr (kKeepsType<A, B>) {
    if (is(number)) return B();
  }
  return b;
}
/// A variable that begins anew.
template <class A> ROOFLAB_BOTH void make_new(A& a) {
  if constexpr (std::is_array_v<A>) {
    for (auto& each : a) make_new(each);
  } else if constexpr (requires { a = A{}; }) {
    a = A{};
  }
}
template <class A> ROOFLAB_BOTH void renew(int number, A& a) {
  if (is(number)) make_new(a);
}
template <class A, class B> ROOFLAB_BOTH void reset(int number, A& a, B b) {
  if constexpr (requires { a = static_cast<A>(b); }) {
    if (is(number)) a = static_cast<A>(b);
  }
}
/// Whether an index is within the bound that is chosen: pairs of an index and what is larger.
ROOFLAB_BOTH bool within_by(int, int) { return true; }
template <class A, class B, class... More> ROOFLAB_BOTH bool within_by(int chosen, int index, A a, B b, More... more) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    if (chosen == index) return static_cast<long long>(a) < static_cast<long long>(b);
  }
  return within_by(chosen, index + 1, more...);
}
template <class... Pairs> ROOFLAB_BOTH bool within(int first, Pairs... pairs) {
  return within_by(at(first), 1, pairs...);
}
/// Less than 0 where an index is not.
template <class A> ROOFLAB_BOTH long long below(A index) { return -1 - static_cast<long long>(index); }
/// What is read beyond a bound: 0 of any type. A function of its own would need a lambda for what is
/// read within, which host and device code could not share.
struct Nothing {
  template <class A> ROOFLAB_BOTH operator A() const { return A{}; }
};
/// The step of a loop, for one block or for all of the grid.
template <class A> ROOFLAB_BOTH A of_grid(int number, A step) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_integral_v<A>) {
    if (is(number)) return static_cast<A>(step * gridDim.x);
  }
#endif
  return step;
}
ROOFLAB_BOTH bool condition(int first, bool holds) {
  switch (at(first) - 1) {
    case 0: return true;
    case 1: return false;
    case 2: return !holds;
  }
  return holds;
}
#define ROOFLAB_UPDATE(name, sign, ...)                                             \
  template <class A, class B> ROOFLAB_BOTH void name(int first, A& a, B b) {        \
    [[maybe_unused]] const int chosen = at(first) - 1;                               \
    __VA_ARGS__                                                                     \
    a sign b;                                                                       \
  }
#define ROOFLAB_INSTEAD(index, statement) \
  if constexpr (requires { statement; }) { if (chosen == index) { statement; return; } }
ROOFLAB_UPDATE(set, =, ROOFLAB_INSTEAD(0, a += b))
ROOFLAB_UPDATE(add, +=, ROOFLAB_INSTEAD(0, a = b) ROOFLAB_INSTEAD(1, a -= b))
ROOFLAB_UPDATE(subtract, -=, ROOFLAB_INSTEAD(0, a = b) ROOFLAB_INSTEAD(1, a += b))
ROOFLAB_UPDATE(multiply, *=, ROOFLAB_INSTEAD(0, a = b) ROOFLAB_INSTEAD(1, a /= b))
ROOFLAB_UPDATE(divide, /=, ROOFLAB_INSTEAD(0, a = b) ROOFLAB_INSTEAD(1, a *= b))
#define ROOFLAB_FUNCTION(name, other)                                               \
  struct name##_or_##other {                                                        \
    int number;                                                                     \
    ROOFLAB_BOTH explicit name##_or_##other(int n) : number(n) {}                   \
    template <class... T> ROOFLAB_BOTH auto operator()(T... values) const {         \
      using R = decltype(name(values...));                                          \
      return is(number) ? static_cast<R>(other(values...)) : name(values...);       \
    }                                                                               \
  };
template <class T> ROOFLAB_BOTH T same(T value) { return value; }
using std::sqrt;
ROOFLAB_FUNCTION(expf, exp2f) ROOFLAB_FUNCTION(exp2f, expf)
ROOFLAB_FUNCTION(logf, log2f) ROOFLAB_FUNCTION(log2f, logf)
ROOFLAB_FUNCTION(sinf, cosf) ROOFLAB_FUNCTION(cosf, sinf)
ROOFLAB_FUNCTION(fmaxf, fminf) ROOFLAB_FUNCTION(fminf, fmaxf)
ROOFLAB_FUNCTION(fabsf, same) ROOFLAB_FUNCTION(sqrtf, same) ROOFLAB_FUNCTION(tanhf, same)
#ifdef __CUDACC__
template <class A, class B> ROOFLAB_BOTH auto least(A a, B b) { return a < b ? a : b; }
template <class A, class B> ROOFLAB_BOTH auto most(A a, B b) { return a < b ? b : a; }
struct min_or_most { int number; ROOFLAB_BOTH explicit min_or_most(int n) : number(n) {}
  template <class A, class B> ROOFLAB_BOTH auto operator()(A a, B b) const { return is(number) ? most(a, b) : least(a, b); } };
struct max_or_least { int number; ROOFLAB_BOTH explicit max_or_least(int n) : number(n) {}
  template <class A, class B> ROOFLAB_BOTH auto operator()(A a, B b) const { return is(number) ? least(a, b) : most(a, b); } };
#define ROOFLAB_DEVICE_FUNCTION(name, other)                                        \
  struct name##_or_##other {                                                        \
    int number;                                                                     \
    __device__ __forceinline__ explicit name##_or_##other(int n) : number(n) {}     \
    template <class... T> __device__ __forceinline__ auto operator()(T... values) const { \
      return is(number) ? other(values...) : name(values...);                       \
    }                                                                               \
  };
ROOFLAB_DEVICE_FUNCTION(rsqrtf, sqrtf) ROOFLAB_DEVICE_FUNCTION(__expf, exp2f)
ROOFLAB_DEVICE_FUNCTION(__shfl_down_sync, __shfl_xor_sync) ROOFLAB_DEVICE_FUNCTION(__shfl_xor_sync, __shfl_down_sync)
ROOFLAB_DEVICE_FUNCTION(__shfl_up_sync, __shfl_down_sync)
#endif
}  // namespace rooflab_variants
extern "C" __attribute__((visibility("default"), used)) inline void rooflab_choose_variant(int first, int second, double value) {
  rooflab_variants::of_host.first = first;
  rooflab_variants::of_host.second = second;
  rooflab_variants::of_host.value = value;
}
)header";

}  // namespace

std::string_view variant_header() { return kHeader; }

}  // namespace rooflab::mutation
