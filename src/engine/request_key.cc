#include "engine/request_key.h"

#include <utility>

namespace cairn {
namespace {

thread_local std::string current_key;

}  // namespace

const std::string& RequestKey::current() { return current_key; }

RequestKey::Scope::Scope(std::string key) : before_(std::exchange(current_key, std::move(key))) {}
RequestKey::Scope::~Scope() { current_key = std::move(before_); }

}  // namespace cairn
