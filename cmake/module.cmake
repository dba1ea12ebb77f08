# nephila_module(NAME SOURCES ... [DEPS ...] [TESTS ...] [TEST_DEPS ...]
#                [FUZZERS ...] [THREADS])
#
# One folder under src/ is one module: a static library nephila_NAME of SOURCES,
# one test program NAME_test of TESTS, one libFuzzer program per file in
# FUZZERS. DEPS are other modules by their short names, or imported targets.
# THREADS labels the tests for the thread sanitizer.
# tools/check_layers.py checks the includes against the same order.

function(nephila_module name)
  cmake_parse_arguments(arg "THREADS" "" "SOURCES;DEPS;TESTS;TEST_DEPS;FUZZERS" ${ARGN})
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

  if(NEPHILA_TESTS AND arg_TESTS)
    add_executable(${name}_test ${arg_TESTS})
    target_link_libraries(${name}_test PRIVATE ${target} ${arg_TEST_DEPS}
                          nephila_source_path GTest::gtest_main)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # g++ has it in no group of warnings; small numbers of tests are what they
      # look like.
      target_compile_options(${name}_test PRIVATE -Wno-sign-conversion)
    endif()
    # A test is compiled more often than it runs: half the time of a build was
    # spent on making tests fast. What they test keeps its flags.
    if(NEPHILA_SANITIZE)
      target_compile_options(${name}_test PRIVATE -O0)
      # UBSan's checks of the tests' own lines are a quarter of their build.
      if(NEPHILA_SANITIZE MATCHES "undefined")
        target_compile_options(${name}_test PRIVATE -fno-sanitize=undefined)
      endif()
    else()
      target_compile_options(${name}_test PRIVATE -O1)
    endif()
    # One label, as ctest -L matches parts of it and gtest_discover_tests takes
    # a list of labels for properties.
    if(arg_THREADS)
      set(label fast+threads)
    else()
      set(label fast)
    endif()
    gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST
                         PROPERTIES LABELS ${label} TIMEOUT 300)
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
