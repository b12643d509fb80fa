// A task library without GPU code: every way in which a student's function can end, behave or
// misbehave.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include "grader/contract/guest_call.h"
#include "labs/toolkit/todo.h"

namespace {

constexpr int kChannel = 3;

void say(const std::string& text) {
  [[maybe_unused]] const ssize_t written = write(kChannel, text.data(), text.size());
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

ROOFLAB_ENTRY(returns_no_number) { call.result("nan", std::numeric_limits<double>::quiet_NaN()); }

/// y = alpha x, on memory that the host can reach: what the stand-in for CUDA hands out.
ROOFLAB_ENTRY(scale_on_host) {
  const auto* x = call.tensor<const float>("x");
  auto* y = call.tensor<float>("y");
  for (std::int64_t i = 0; i < call.integer("n"); ++i) {
    y[i] = static_cast<float>(call.real("alpha")) * x[i];
  }
}
