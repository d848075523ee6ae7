# The package that other programs link: one library, the headers of include/cairn with what they include, a CMake
# configuration and a pkg-config file. `cmake --install BUILD --prefix DIR [--component engine]`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Everything below the node and the workers goes into the library; what comes from outside is named as pkg-config names it.
set(todo cairn_node cairn_worker)
set(layers "")
set(CAIRN_NEEDS "")
while(todo)
  list(POP_FRONT todo target)
  if(target IN_LIST layers OR target MATCHES "^(Threads::Threads|m)$")
    continue()
  elseif(target MATCHES "^cairn_")
    list(APPEND layers ${target})
    get_target_property(uses ${target} LINK_LIBRARIES)
    list(APPEND todo ${uses})
  elseif(target MATCHES "^PkgConfig::(.+)$")
    list(APPEND CAIRN_NEEDS ${${CMAKE_MATCH_1}_MODULE_NAME})
  elseif(target MATCHES "^OpenSSL::(.+)$")
    string(TOLOWER lib${CMAKE_MATCH_1} name)
    list(APPEND CAIRN_NEEDS ${name})
  elseif(target STREQUAL "CURL::libcurl")
    list(APPEND CAIRN_NEEDS libcurl)
  else()
    message(FATAL_ERROR "cmake/Install.cmake: under what name does pkg-config know ${target}?")
  endif()
endwhile()
list(REMOVE_DUPLICATES CAIRN_NEEDS)
set(objects "")
foreach(layer ${layers})
  list(APPEND objects $<TARGET_OBJECTS:${layer}>)
endforeach()
add_library(cairn_package STATIC ${objects})
set_target_properties(cairn_package PROPERTIES OUTPUT_NAME cairn EXPORT_NAME engine LINKER_LANGUAGE CXX)
target_compile_features(cairn_package INTERFACE cxx_std_20)
target_include_directories(cairn_package INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(cairn_package INTERFACE $<INSTALL_INTERFACE:PkgConfig::CAIRN_NEEDS> Threads::Threads m)

# A program may use its own SQLite, of another version. The two must not share names.
find_program(CAIRN_NM NAMES ${CMAKE_NM} nm REQUIRED)
find_program(CAIRN_OBJCOPY NAMES ${CMAKE_OBJCOPY} objcopy REQUIRED)
add_custom_command(TARGET cairn_package POST_BUILD
  COMMAND ${CMAKE_COMMAND} -DLIBRARY=$<TARGET_FILE:cairn_package> -DNM=${CAIRN_NM} -DOBJCOPY=${CAIRN_OBJCOPY}
          -P ${CMAKE_SOURCE_DIR}/cmake/rename_sqlite.cmake VERBATIM)

list(JOIN CAIRN_NEEDS " " CAIRN_NEEDS)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)
configure_package_config_file(cmake/cairnConfig.cmake.in ${CMAKE_BINARY_DIR}/cairnConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cairnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# Found from where the file itself lies, so that the package can be moved.
file(RELATIVE_PATH CAIRN_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/cairn.pc.in ${CMAKE_BINARY_DIR}/cairn.pc @ONLY)

install(TARGETS cairn_package EXPORT cairnTargets ARCHIVE COMPONENT engine)
install(EXPORT cairnTargets NAMESPACE cairn:: DESTINATION ${package_dir} COMPONENT engine)
install(FILES ${CMAKE_BINARY_DIR}/cairnConfig.cmake ${CMAKE_BINARY_DIR}/cairnConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT engine)
install(FILES ${CMAKE_BINARY_DIR}/cairn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT engine)
install(CODE "set(SOURCE \"${CMAKE_SOURCE_DIR}\")
set(INTO \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")
include(\"${CMAKE_SOURCE_DIR}/cmake/install_headers.cmake\")" COMPONENT engine)
# Without its symbols the program is a fifth as large. `cmake --build` leaves them in the build folder, for debuggers.
install(CODE "set(CMAKE_INSTALL_DO_STRIP TRUE)" COMPONENT command)
install(TARGETS cairn RUNTIME COMPONENT command)
install(FILES deploy/cairn.service DESTINATION lib/systemd/system COMPONENT command)
install(FILES deploy/cairn.sysusers DESTINATION lib/sysusers.d COMPONENT command RENAME cairn.conf)
install(FILES deploy/cairn.toml DESTINATION ${CMAKE_INSTALL_DATADIR}/cairn COMPONENT command)
include(Sbom)
