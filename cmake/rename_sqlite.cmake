# Renames every sqlite3_* function of LIBRARY, and all uses of it there, to cairn_sqlite3_*.
cmake_policy(VERSION 3.25)
execute_process(COMMAND ${NM} --defined-only --extern-only ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY ERROR_QUIET)
string(REGEX MATCHALL " [A-Z] sqlite3[A-Za-z0-9_]*" found "${symbols}")
set(renames "")
foreach(symbol ${found})
  string(REGEX REPLACE "^ [A-Z] " "" symbol "${symbol}")
  string(APPEND renames "${symbol} cairn_${symbol}\n")
endforeach()
if(renames STREQUAL "")
  return()  # done before
endif()
file(WRITE ${LIBRARY}.renames "${renames}")
execute_process(COMMAND ${OBJCOPY} --redefine-syms=${LIBRARY}.renames ${LIBRARY} COMMAND_ERROR_IS_FATAL ANY)
