#include "simgpu/model/wait_trace.h"

#include <gmock/gmock.h>

namespace simgpu::model {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

TEST(WaitTrace, ChargesALoadForTheTimeThatItsUserWaits) {
  WaitTrace trace(2);
  trace.begin_code();
  const WaitTrace::Node load = trace.start(0, 0, WaitTrace::kNone);
  const WaitTrace::Node sum = trace.start(1, 400, load);
  trace.charge_chain(sum, 0, 401, 401);
  EXPECT_THAT(trace.by_instruction(), ElementsAre(DoubleEq(400), DoubleEq(1)));
}

TEST(WaitTrace, WhatWasUnderWayBeforeIsChargedFromTheBeginningOfTheCode) {
  WaitTrace trace(2);
  trace.begin_code();
  const WaitTrace::Node load = trace.start(0, 0, WaitTrace::kNone);
  trace.begin_code();
  const WaitTrace::Node sum = trace.start(1, 400, load);
  trace.charge_chain(sum, 100, 401, 301);
  EXPECT_THAT(trace.by_instruction(), ElementsAre(DoubleEq(300), DoubleEq(1)));
}

TEST(WaitTrace, SharesTheTimeOfCodeThatNeverWaitsByIssue) {
  WaitTrace trace(2);
  trace.begin_code();
  trace.issue(trace.start(0, 0, WaitTrace::kNone), 1);
  trace.issue(trace.start(1, 0, WaitTrace::kNone), 3);
  trace.charge_issue(8);
  EXPECT_THAT(trace.by_instruction(), ElementsAre(DoubleEq(2), DoubleEq(6)));
}

TEST(WaitTrace, ChargesFurtherTurnsAsOneThatIsKnown) {
  WaitTrace trace(2);
  const WaitTrace::Node first = trace.start(0, 0, WaitTrace::kNone);
  const WaitTrace::Node second = trace.start(1, 0, WaitTrace::kNone);
  trace.charge(first, 1);
  const std::size_t turn = trace.charges();
  trace.charge(second, 5);
  trace.charge(first, 5);
  trace.charge_like(trace.since(turn), 100);
  EXPECT_THAT(trace.by_instruction(), ElementsAre(DoubleEq(56), DoubleEq(55)));
}

}  // namespace
}  // namespace simgpu::model
