# The package that other programs link: one library, the headers of include/cairn with what they include, a CMake
# configuration and a pkg-config file. `cmake --install BUILD --prefix DIR [--component engine]`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Everything up to the coordinator, as pkg-config names it. SQLite is inside the library.
set(CAIRN_NEEDS libcrypto libpq re2 yaml-0.1)
set(layers base expr schema definition instance interpreter store coordinator)

set(objects $<TARGET_OBJECTS:cairn_sqlite>)
foreach(layer ${layers})
  list(APPEND objects $<TARGET_OBJECTS:cairn_${layer}>)
endforeach()
add_library(cairn_engine STATIC ${objects})
set_target_properties(cairn_engine PROPERTIES OUTPUT_NAME cairn EXPORT_NAME engine LINKER_LANGUAGE CXX)
target_compile_features(cairn_engine INTERFACE cxx_std_20)
target_include_directories(cairn_engine INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(cairn_engine INTERFACE $<INSTALL_INTERFACE:PkgConfig::CAIRN_NEEDS> Threads::Threads m)

list(JOIN CAIRN_NEEDS " " CAIRN_NEEDS)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)
configure_package_config_file(cmake/cairnConfig.cmake.in ${CMAKE_BINARY_DIR}/cairnConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cairnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# Found from where the file itself lies, so that the package can be moved.
file(RELATIVE_PATH CAIRN_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/cairn.pc.in ${CMAKE_BINARY_DIR}/cairn.pc @ONLY)

install(TARGETS cairn_engine EXPORT cairnTargets ARCHIVE COMPONENT engine)
install(EXPORT cairnTargets NAMESPACE cairn:: DESTINATION ${package_dir} COMPONENT engine)
install(FILES ${CMAKE_BINARY_DIR}/cairnConfig.cmake ${CMAKE_BINARY_DIR}/cairnConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT engine)
install(FILES ${CMAKE_BINARY_DIR}/cairn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT engine)
install(CODE "set(SOURCE \"${CMAKE_SOURCE_DIR}\")
set(INTO \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")
include(\"${CMAKE_SOURCE_DIR}/cmake/install_headers.cmake\")" COMPONENT engine)
install(TARGETS cairn RUNTIME COMPONENT command)
