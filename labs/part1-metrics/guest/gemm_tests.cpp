#include "gemm_tests.h"

#include "grader/contract/guest_call.h"
#include "guest_support/student_cases.h"

ROOFLAB_ENTRY(gemm_tests) {
  rooflab::StudentCases cases(call);
  for (const GemmCase& one : gemm_tests()) {
    cases.add(one.name, one.tolerance)
        .integer("m", one.m)
        .integer("n", one.n)
        .integer("k", one.k)
        .array("A", one.A)
        .array("B", one.B)
        .array("C", one.C);
  }
}
