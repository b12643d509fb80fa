#include "grader/device/guest_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "grader/contract/cuda_libraries.h"
#include "grader/device/toolkit_libraries.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

using testing::HasSubstr;
using End = RunOutcome::End;

std::filesystem::path built(const std::string& name) {
  return std::filesystem::path(ROOFLAB_BINARY_DIR) / name;
}

Call call_of(const std::string& entry, const std::string& library = "tests/libhost_tasks.so") {
  Call call;
  call.library = built(library);
  call.entry = entry;
  call.parameters = {{"m", std::int64_t{21}}, {"alpha", 5.0}, {"mode", std::string("deep")}};
  return call;
}

GuestSetup setup_of(const std::string& library = "tests/libhost_tasks.so") {
  GuestSetup setup;
  setup.program = built("bin/rooflab-guest");
  setup.library = built(library);
  setup.time_limit = std::chrono::seconds(20);
  return setup;
}

/// Runs one call in a guest of its own and tells how it ended.
RunOutcome outcome_of(const Call& call, const GuestSetup& setup) {
  GuestProcess guest(setup);
  const auto reply = guest.call(call);
  RunOutcome outcome;
  classify(reply, guest.talked_nonsense(), guest.end(), outcome);
  return outcome;
}

RunOutcome outcome_of(const std::string& entry) { return outcome_of(call_of(entry), setup_of()); }

TEST(GuestProcessTest, BringsBackTheResultsOfACall) {
  const RunOutcome outcome = outcome_of("echo");
  EXPECT_EQ(outcome.end, End::returned) << outcome.detail;
  EXPECT_EQ(outcome.results,
            (Values{{"twice", std::int64_t{42}}, {"half", 2.5}, {"text", std::string("deep!")}}));
}

TEST(GuestProcessTest, StartsWhereTheToolkitIsReachedByALink) {
  const std::filesystem::path toolkit = "/usr/local/cuda";  // whose folder has a version's name
  if (!std::filesystem::is_symlink(toolkit)) GTEST_SKIP() << toolkit << " is no link";
  GuestSetup setup = setup_of();
  add_library_folder(toolkit / "lib64", setup);
  const RunOutcome outcome = outcome_of(call_of("echo"), setup);
  EXPECT_EQ(outcome.end, End::returned) << outcome.detail << outcome.printed;
}

TEST(GuestProcessTest, MakesSeveralCallsInOneGuest) {
  GuestProcess guest(setup_of());
  for (int i = 0; i < 3; ++i) {
    const auto reply = guest.call(call_of("echo"));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->results.size(), 3U);
  }
}

TEST(GuestProcessTest, AnswersAnEmptyCallWithoutTheLibrary) {
  GuestProcess guest(setup_of("tests/libexiting_task.so"));
  EXPECT_TRUE(guest.call(Call{}));
  EXPECT_FALSE(guest.call(call_of("echo", "tests/libexiting_task.so")));
}

TEST(GuestProcessTest, AMissingRuntimeIsFoundBeforeTheLibraryIsLoaded) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  write_file_atomically(folder.path() / cuda_library("cudart"), "");  // hides one that is installed
  GuestSetup setup = setup_of();
  setup.library_path = {folder.path()};
  GuestProcess guest(setup);
  try {
    guest.prepare();
    ADD_FAILURE() << "prepared";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("cannot use the GPU: " + cuda_library("cudart") + " cannot be loaded"));
  }
}

TEST(GuestProcessTest, TellsAStubByItsPlaceAndMessage) {
  const RunOutcome outcome = outcome_of("stub");
  EXPECT_EQ(outcome.end, End::not_implemented);
  EXPECT_EQ(outcome.detail, "count the multiply-adds first");
  EXPECT_THAT(outcome.thrown.file, testing::EndsWith("host_tasks.cpp"));
  EXPECT_GT(outcome.thrown.line, 0U);
}

TEST(GuestProcessTest, TellsExceptions) {
  EXPECT_EQ(outcome_of("throws").end, End::exception);
  EXPECT_EQ(outcome_of("throws").detail, "the matrix is haunted");
  EXPECT_EQ(outcome_of("throws_integer").end, End::exception);
}

TEST(GuestProcessTest, CallsARefusedAllocationAMemoryLimit) {
  EXPECT_EQ(outcome_of("asks_for_too_much").end, End::memory_limit);
}

TEST(GuestProcessTest, TellsTheSignalOfACrash) {
  const RunOutcome outcome = outcome_of("crashes");
  EXPECT_EQ(outcome.end, End::killed);
  EXPECT_THAT(outcome.detail, HasSubstr("SIGSEGV"));
}

TEST(GuestProcessTest, AnExitIsNoReplyWhateverItPrinted) {
  const RunOutcome outcome = outcome_of("exits");
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_EQ(outcome.detail, "exit code 0");
  EXPECT_EQ(outcome.printed, "PASS 100/100\n");
}

TEST(GuestProcessTest, AnExitInAStaticConstructorIsNoReplyEither) {
  const std::string library = "tests/libexiting_task.so";
  const RunOutcome outcome = outcome_of(call_of("echo", library), setup_of(library));
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_TRUE(outcome.results.empty());
}

TEST(GuestProcessTest, EndsAGuestThatHangs) {
  GuestSetup setup = setup_of();
  setup.time_limit = std::chrono::milliseconds(400);
  EXPECT_EQ(outcome_of(call_of("hangs"), setup).end, End::time_limit);
  EXPECT_EQ(outcome_of(call_of("closes_its_channel"), setup).end, End::time_limit);
}

TEST(GuestProcessTest, EndsAGuestThatFloods) {
  const RunOutcome outcome = outcome_of("floods");
  EXPECT_EQ(outcome.end, End::output_limit);
  EXPECT_EQ(outcome.printed.size(), 1U << 20);
}

TEST(GuestProcessTest, CapturesWhatWasPrintedBeforeTheReply) {
  const RunOutcome outcome = outcome_of("prints");
  EXPECT_EQ(outcome.end, End::returned);
  EXPECT_THAT(outcome.printed, HasSubstr("from stdio, no newline"));
  EXPECT_THAT(outcome.printed, HasSubstr("from stderr"));
}

TEST(GuestProcessTest, BelievesNoForgedReply) {
  for (const char* entry : {"talks_nonsense", "talks_endlessly"}) {
    const RunOutcome outcome = outcome_of(entry);
    EXPECT_EQ(outcome.end, End::exited) << entry;
    EXPECT_EQ(outcome.detail, "its reply could not be understood");
  }
}

TEST(GuestProcessTest, AResultThatIsNoNumberStaysNone) {
  const RunOutcome outcome = outcome_of("returns_no_number");
  ASSERT_EQ(outcome.end, End::returned);
  EXPECT_TRUE(std::isnan(std::get<double>(outcome.results.at("nan"))));
}

TEST(GuestProcessTest, ALibraryWithoutTheEntryIsTheStudentsFault) {
  const RunOutcome outcome = outcome_of("no_such_entry");
  EXPECT_EQ(outcome.end, End::exception);
  EXPECT_THAT(outcome.detail, HasSubstr("rooflab_entry_no_such_entry"));
}

TEST(GuestProcessTest, WorksWithoutASandboxToo) {
  GuestSetup setup = setup_of();
  setup.sandbox = false;
  EXPECT_EQ(outcome_of(call_of("echo"), setup).end, End::returned);
}

}  // namespace
}  // namespace rooflab
