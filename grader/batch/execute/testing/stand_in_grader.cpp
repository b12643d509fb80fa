// Takes the grader's place in tests:
//   stand_in_grader batch-job FOLDER         runs FOLDER/do.sh there, in the sandbox when
//                                            FOLDER/sandboxed exists
#include <cstdio>
#include <exception>
#include <string>

#include "grader/batch/execute/testing/stand_in_job.h"

int main(int argc, char** argv) {
  if (argc != 3 || std::string(argv[1]) != "batch-job") return 2;
  try {
    return rooflab::run_stand_in_job(argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
