# cairn_embed_examples(TARGET FILE…): the files as constants of the program, for `cairn dev` in an empty folder.
set(CAIRN_EMBED_EXAMPLES ${CMAKE_CURRENT_LIST_FILE})

function(cairn_embed_examples target)
  set(out ${CMAKE_BINARY_DIR}/generated/${target}/embedded_examples.cc)
  list(JOIN ARGN "," files)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${files}" -DOUT=${out} -P ${CAIRN_EMBED_EXAMPLES}
    DEPENDS ${ARGN} ${CAIRN_EMBED_EXAMPLES}
    COMMENT "Embedding examples")
  target_sources(${target} PRIVATE ${out})
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

string(REPLACE "," ";" files "${FILES}")
set(listed "")
foreach(file ${files})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND listed "    {\"${name}\", R\"yaml(${text})yaml\"},\n")
endforeach()
file(WRITE ${OUT} "// Made from examples/ by the build.
#include \"cli/embedded_examples.h\"

namespace cairn::cli {

std::span<const EmbeddedExample> embedded_examples() {
  static constexpr EmbeddedExample all[] = {
${listed}  };
  return all;
}

}  // namespace cairn::cli
")
