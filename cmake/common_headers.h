// What most files include, precompiled once (CAIRN_PCH). Never to be relied on: every file names what it needs.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
