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

# Hardening of what users run, checked by tools/check_hardening.sh. Optimised
# builds without instrumentation only: _FORTIFY_SOURCE needs -O1 and replaces
# the functions that the sanitizers intercept.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT NEPHILA_SANITIZE AND
   NOT NEPHILA_COVERAGE)
  add_compile_options(-fPIE -fstack-protector-strong -fstack-clash-protection
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  # Containers check their indexes and that front() and * have something.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-D_GLIBCXX_ASSERTIONS>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
    add_compile_options(-fcf-protection=full)
  endif()
  add_link_options(-pie -Wl,-z,relro,-z,now,-z,noexecstack)
endif()

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
