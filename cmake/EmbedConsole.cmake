# cairn_embed_console(TARGET): the web console of console/ as constants of the program. CAIRN_CONSOLE says where it comes from:
#   AUTO    built from console/ and its lock file; needs Node.js and npm
#   FOLDER  built elsewhere: the unpacked archive that the target console_archive makes
#   OFF     the program has no console
# Only compressed files are in the program, in one object: an assembler copies them faster than a compiler reads them.
set(CAIRN_EMBED_CONSOLE ${CMAKE_CURRENT_LIST_FILE})

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(CAIRN_CONSOLE AUTO CACHE STRING "AUTO, OFF, or the folder of a console that was built elsewhere")
  enable_language(ASM)
endif()

function(cairn_embed_console target)
  set(out ${CMAKE_BINARY_DIR}/generated/${target}/api)
  get_filename_component(folder "${CAIRN_CONSOLE}" ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
  set(needs "")
  if(CAIRN_CONSOLE STREQUAL "AUTO")
    set(source ${CMAKE_SOURCE_DIR}/console)
    set(folder ${CMAKE_BINARY_DIR}/console)
    find_program(CAIRN_NODE NAMES node nodejs)
    find_program(CAIRN_NPM npm)
    if(NOT CAIRN_NODE OR NOT CAIRN_NPM)
      message(FATAL_ERROR "The console needs Node.js and npm. Install them, give the folder of a built console "
                          "(-DCAIRN_CONSOLE=FOLDER), or build without it (-DCAIRN_CONSOLE=OFF).")
    endif()
    file(GLOB_RECURSE needs CONFIGURE_DEPENDS ${source}/src/*)
    list(APPEND needs ${source}/build.mjs ${source}/package.json ${source}/package-lock.json)
    # The documentation, which the program shows too.
    file(GLOB_RECURSE pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/*.md ${CMAKE_SOURCE_DIR}/docs/*.svg ${CMAKE_SOURCE_DIR}/site/*)
    list(APPEND needs ${pages} ${CMAKE_SOURCE_DIR}/SECURITY.md ${CMAKE_SOURCE_DIR}/examples/README.md)
    add_custom_command(
      OUTPUT ${folder}/manifest.json
      COMMAND ${CMAKE_COMMAND} -DSTEP=build -DSOURCE=${source} -DFOLDER=${folder} -DNODE=${CAIRN_NODE} -DNPM=${CAIRN_NPM}
              -P ${CAIRN_EMBED_CONSOLE}
      DEPENDS ${needs} ${CAIRN_EMBED_CONSOLE}
      COMMENT "Building the console")
    add_custom_target(console_archive
      COMMAND ${CMAKE_COMMAND} -E tar czf ${CMAKE_BINARY_DIR}/cairn-console-${PROJECT_VERSION}.tar.gz .
      DEPENDS ${folder}/manifest.json
      WORKING_DIRECTORY ${folder}
      COMMENT "Packing cairn-console-${PROJECT_VERSION}.tar.gz")
  endif()
  if(CAIRN_CONSOLE STREQUAL "OFF")
    set(folder "")
  elseif(NOT CAIRN_CONSOLE STREQUAL "AUTO" AND NOT EXISTS ${folder}/manifest.json)
    message(FATAL_ERROR "CAIRN_CONSOLE: ${folder} has no manifest.json. Unpack an archive of the console there.")
  else()
    set(needs ${folder}/manifest.json)
  endif()
  add_custom_command(
    OUTPUT ${out}/embedded_console.cc ${out}/embedded_console.S
    COMMAND ${CMAKE_COMMAND} -DSTEP=embed -DFOLDER=${folder} -DOUT=${out} -P ${CAIRN_EMBED_CONSOLE}
    DEPENDS ${needs} ${CAIRN_EMBED_CONSOLE}
    COMMENT "Embedding the console")
  target_sources(${target} PRIVATE ${out}/embedded_console.cc ${out}/embedded_console.S)
  set_source_files_properties(${out}/embedded_console.S PROPERTIES OBJECT_DEPENDS "${needs}")
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

if(STEP STREQUAL "build")
  # npm writes this file when it has installed everything.
  if(${SOURCE}/package-lock.json IS_NEWER_THAN ${SOURCE}/node_modules/.package-lock.json)
    execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --silent WORKING_DIRECTORY ${SOURCE} COMMAND_ERROR_IS_FATAL ANY)
    file(TOUCH ${SOURCE}/node_modules/.package-lock.json)
  endif()
  execute_process(COMMAND ${NODE} build.mjs --out ${FOLDER} --quiet WORKING_DIRECTORY ${SOURCE} COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()

set(listed "")
set(included "")
set(offset 0)
set(count 0)
if(FOLDER)
  file(READ ${FOLDER}/manifest.json manifest)
  string(JSON count LENGTH ${manifest} files)
  math(EXPR last "${count} - 1")
  foreach(at RANGE ${last})
    string(JSON path GET ${manifest} files ${at} path)
    string(JSON type GET ${manifest} files ${at} type)
    string(JSON gzip GET ${manifest} files ${at} gzip)
    string(JSON etag GET ${manifest} files ${at} etag)
    string(JSON immutable GET ${manifest} files ${at} immutable)
    file(SIZE ${FOLDER}/${gzip} size)
    string(REPLACE "\"" "\\\"" etag "${etag}")
    if(immutable)
      set(immutable true)
    else()
      set(immutable false)
    endif()
    string(APPEND listed "    {\"${path}\", \"${type}\", \"${etag}\", ${immutable}, {cairn_console_files + ${offset}, ${size}}},\n")
    string(APPEND included "  .incbin \"${FOLDER}/${gzip}\"\n")
    math(EXPR offset "${offset} + ${size}")
  endforeach()
endif()
file(WRITE ${OUT}/embedded_console.S "// Made by the build.
#ifdef __CET__
#include <cet.h>
#endif
  .section .rodata
  .globl cairn_console_files
  .hidden cairn_console_files
cairn_console_files:
${included}  .byte 0
  .section .note.GNU-stack, \"\", %progbits
")
if(count EQUAL 0)
  file(WRITE ${OUT}/embedded_console.cc "// Made by the build, which has no console.
#include \"api/embedded_console.h\"

namespace cairn::api {

std::span<const ConsoleFile> console_files() { return {}; }

}  // namespace cairn::api
")
  return()
endif()
file(WRITE ${OUT}/embedded_console.cc "// Made by the build.
#include \"api/embedded_console.h\"

extern \"C\" const char cairn_console_files[];

namespace cairn::api {

std::span<const ConsoleFile> console_files() {
  static const ConsoleFile all[] = {
${listed}  };
  return all;
}

}  // namespace cairn::api
")
