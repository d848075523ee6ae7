# What the program contains: a bill of materials (CycloneDX 1.5) and the notices of what others wrote. Both are made
# when the build is configured, from the versions that were found, and installed with the command.
#
#   cairn_component(NAME VERSION LICENSE HOW [NPM] [SONAME name…] [NOTICE file])
#
# HOW: dynamic (loaded when it starts), static (linked in), header (compiled in), data (outlines, tables).
set(sbom_components "")
set(sbom_references "")
set(sbom_notices "cairn contains or loads the following works of others.\n")

function(cairn_component name version license how)
  cmake_parse_arguments(ARG "NPM" "NOTICE" "SONAME" ${ARGN})
  if(NOT version)
    message(FATAL_ERROR "cmake/Sbom.cmake: which version of ${name} is this?")
  endif()
  set(reference "pkg:generic/${name}@${version}")
  if(ARG_NPM)
    string(REPLACE "@" "%40" reference "${name}")
    set(reference "pkg:npm/${reference}@${version}")
  endif()
  set(properties "{\"name\":\"cairn:linked\",\"value\":\"${how}\"}")
  foreach(soname ${ARG_SONAME})
    string(APPEND properties ",{\"name\":\"cairn:soname\",\"value\":\"${soname}\"}")
  endforeach()
  if(license MATCHES "^LicenseRef-")
    set(named "{\"license\":{\"name\":\"${license}\"}}")
  elseif(license MATCHES " ")
    set(named "{\"expression\":\"${license}\"}")
  else()
    set(named "{\"license\":{\"id\":\"${license}\"}}")
  endif()
  set(component "    {\"type\":\"library\",\"bom-ref\":\"${reference}\",\"name\":\"${name}\",\"version\":\"${version}\",\
\"licenses\":[${named}],\"purl\":\"${reference}\",\"properties\":[${properties}]}")
  if(sbom_components)
    string(APPEND sbom_components ",\n")
    string(APPEND sbom_references ",")
  endif()
  set(sbom_components "${sbom_components}${component}" PARENT_SCOPE)
  set(sbom_references "${sbom_references}\"${reference}\"" PARENT_SCOPE)
  if(ARG_NOTICE)
    file(READ ${ARG_NOTICE} text)
    string(REPEAT "=" 100 line)
    set(sbom_notices "${sbom_notices}\n${line}\n${name} ${version} (${license})\n${line}\n\n${text}" PARENT_SCOPE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARG_NOTICE})
  endif()
endfunction()

# A number that a header defines, or a text.
function(cairn_defined_in header macro result)
  file(STRINGS ${header} line REGEX "^#define[ \t]+${macro}[ \t]" LIMIT_COUNT 1)
  string(REGEX REPLACE "^#define[ \t]+${macro}[ \t]+\"?([^\" \t]+).*" "\\1" value "${line}")
  set(${result} "${value}" PARENT_SCOPE)
endfunction()

# The version of the shared library itself, for those whose pkg-config file has none: libre2.so.9 → 9.
function(cairn_soversion_of target result)
  get_target_property(files ${target} INTERFACE_LINK_LIBRARIES)
  list(GET files 0 library)
  get_filename_component(library "${library}" REALPATH)
  string(REGEX REPLACE "^.*\\.so\\.?" "" value "${library}")
  set(${result} "${value}" PARENT_SCOPE)
endfunction()

set(licenses ${CMAKE_SOURCE_DIR}/third_party/licenses)
set(sqlite_header ${CMAKE_SOURCE_DIR}/third_party/sqlite/node_modules/better-sqlite3/deps/sqlite3/sqlite3.h)
cairn_defined_in(${sqlite_header} SQLITE_VERSION sqlite_version)
find_file(TOML_VERSION_HEADER toml++/impl/version.h REQUIRED)
foreach(part MAJOR MINOR PATCH)
  cairn_defined_in(${TOML_VERSION_HEADER} TOML_LIB_${part} toml_${part})
endforeach()
pkg_check_modules(EDIT QUIET libedit)
set(re2_version ${RE2_VERSION})
if(re2_version VERSION_EQUAL 0)
  cairn_soversion_of(PkgConfig::RE2 re2_version)
endif()

