// A schema of a PostgreSQL database for one measurement, removed with its contents.
#pragma once

#include <string>

#include "base/result.h"

namespace cairn::bench {

class ScratchSchema {
 public:
  // Named like the schema of `url` plus `suffix`; an existing schema of that name is removed. Opening a store creates
  // it.
  static Result<ScratchSchema> make(const std::string& url, const std::string& suffix);
  ScratchSchema(ScratchSchema&& other) noexcept;
  ScratchSchema& operator=(ScratchSchema&&) = delete;
  ~ScratchSchema();

  const std::string& name() const { return name_; }
  const std::string& url() const { return url_; }
  const std::string& conninfo() const { return conninfo_; }

 private:
  ScratchSchema(std::string name, std::string url, std::string conninfo);
  Result<void> remove() const;

  std::string name_;
  std::string url_;
  std::string conninfo_;  // empty: moved from
};

}  // namespace cairn::bench
