# Random workflows, their record, and the judge (RECORD.md).
add_library(sim_generator STATIC generator.cc expression_source.cc workflow_source.cc workflow_source_blocks.cc)
target_include_directories(sim_generator PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sim_generator PUBLIC cairn_definition)

add_executable(generator_test generator_test.cc)
target_link_libraries(generator_test PRIVATE sim_generator GTest::gtest_main)
add_test(NAME generator COMMAND generator_test --gtest_brief=1)
