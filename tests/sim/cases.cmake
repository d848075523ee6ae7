# Random workflows, their record, and the judge (RECORD.md).
find_package(Python3 REQUIRED COMPONENTS Interpreter)

add_library(sim_generator STATIC generator.cc expression_source.cc workflow_source.cc workflow_source_blocks.cc)
target_include_directories(sim_generator PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sim_generator PUBLIC cairn_definition)

add_executable(generator_test generator_test.cc)
target_link_libraries(generator_test PRIVATE sim_generator GTest::gtest_main)
add_test(NAME generator COMMAND generator_test --gtest_brief=1)

add_library(sim_record STATIC recorder.cc)
target_include_directories(sim_record PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sim_record PUBLIC cairn_store)

add_executable(drive_cases drive_cases.cc case_world.cc)
target_link_libraries(drive_cases PRIVATE sim_generator sim_record cairn_node)
add_test(NAME oracle COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/oracle/oracle_test.py)
add_test(NAME cases COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/oracle/run_cases.py
         $<TARGET_FILE:drive_cases> --workflows 1..1500)

add_executable(sim_found_test found_test.cc)
target_include_directories(sim_found_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sim_found_test PRIVATE cairn_node GTest::gtest_main)
add_test(NAME sim_found COMMAND sim_found_test --gtest_brief=1)

add_executable(sim_power_test power_test.cc disk.cc)
target_include_directories(sim_power_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sim_power_test PRIVATE cairn_store GTest::gtest_main)
add_test(NAME sim_power COMMAND sim_power_test --gtest_brief=1)
