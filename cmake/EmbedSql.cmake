# cairn_embed_sql(TARGET …/NAME/sql): the folder's *.sql as constants of the program, in namespace cairn::NAME and
# the header store/NAME/embedded_sql.h. statements*.sql become one enumerator for each `-- name: x`. schema.sql makes the
# tables of a new store, of the version in its line `-- version: N`. migrations/NNNN_name.sql change them since, in order. `-- part: x` names text without comments that statements have in common; `{x}` inserts it.
set(CAIRN_EMBED_SQL ${CMAKE_CURRENT_LIST_FILE})

function(cairn_embed_sql target folder)
  cmake_path(GET folder PARENT_PATH parent)
  cmake_path(GET parent FILENAME name)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.sql ${folder}/migrations/*.sql)
  set(out ${CMAKE_BINARY_DIR}/generated/${target}/store/${name})
  add_custom_command(
    OUTPUT ${out}/embedded_sql.h ${out}/embedded_sql.cc
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUT=${out} -DNAME=${name} -P ${CAIRN_EMBED_SQL}
    DEPENDS ${files} ${CAIRN_EMBED_SQL}
    COMMENT "Embedding SQL of ${name}")
  target_sources(${target} PRIVATE ${out}/embedded_sql.cc ${out}/embedded_sql.h)
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/generated/${target})
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

file(GLOB statement_files ${FOLDER}/statements*.sql)
list(SORT statement_files)
set(statements "")
foreach(file ${statement_files})
  file(READ ${file} text)
  string(APPEND statements "${text}\n")
endforeach()
string(REGEX MATCHALL "-- part: [a-z_]+\n([^-]|-[^-])*" parts "${statements}")
foreach(part IN LISTS parts)
  string(REGEX MATCH "-- part: ([a-z_]+)\n" heading "${part}")
  set(part_name ${CMAKE_MATCH_1})
  string(REPLACE "${part}" "" statements "${statements}")
  string(REPLACE "${heading}" "" part "${part}")
  string(STRIP "${part}" part)
  string(REPLACE "{${part_name}}" "${part}" statements "${statements}")
endforeach()
if(statements MATCHES "{[a-z_]+}")
  message(FATAL_ERROR "${FOLDER}: there is no part ${CMAKE_MATCH_0}")
endif()
string(REGEX MATCHALL "-- name: [a-z_]+" names "${statements}")
list(TRANSFORM names REPLACE "-- name: " "  ")
list(JOIN names ",\n" enumerators)
file(READ ${FOLDER}/schema.sql schema)
if(NOT schema MATCHES "\n-- version: ([0-9]+)\n")
  message(FATAL_ERROR "${FOLDER}/schema.sql has no line `-- version: N`")
endif()
set(first_schema ${CMAKE_MATCH_1})
file(WRITE ${OUT}/embedded_sql.h
"// Made from sql/*.sql by the build.
#pragma once

#include <span>

namespace cairn::${NAME} {

enum class Sql : int {
${enumerators},
  count
};

extern const char* const statements_text;

// Makes the tables of a new store, of this version.
extern const char* const schema_text;
inline constexpr int first_schema = ${first_schema};

struct Migration {
  int number;  // the version that it makes
  const char* name;
  const char* text;
};
std::span<const Migration> migrations();  // in order, all after first_schema

inline int newest_schema() { return migrations().empty() ? first_schema : migrations().back().number; }

}  // namespace cairn::${NAME}
")

# One literal per statement keeps each below what compilers promise to take.
string(REPLACE "-- name: " ")sql\"\nR\"sql(-- name: " statements "${statements}")
set(listed "")
file(GLOB files ${FOLDER}/migrations/*.sql)
list(SORT files)
list(LENGTH files count)
foreach(file ${files})
  get_filename_component(title ${file} NAME_WE)
  string(REGEX MATCH "^0*([0-9]+)" ignored ${title})
  set(number ${CMAKE_MATCH_1})
  if(NOT number GREATER first_schema)
    message(FATAL_ERROR "${file}: its number must be greater than ${first_schema}")
  endif()
  file(READ ${file} text)
  string(APPEND listed "    {${number}, \"${title}\", R\"sql(${text})sql\"},\n")
endforeach()
file(WRITE ${OUT}/embedded_sql.cc
"#include \"store/${NAME}/embedded_sql.h\"

#include <array>

namespace cairn::${NAME} {

const char* const statements_text =
R\"sql(${statements})sql\";

const char* const schema_text =
R\"sql(${schema})sql\";

namespace {
constexpr std::array<Migration, ${count}> all_migrations{{
${listed}}};
}  // namespace

std::span<const Migration> migrations() { return all_migrations; }

}  // namespace cairn::${NAME}
")
