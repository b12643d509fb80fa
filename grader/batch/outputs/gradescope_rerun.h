#pragma once

#include <map>
#include <string>

/// An autograder for Gradescope that grades nothing: it hands out the results that a batch has. So
/// a class that Gradescope's export collected gets scores and feedback in its own place: an
/// autograder that is uploaded later can be rerun on all submissions at once.
/// https://guides.gradescope.com/hc/en-us/articles/22066635961357-Grading-a-Programming-Assignment
namespace rooflab {

/// Where the autograder has the results.json of a submission, by Gradescope's number of it.
std::string rerun_result_name(const std::string& submission);

/// setup.sh and run_autograder, as Gradescope wants them.
/// https://gradescope-autograders.readthedocs.io/en/latest/specs/
std::map<std::string, std::string> rerun_programs();

}  // namespace rooflab
