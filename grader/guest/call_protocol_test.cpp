#include "grader/guest/call_protocol.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <string>

namespace rooflab {
namespace {

TEST(CallProtocolTest, ACallArrivesAsItWasSent) {
  Call call;
  call.library = "/some/where/task.so";
  call.entry = "gemm";
  call.measured = true;
  call.parameters = {
      {"m", std::int64_t{1} << 62}, {"alpha", 3.0}, {"mode", std::string("a\"b\n\\")}};
  call.tensors["A"] = {0xFFFF'0000'0000'1234ULL, ""};
  call.tensors["B"] = {0, std::string(128, 'f'), 84, true};
  call.gives_stream = call.holds_to_stream = true;
  call.stream = 17;
  call.libraries = {"libcublas.so.13"};
  call.proves_kernel = true;
  call.beside = CallBeside{{{"m", std::int64_t{5}}}, {{"A", {0x5678, ""}}}, 18};
  const std::string line = encode(call);
  EXPECT_EQ(line.find('\n'), std::string::npos) << "a call is one line";
  const Call got = decode_call(line);
  EXPECT_EQ(got.libraries, call.libraries);
  EXPECT_TRUE(got.proves_kernel);
  EXPECT_EQ(got.library, call.library);
  EXPECT_EQ(got.entry, call.entry);
  EXPECT_TRUE(got.measured);
  EXPECT_TRUE(got.gives_stream);
  EXPECT_TRUE(got.holds_to_stream);
  EXPECT_EQ(got.stream, 17U);
  EXPECT_EQ(got.parameters, call.parameters);
  EXPECT_EQ(got.tensors.at("A").address, call.tensors["A"].address);
  EXPECT_EQ(got.tensors.at("B").exported, call.tensors["B"].exported);
  EXPECT_EQ(got.tensors.at("B").own_bytes, 84U);
  EXPECT_TRUE(got.tensors.at("B").is_copied);
  ASSERT_TRUE(got.beside);
  EXPECT_EQ(got.beside->parameters, call.beside->parameters);
  EXPECT_EQ(got.beside->tensors.at("A").address, 0x5678U);
  EXPECT_EQ(got.beside->stream, 18U);
}

TEST(CallProtocolTest, AVariantArrivesWhateverItsValueIs) {
  EXPECT_FALSE(decode_call(encode(Call{})).variant);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.1, -0.0, kInfinity, std::numeric_limits<double>::denorm_min()}) {
    Call call;
    call.variant = {std::numeric_limits<std::int32_t>::min(), 7, value};
    const Call got = decode_call(encode(call));
    ASSERT_TRUE(got.variant);
    EXPECT_EQ(got.variant->first, std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(got.variant->second, 7);
    EXPECT_EQ(got.variant->value, value);
    EXPECT_EQ(std::signbit(got.variant->value), std::signbit(value));
  }
  Call call;
  call.variant = {1, 2, std::nan("")};
  EXPECT_TRUE(std::isnan(decode_call(encode(call)).variant.value().value));
}

TEST(CallProtocolTest, AReplyArrivesAsItWasSent) {
  Reply reply;
  reply.status = Reply::Status::not_implemented;
  reply.detail = "choose a block shape";
  reply.thrown = {"gemm.cu", 12, "the grid"};
  reply.cuda_error = "cudaErrorInvalidValue";
  reply.results = {{"flops", std::int64_t{-7}}, {"ratio", 0.25}, {"bound", std::string("memory")}};
  reply.elapsed_us = 12.5;
  const auto got = decode_reply(encode(reply));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, reply.status);
  EXPECT_EQ(got->detail, reply.detail);
  EXPECT_EQ(got->thrown.file, "gemm.cu");
  EXPECT_EQ(got->thrown.line, 12U);
  EXPECT_EQ(got->thrown.advice, "the grid");
  EXPECT_EQ(got->cuda_error, reply.cuda_error);
  EXPECT_EQ(got->results, reply.results);
  EXPECT_EQ(got->elapsed_us, 12.5);
}

TEST(CallProtocolTest, AResultThatIsNoNumberArrivesAsOneThatCannotPass) {
  Reply reply;
  reply.results = {{"nan", std::numeric_limits<double>::quiet_NaN()},
                   {"inf", std::numeric_limits<double>::infinity()}};
  const auto got = decode_reply(encode(reply));
  ASSERT_TRUE(got);
  EXPECT_TRUE(std::isnan(std::get<double>(got->results.at("nan"))));
  EXPECT_TRUE(std::isnan(std::get<double>(got->results.at("inf"))));
}

TEST(CallProtocolTest, TextThatIsNotUtf8StillArrives) {
  Reply reply;
  reply.detail = std::string("caf\xE9 ") + '\0' + " \xFF";
  EXPECT_TRUE(decode_reply(encode(reply)));
}

TEST(CallProtocolTest, LongDetailsAreCut) {
  Reply reply;
  reply.detail = std::string(1U << 22, 'x');
  EXPECT_LT(encode(reply).size(), 10000U);
}

TEST(CallProtocolTest, FilesOfUpToAMebibyteArriveWhole) {
  Reply reply;
  for (const char* name : {"csv", "json", "svg"}) {
    reply.results[name] = std::string(kMaxResultBytes, '"');  // twice as long on the way
  }
  const auto got = decode_reply(encode(reply));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, Reply::Status::returned);
  EXPECT_EQ(got->results, reply.results);
}

