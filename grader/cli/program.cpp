#include "grader/cli/program.h"

#include <exception>
#include <iostream>

#include "grader/device/device.h"
#include "grader/pipeline/grade.h"
#include "grader/report/text.h"
#include "grader/spec/part.h"
#include "specs/gpu_spec.h"

namespace rooflab {
namespace {

constexpr int kWrongUse = 2;
constexpr int kGraderFault = 3;

int complain(const std::exception& error, int code) {
  std::cerr << "grader: " << sanitize(error.what()) << '\n';  // it may repeat what was typed
  return code;
}

}  // namespace

int run_program(int argc, char** argv, const std::function<int(Options)>& run) {
  try {
    return run(parse_options(argc, argv));
  } catch (const Exit& exit) {
    return exit.code;
  } catch (const UsageError& error) {
    return complain(error, kWrongUse);
  } catch (const UnknownPart& error) {
    return complain(error, kWrongUse);
  } catch (const DeviceError& error) {
    return complain(error, kWrongUse);
  } catch (const gpu_spec::SpecError& error) {
    return complain(error, kWrongUse);
  } catch (const std::exception& error) {
    return complain(error, kGraderFault);
  }
}

}  // namespace rooflab