cairn_component(openssl "${OPENSSL_VERSION}" Apache-2.0 dynamic SONAME libssl libcrypto NOTICE ${licenses}/openssl.txt)
cairn_component(re2 "${re2_version}" BSD-3-Clause dynamic SONAME libre2 NOTICE ${licenses}/re2.txt)
cairn_component(libyaml "${YAML_VERSION}" MIT dynamic SONAME libyaml-0 NOTICE ${licenses}/libyaml.txt)
cairn_component(curl "${CURL_VERSION_STRING}" curl dynamic SONAME libcurl NOTICE ${licenses}/curl.txt)
cairn_component(zlib "${ZLIB_VERSION_STRING}" Zlib dynamic SONAME libz NOTICE ${licenses}/zlib.txt)
cairn_component(libpq "${PQ_VERSION}" PostgreSQL dynamic SONAME libpq NOTICE ${licenses}/libpq.txt)
cairn_component(libedit "${EDIT_VERSION}" BSD-3-Clause dynamic SONAME libedit NOTICE ${licenses}/libedit.txt)
if(HIREDIS_FOUND)
  cairn_component(hiredis "${HIREDIS_VERSION}" BSD-3-Clause dynamic SONAME libhiredis NOTICE ${licenses}/hiredis.txt)
endif()
cairn_component(sqlite "${sqlite_version}" blessing static NOTICE ${licenses}/sqlite.txt)
cairn_component(boost "${Boost_VERSION_STRING}" BSL-1.0 header NOTICE ${licenses}/boost.txt)
cairn_component(tomlplusplus "${toml_MAJOR}.${toml_MINOR}.${toml_PATCH}" MIT header NOTICE ${licenses}/tomlplusplus.txt)
cairn_component(dejavu-fonts 2.37 Bitstream-Vera data NOTICE ${CMAKE_SOURCE_DIR}/src/render/font-license.txt)
if(NOT CAIRN_CONSOLE STREQUAL "OFF")
  # The packages in the console, each with its notice in one file.
  file(STRINGS ${licenses}/console.txt packages REGEX "^[@a-z0-9/.-]+ [0-9.]+ [(][A-Za-z0-9.-]+[)]$")
  foreach(package ${packages})
    string(REGEX MATCH "^([^ ]+) ([^ ]+) [(](.*)[)]$" ignored "${package}")
    cairn_component(${CMAKE_MATCH_1} ${CMAKE_MATCH_2} ${CMAKE_MATCH_3} data NPM)
  endforeach()
  file(READ ${licenses}/console.txt text)
  string(APPEND sbom_notices "\n${text}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${licenses}/console.txt)
endif()
# The C and C++ runtime, which are the system's: named, without our notices.
cairn_component(gcc-runtime "${CMAKE_CXX_COMPILER_VERSION}" "GPL-3.0-or-later WITH GCC-exception-3.1" dynamic
                SONAME libstdc++ libgcc_s)
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE libc_version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
string(REGEX MATCH "[0-9]+[.][0-9.]+" libc_version "${libc_version}")
if(NOT libc_version)
  set(libc_version system)
endif()
cairn_component(glibc "${libc_version}" LGPL-2.1-or-later dynamic SONAME libc libm ld-linux-x86-64 ld-linux-aarch64)

# The same contents have the same number: the file is reproducible.
string(UUID sbom_serial NAMESPACE 6ba7b811-9dad-11d1-80b4-00c04fd430c8
       NAME "cairn ${PROJECT_VERSION} ${sbom_references}" TYPE SHA1)
set(sbom_self "pkg:generic/cairn@${PROJECT_VERSION}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/cairn.cdx.json @ONLY CONTENT [[{
  "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
  "bomFormat": "CycloneDX",
  "specVersion": "1.5",
  "serialNumber": "urn:uuid:@sbom_serial@",
  "version": 1,
  "metadata": {
    "component": {"type":"application","bom-ref":"@sbom_self@","name":"cairn","version":"@PROJECT_VERSION@","purl":"@sbom_self@"}
  },
  "components": [
@sbom_components@
  ],
  "dependencies": [
    {"ref":"@sbom_self@","dependsOn":[@sbom_references@]}
  ]
}
]])
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/THIRD-PARTY-NOTICES.txt CONTENT "${sbom_notices}" @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/cairn.cdx.json DESTINATION ${CMAKE_INSTALL_DATADIR}/cairn COMPONENT command)
install(FILES ${CMAKE_BINARY_DIR}/THIRD-PARTY-NOTICES.txt LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
