# Warnings, hardening and the tools that make builds quick, the same for every target.
option(CAIRN_WERROR "Warnings are errors" ON)
set(CAIRN_SANITIZE "" CACHE STRING "address (with undefined), thread, or nothing")

# g++ 12 sees overlapping copies in every second concatenation of strings (its bug 105651).
add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror=switch
                    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(CAIRN_WERROR)
  add_compile_options(-Werror)
endif()

# The same everywhere, so that all libraries can share one precompiled header.
add_compile_options(-pthread)

# Results never depend on whether the machine can fuse a multiply and an add.
add_compile_options(-ffp-contract=off)

add_compile_options(-fstack-protector-strong -fstack-clash-protection -fcf-protection=full
                    $<$<CXX_COMPILER_ID:GNU>:-ftrivial-auto-var-init=zero> -fPIE)
add_compile_definitions(_GLIBCXX_ASSERTIONS)
add_link_options(-pie -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
if(NOT CAIRN_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  # Fortify needs optimisation and does not mix with sanitizers.
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()

if(CAIRN_SANITIZE)
  # g++ takes what a sanitizer adds to the standard containers for uninitialized values.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(CAIRN_SANITIZE STREQUAL "address")
  # Without what finds little beside the address sanitizer and takes a quarter of the time to compile.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,vptr -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(CAIRN_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
  add_link_options(-fsanitize=address,undefined)
elseif(CAIRN_FUZZ AND NOT CAIRN_SANITIZE)
  # For many executions: only edges are counted. Tracing every comparison as well costs more than the code under test.
  add_compile_options(-fsanitize-coverage=inline-8bit-counters,pc-table)
elseif(CAIRN_SANITIZE STREQUAL "thread")
  # Boost.Asio has fences, which g++ warns of: the sanitizer does not see them.
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  add_link_options(-fsanitize=thread)
endif()

# Saves a quarter of a build from nothing. Not in debug builds, where ccache does the work.
option(CAIRN_PCH "Precompile the headers that most files include" OFF)
if(CAIRN_PCH)
  # Out of a precompiled header g++ 12 no longer knows that std::string is a system header, and reports what it otherwise
  # keeps to itself (its bugs 105329, 105562). Debug builds keep these warnings.
  add_compile_options(-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()

# Compiles up to twelve files of a library as one: their headers are read and their templates made once, which takes 40 % of
# the time. Not in debug builds: there each file shows that it includes what it needs.
option(CAIRN_UNITY "Compile several files as one" OFF)
set(CMAKE_UNITY_BUILD ${CAIRN_UNITY})
if(CAIRN_UNITY)
  # Names of one file are not meant for the next. Debug builds and the lint keep these warnings.
  add_compile_options(-Wno-shadow $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  # g++ inlines less in a large unit: the hot path took 3 to 9 % more instructions than in files of their own.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=large-unit-insns=100000>)
endif()
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)

# g++ collects garbage from 128 MB on; two large files took 7 % less time without, and 744 instead of 646 MB at most.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
