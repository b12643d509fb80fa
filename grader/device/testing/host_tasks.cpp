// A task library without GPU code: every way in which a student's function can end, behave or
// misbehave.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "grader/contract/guest_call.h"
#include "labs/toolkit/todo.h"

namespace {

constexpr int kChannel = 3;
constexpr int kPool = 4;  // of the GPU's memory
constexpr const char* kEarlyReply =
    R"({"status":"returned","detail":"","cuda_error":"","results":{},"elapsed_us":5})"
    "\n";

void say(const std::string& text, int channel = kChannel) {
  [[maybe_unused]] const ssize_t written = write(channel, text.data(), text.size());
}

/// The call channel, once it is ours alone: the guest gets its calls by another one, and what it
/// replies there is lost.
int take_channel() {
  static const int taken = [] {
    const int itself = dup(kChannel);
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("no sockets");
    dup2(ends[1], kChannel);
    const auto carry = [](int from, int to) {
      char buffer[4096];
      for (ssize_t got = 0; (got = read(from, buffer, sizeof buffer)) > 0;) {
        if (to >= 0 && write(to, buffer, static_cast<std::size_t>(got)) != got) return;
      }
    };
    std::thread(carry, itself, ends[0]).detach();
    std::thread(carry, ends[0], -1).detach();
    return itself;
  }();
  return taken;
}

/// Keeps all others from the stand-in's GPU, or lets them in again.
void have_gpu(bool alone) {
  struct flock turn {};
  turn.l_type = static_cast<short>(alone ? F_WRLCK : F_UNLCK);
  fcntl(kPool, F_SETLKW, &turn);
}

/// y = alpha x, on memory that the host can reach: what the stand-in for CUDA hands out.
void scale(rooflab::GuestCall& call, double alpha) {
  const auto* x = call.tensor<const float>("x");
  auto* y = call.tensor<float>("y");
  for (std::int64_t i = 0; i < call.integer("n"); ++i) {
    y[i] = static_cast<float>(alpha) * x[i];
  }
}

std::vector<float> contents(rooflab::GuestCall& call, const char* tensor) {
  const auto* first = call.tensor<const float>(tensor);
  return {first, first + call.integer("n")};
}

void wait_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// Takes so much of a processor's time, which passes for a thread only while it runs.
void compute_ms(int milliseconds) {
  const auto used_ms = [] {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
  };
  for (const double start = used_ms(); used_ms() - start < milliseconds;) {
  }
}

/// Whether nobody has written an output since the grader poisoned it.
bool is_unwritten(const float* element) {
  return *reinterpret_cast<const volatile std::uint32_t*>(element) == 0xFFFFFFFF;
}

/// Does the work of 10 ms whenever y is poisoned, without waiting for a call.
void work_ahead(rooflab::GuestCall& call) {
  const auto* from = call.tensor<const float>("x");
  auto* to = call.tensor<float>("y");
  const std::int64_t n = call.integer("n");
  const auto alpha = static_cast<float>(call.real("alpha"));
  static const bool started = [=] {
    std::thread([=] {
      for (;;) {
        if (is_unwritten(to + n - 1)) {
          compute_ms(10);
          for (std::int64_t i = 0; i < n; ++i) to[i] = alpha * from[i];
        }
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    }).detach();
    return true;
  }();
  while (started && is_unwritten(to + n - 1)) {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

}  // namespace

ROOFLAB_ENTRY(echo) {
  call.result("twice", 2 * call.integer("m"));
  call.result("half", call.real("alpha") / 2);
  call.result("text", call.text("mode") + "!");
}

ROOFLAB_ENTRY(stub) {
  (void)call;
  rooflab::todo("count the multiply-adds first");
}

ROOFLAB_ENTRY(throws) {
  (void)call;
  throw std::runtime_error("the matrix is haunted");
}

ROOFLAB_ENTRY(throws_integer) {
  (void)call;
  throw 42;
}

ROOFLAB_ENTRY(asks_for_too_much) { call.result("p", std::int64_t{*new char[1ULL << 46]}); }

ROOFLAB_ENTRY(crashes) {
  (void)call;
  volatile int* nowhere = nullptr;
  *nowhere = 1;
}

ROOFLAB_ENTRY(exits) {
  (void)call;
  std::cout << "PASS 100/100" << std::endl;
  _exit(0);
}

ROOFLAB_ENTRY(hangs) {
  (void)call;
  for (;;) {
    pause();
  }
}

/// As on a machine with other work.
ROOFLAB_ENTRY(waits_its_turn) {
  (void)call;
  wait_ms(1200);
}

ROOFLAB_ENTRY(floods) {
  (void)call;
  for (;;) {
    std::puts("all tests passed");
  }
}

ROOFLAB_ENTRY(prints) {
  (void)call;
  std::printf("from stdio, no newline");
  std::cerr << ", from stderr" << std::endl;
}

ROOFLAB_ENTRY(talks_nonsense) {
  (void)call;
  say("PASS 100/100\n");
}

ROOFLAB_ENTRY(talks_endlessly) {
  (void)call;
  for (;;) {
    say(std::string(65536, '['));
  }
}

ROOFLAB_ENTRY(closes_its_channel) {
  (void)call;
  close(kChannel);
  for (;;) {
    pause();
  }
}

ROOFLAB_ENTRY(names_its_descriptors) {
  std::string open;
  for (int number = 0; number < 1024; ++number) {
    if (fcntl(number, F_GETFD) >= 0) open += std::to_string(number) + ' ';
  }
  call.result("open", open);
}

/// What it was told of GPUs.
ROOFLAB_ENTRY(names_its_gpu) {
  const auto value_of = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  call.result("gpu", value_of("CUDA_VISIBLE_DEVICES"));
  call.result("mps", value_of("CUDA_MPS_PIPE_DIRECTORY"));
}

ROOFLAB_ENTRY(returns_no_number) { call.result("nan", std::numeric_limits<double>::quiet_NaN()); }

ROOFLAB_ENTRY(scale_on_host) { scale(call, call.real("alpha")); }

/// Takes so long that other work on the machine does not make it half as long again.
ROOFLAB_ENTRY(scale_slowly) {
  wait_ms(30);
  scale(call, call.real("alpha"));
}

// What follows is called again and again for its time, and misbehaves between the calls.

/// Wrong from the fifth call on.
ROOFLAB_ENTRY(right_at_first) {
  static int calls = 0;
  scale(call, ++calls < 5 ? call.real("alpha") : 0);
}

/// Wrong in nine of ten calls, and never in the first two.
ROOFLAB_ENTRY(right_now_and_then) {
  static int calls = 0;
  ++calls;
  scale(call, calls < 3 || calls % 10 == 0 ? call.real("alpha") : 0);
}

/// Keeps its first result, by the address of the input.
ROOFLAB_ENTRY(keeps_by_address) {
  static std::map<const void*, std::vector<float>> kept;
  const auto [found, is_new] = kept.try_emplace(call.tensor<const float>("x"));
  if (is_new) {
    scale(call, call.real("alpha"));
    found->second = contents(call, "y");
  }
  std::ranges::copy(found->second, call.tensor<float>("y"));
}

/// Keeps its last result, by the contents of the input.
ROOFLAB_ENTRY(keeps_by_contents) {
  static std::vector<float> seen;
  static std::vector<float> kept;
  if (contents(call, "x") != seen) {
    seen = contents(call, "x");
    wait_ms(300);  // longer than other work on the machine delays a call
    scale(call, call.real("alpha"));
    kept = contents(call, "y");
  }
  std::ranges::copy(kept, call.tensor<float>("y"));
}

/// Says that it has come back, and works on.
ROOFLAB_ENTRY(replies_early) {
  say(kEarlyReply);
  wait_ms(20);
  scale(call, call.real("alpha"));
}

/// Replies at once, and has what it started on the GPU come to its end before anybody else gets
/// there.
ROOFLAB_ENTRY(replies_while_it_has_the_gpu) {
  const int channel = take_channel();
  have_gpu(true);
  say(kEarlyReply, channel);
  wait_ms(10);
  scale(call, call.real("alpha"));
  have_gpu(false);
}

/// Comes back with zeros, and writes what is right a moment later.
ROOFLAB_ENTRY(finishes_after_its_reply) {
  scale(call, 0);
  const auto* from = call.tensor<const float>("x");
  auto* to = call.tensor<float>("y");
  std::thread([=, n = call.integer("n"), alpha = static_cast<float>(call.real("alpha"))] {
    wait_ms(10);
    for (std::int64_t i = 0; i < n; ++i) to[i] = alpha * from[i];
  }).detach();
}

/// Has its events say a thousandth of the time.
ROOFLAB_ENTRY(shrinks_its_time) {
  setenv("ROOFLAB_FAKE_CUDA_EVENT_SCALE", "0.001", 1);
  wait_ms(5);
  scale(call, call.real("alpha"));
}

/// Takes a long time and a short one by turns.
ROOFLAB_ENTRY(takes_two_times) {
  static int calls = 0;
  wait_ms(++calls % 2 == 0 ? 2 : 16);
  scale(call, call.real("alpha"));
}

/// Tells how many bytes the device's own pool keeps when they are freed: the stand-in says so.
ROOFLAB_ENTRY(asks_what_is_kept) {
  const char* kept = getenv("ROOFLAB_FAKE_CUDA_KEPT");
  call.result("kept", std::string(kept == nullptr ? "" : kept));
  scale(call, call.real("alpha"));
}

/// Dies when its inputs are others.
ROOFLAB_ENTRY(dies_of_fresh_inputs) {
  static const std::vector<float> seen = contents(call, "x");
  if (contents(call, "x") != seen) std::abort();
  scale(call, call.real("alpha"));
}

/// Has a thread that sees new inputs come, and does the work before the call.
ROOFLAB_ENTRY(works_ahead) { work_ahead(call); }

/// The same, and a timer that continues the process when somebody stops it.
ROOFLAB_ENTRY(works_ahead_and_wakes_itself) {
  static const bool armed = [] {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGCONT;
    timer_t timer{};
    const itimerspec often{{0, 1'000'000}, {0, 1'000'000}};
    return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
           timer_settime(timer, 0, &often, nullptr) == 0;
  }();
  if (!armed) throw std::runtime_error("no timer");
  work_ahead(call);
}
