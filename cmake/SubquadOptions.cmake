# Options of the build. PROJECT_IS_TOP_LEVEL decides the defaults: as a subproject, subquad brings its libraries only.
option(SUBQUAD_DRIVERS "Build the subquad command" ${PROJECT_IS_TOP_LEVEL})
option(SUBQUAD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SUBQUAD_BENCH "Build the benchmarks" OFF)
option(SUBQUAD_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
option(SUBQUAD_WERROR "Warnings are errors" ${PROJECT_IS_TOP_LEVEL})
set(SUBQUAD_SANITIZE "" CACHE STRING "Value for -fsanitize=, for example address,undefined")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Type of build" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Almost every file sees this header through <subquad/core/count.hpp>, and it takes longer to parse than all of ours.
set(SUBQUAD_PRECOMPILED <boost/multiprecision/gmp.hpp>)

# ccache serves files with precompiled headers only if it may ignore the time stamps inside them.
find_program(SUBQUAD_CCACHE ccache)
if(SUBQUAD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${SUBQUAD_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  else()
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

# Flags of our own targets only; they are not exported to consumers.
add_library(subquad_build_flags INTERFACE)
target_compile_options(subquad_build_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor)
if(SUBQUAD_WERROR)
  target_compile_options(subquad_build_flags INTERFACE -Werror)
endif()
if(SUBQUAD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # coverage feedback from the libraries, too
endif()
if(SUBQUAD_SANITIZE)
  add_compile_options(-fsanitize=${SUBQUAD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SUBQUAD_SANITIZE})
endif()
