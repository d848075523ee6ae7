// Settings of a database that an operator should change.
#pragma once

#include <string>
#include <vector>

#include "store/store.h"

namespace cairn {

struct SettingAdvice {
  std::string what;
  std::string advice;
};

// A store on a database with settings of its own.
class AdvisesSettings {
 public:
  virtual ~AdvisesSettings() = default;
  virtual Result<std::vector<SettingAdvice>> setting_advice() = 0;
};

inline Result<std::vector<SettingAdvice>> setting_advice(Store& store) {
  auto* const database = dynamic_cast<AdvisesSettings*>(&store);
  return database != nullptr ? database->setting_advice() : std::vector<SettingAdvice>();
}

}  // namespace cairn