TEST(CallProtocolTest, LongerFilesAreToldAndNotCut) {
  Reply reply;
  reply.results = {{"svg", std::string(kMaxResultBytes + 1, 'x')}};
  auto got = decode_reply(encode(reply));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, Reply::Status::too_long);
  EXPECT_TRUE(got->results.empty());

  reply.results.clear();
  for (char name = 'a'; name <= 't'; ++name) {
    reply.results[std::string(1, name)] = std::string(kMaxResultBytes, 'x');
  }
  got = decode_reply(encode(reply));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, Reply::Status::too_long) << "together they are longer than a reply";

  got = decode_reply(
      R"({"status":"returned","detail":"","cuda_error":"","elapsed_us":0,"results":{"a":")" +
      std::string(kMaxResultBytes + 1, 'x') + "\"}}");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, Reply::Status::too_long) << "whatever the guest makes of it";
}

TEST(CallProtocolTest, RepliesOfAMillionValuesAreRefused) {
  std::ostringstream text;
  text << R"({"status":"returned","detail":"","cuda_error":"","elapsed_us":0,"results":{"first":0)";
  for (int i = 0; i < 1'000'000; ++i) text << ",\"" << i << "\":0";
  EXPECT_FALSE(decode_reply(text.str() + "}}"));
}

TEST(CallProtocolTest, ForgedRepliesAreRefused) {
  const std::string good = encode(Reply{});
  ASSERT_TRUE(decode_reply(good));
  const std::vector<std::string> forged = {
      "",
      "PASS 100/100",
      "null",
      "[]",
      "{}",
      R"({"status":"returned","detail":"","line":-1,"file":"","advice":"","cuda_error":"","results":{},"elapsed_us":0})",
      R"({"status":"returned","detail":"","line":3,"cuda_error":"","results":{},"elapsed_us":0})",
      R"({"status":"passed","detail":"","cuda_error":"","results":{},"elapsed_us":0})",
      R"({"status":3,"detail":"","cuda_error":"","results":{},"elapsed_us":0})",
      R"({"status":"returned","detail":[],"cuda_error":"","results":{},"elapsed_us":0})",
      R"({"status":"returned","detail":"","cuda_error":"","results":[1],"elapsed_us":0})",
      R"({"status":"returned","detail":"","cuda_error":"","results":{"a":[1]},"elapsed_us":0})",
      R"({"status":"returned","detail":"","cuda_error":"","results":{},"elapsed_us":"0"})",
      std::string(1U << 20, '['),
      good.substr(0, good.size() - 1),
      good + good,
      "{\"status\":\"\xFF\"}",
  };
  for (const std::string& text : forged) {
    EXPECT_FALSE(decode_reply(text)) << text.substr(0, 100);
  }
}

TEST(CallProtocolTest, DamagedRepliesAreHarmless) {
  Reply reply;
  reply.results = {{"flops", std::int64_t{7}}, {"bound", std::string("memory")}};
  const std::string good = encode(reply);
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    for (int change = 0; change < 3; ++change) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    EXPECT_NO_THROW(decode_reply(text));
  }
}

}  // namespace
}  // namespace rooflab
