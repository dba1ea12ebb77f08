# Warnings, sanitizers, coverage and ccache: everything that every target gets.

add_compile_options(-fno-omit-frame-pointer)
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wconversion;-Wnon-virtual-dtor;-Werror>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of g++ 12 at -O2: overlapping copies in `"x" + std::string`,
  # and members of moved-from shared_ptrs and variants. The sanitizers and
  # clang's analyzer look for the real ones.
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-maybe-uninitialized>")
else()
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety>)
endif()

# Programs find the repository's test data from wherever they are built, and
# no absolute path of the build machine ends up in a release binary.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)

if(NEPHILA_SANITIZE)
  add_compile_options(-fsanitize=${NEPHILA_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${NEPHILA_SANITIZE})
endif()
if(NEPHILA_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

# One cache for all checkouts: what one of them has compiled, no other compiles
# again.
find_program(NEPHILA_CCACHE ccache)
if(NEPHILA_CCACHE)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 ${NEPHILA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
