# nephila_module(NAME SOURCES ... [DEPS ...] [TESTS ...] [TEST_DEPS ...]
#                [FUZZERS ...] [THREADS] [THREADS_TESTS ...])
#
# One folder under src/ is one module: a static library nephila_NAME of SOURCES,
# one test program NAME_test of TESTS, one libFuzzer program per file in
# FUZZERS. DEPS are other modules by their short names, or imported targets.
# THREADS marks a module that starts threads: NAME_test has the label `threads`
# and is built for the thread sanitizer. A module with many tests on one thread
# names those that have several in THREADS_TESTS: they are a second program,
# NAME_threads_test, with the label in place of NAME_test. The target
# threads_tests builds the programs of all modules with THREADS, and
# tools/check_threads.py looks that none is missing.
# tools/check_layers.py checks the includes against the same order.

function(nephila_module name)
  cmake_parse_arguments(arg "THREADS" ""
    "SOURCES;DEPS;TESTS;TEST_DEPS;FUZZERS;THREADS_TESTS" ${ARGN})
  if(arg_THREADS_TESTS AND NOT arg_THREADS)
    message(FATAL_ERROR "${name}: THREADS_TESTS without THREADS")
  endif()
  set(target nephila_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  if(NEPHILA_FUZZERS)
    # What fuzzers look for new paths in; tests run it all the same.
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  foreach(dep IN LISTS arg_DEPS)
    if(TARGET nephila_${dep})
      target_link_libraries(${target} PUBLIC nephila_${dep})
    else()
      target_link_libraries(${target} PUBLIC ${dep})
    endif()
  endforeach()

  if(NEPHILA_TESTS AND arg_THREADS_TESTS)
    nephila_test(${name}_test fast SOURCES ${arg_TESTS}
                 DEPS ${target} ${arg_TEST_DEPS})
    nephila_test(${name}_threads_test fast+threads SOURCES ${arg_THREADS_TESTS}
                 DEPS ${target} ${arg_TEST_DEPS})
    nephila_threads_test(${name} ${name}_threads_test)
  elseif(NEPHILA_TESTS AND arg_THREADS)
    nephila_test(${name}_test fast+threads SOURCES ${arg_TESTS}
                 DEPS ${target} ${arg_TEST_DEPS})
    nephila_threads_test(${name} ${name}_test)
  elseif(NEPHILA_TESTS AND arg_TESTS)
    nephila_test(${name}_test fast SOURCES ${arg_TESTS}
                 DEPS ${target} ${arg_TEST_DEPS})
  endif()

  if(NEPHILA_FUZZERS)
    foreach(source IN LISTS arg_FUZZERS)
      get_filename_component(fuzzer ${source} NAME_WE)
      add_executable(${fuzzer} ${source})
      target_link_libraries(${fuzzer} PRIVATE ${target})
      target_compile_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
      target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
      add_dependencies(fuzzers ${fuzzer})
    endforeach()
  endif()
endfunction()

# A program of tests. One label, as ctest -L matches parts of it and
# gtest_discover_tests takes a list of labels for properties.
function(nephila_test program label)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${program} ${arg_SOURCES})
  target_link_libraries(${program} PRIVATE ${arg_DEPS} nephila_source_path
                        GTest::gtest_main)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ has it in no group of warnings; small numbers of tests are what they
    # look like.
    target_compile_options(${program} PRIVATE -Wno-sign-conversion)
  endif()
  # A test is compiled more often than it runs: half the time of a build was
  # spent on making tests fast. What they test keeps its flags.
  if(NEPHILA_SANITIZE)
    target_compile_options(${program} PRIVATE -O0)
    # UBSan's checks of the tests' own lines are a quarter of their build.
    if(NEPHILA_SANITIZE MATCHES "undefined")
      target_compile_options(${program} PRIVATE -fno-sanitize=undefined)
    endif()
  else()
    target_compile_options(${program} PRIVATE -O1)
  endif()
  gtest_discover_tests(${program} DISCOVERY_MODE PRE_TEST
                       PROPERTIES LABELS ${label} TIMEOUT 300)
endfunction()

# `program` has the tests of a module for the thread sanitizer. The list
# threads_tests.txt in the build folder is for tools/check_threads.py.
function(nephila_threads_test module program)
  if(NOT TARGET threads_tests)
    add_custom_target(threads_tests)
    file(WRITE ${CMAKE_BINARY_DIR}/threads_tests.txt "")
  endif()
  add_dependencies(threads_tests ${program})
  file(APPEND ${CMAKE_BINARY_DIR}/threads_tests.txt
       "${module} ${CMAKE_CURRENT_BINARY_DIR}/${program}\n")
endfunction()
