# Warnings, hardening and the tools that make builds quick, the same for every target.
option(CAIRN_WERROR "Warnings are errors" ON)
set(CAIRN_SANITIZE "" CACHE STRING "address (with undefined), thread, or nothing")

add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror=switch)
if(CAIRN_WERROR)
  add_compile_options(-Werror)
endif()

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

if(CAIRN_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(CAIRN_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
  add_link_options(-fsanitize=address,undefined)
elseif(CAIRN_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD AND NOT CAIRN_SANITIZE)
  add_link_options(-fuse-ld=mold)
endif()
