# simgpu_add_test(NAME <name> COMMAND <program> [<argument> ...] [GPU <name>] [OPTIONS <option of simgpu run> ...])
#
# A test that runs a CUDA program on the simulated GPU, an A100 unless GPU says otherwise. The program is a target or a
# file, built with -cudart shared. The test fails when the program does, or when a checker finds something.
function(simgpu_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;GPU" "COMMAND;OPTIONS")
  if(NOT arg_NAME OR NOT arg_COMMAND OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "simgpu_add_test(NAME <name> COMMAND <program> [<argument> ...] [GPU <name>] [OPTIONS ...])")
  endif()
  if(NOT arg_GPU)
    set(arg_GPU a100)
  endif()
  list(POP_FRONT arg_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  add_test(NAME ${arg_NAME} COMMAND simgpu::run run --gpu ${arg_GPU} ${arg_OPTIONS} -- ${program} ${arg_COMMAND})
endfunction()
