// Units whose snapshots were encoded before they came to the store.
#include "sample.h"
#include "store_under_test.h"

namespace cairn {

CAIRN_CONTRACT(Encoded);

TEST_P(Encoded, WhatWasEncodedAheadIsWhatIsFound) {
  Unit unit;
  unit.advances.push_back(sample::begin("a"));
  encode_ahead(unit, store().traits().piece_bytes_min);
  ASSERT_EQ(unit.encoded.size(), 1u);
  EXPECT_EQ(unit.encoded[0], encode_snapshot(unit.advances[0].after));
  EXPECT_EQ(must(store().commit({&unit, 1})).front().kind, CommitOutcome::Kind::done);
  EXPECT_EQ(must(store().find_snapshot({"a"})), unit.advances[0].after);
}

TEST_P(Encoded, OnlyTheLastVersionOfAnInstanceIsEncodedAndStored) {
  Unit unit;
  unit.advances.push_back(sample::begin("a"));
  unit.advances.push_back(sample::begin("b"));
  unit.advances.push_back(sample::next(unit.advances[0].after));
  encode_ahead(unit, store().traits().piece_bytes_min);
  EXPECT_TRUE(unit.encoded[0].empty());
  EXPECT_FALSE(unit.encoded[1].empty());
  EXPECT_FALSE(unit.encoded[2].empty());
  EXPECT_EQ(must(store().commit({&unit, 1})).front().kind, CommitOutcome::Kind::done);
  EXPECT_EQ(must(store().find_snapshot({"a"})), unit.advances[2].after);
  EXPECT_EQ(must(store().find_snapshot({"b"})), unit.advances[1].after);
}

TEST_P(Encoded, AUnitThatIsPartlyEncodedIsStoredWhole) {
  Unit unit;
  unit.advances.push_back(sample::begin("a"));
  encode_ahead(unit, store().traits().piece_bytes_min);
  unit.advances.push_back(sample::begin("b"));  // later than the encoding
  EXPECT_EQ(must(store().commit({&unit, 1})).front().kind, CommitOutcome::Kind::done);
  EXPECT_EQ(must(store().find_snapshot({"a"})), unit.advances[0].after);
  EXPECT_EQ(must(store().find_snapshot({"b"})), unit.advances[1].after);
}

}  // namespace cairn
