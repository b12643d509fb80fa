#include "grader/author/verify/generated.h"

#include "grader/author/starter.h"
#include "grader/spec/part.h"

namespace rooflab::verify {

Check generated_check(const Installation& installation) {
  return {.claim = {.proof = Proof::generated}, .judge = [&installation](const Ran&) {
            Outcome outcome;
            try {
              const HasPart has_part = has_one_of(list_parts(installation.labs()));
              for (const std::string& difference : compare_starter(
                       installation.starter(), generate_starter(installation.solutions(), has_part),
                       has_part)) {
                outcome.failures.push_back(
                    {"starter/" + difference + "; write it anew with grader starter --write",
                     "build/bin/grader starter --check"});
              }
            } catch (const StarterError& error) {
              outcome.failures.push_back({error.what(), "build/bin/grader starter --check"});
            }
            return outcome;
          }};
}

}  // namespace rooflab::verify
