#include "expr/type.h"

#include <algorithm>

namespace cairn::expr {

struct Type::Insides {
  std::vector<Type> parameters;
  std::string name;
  std::vector<Member> members;
  bool closed = false;
};

namespace {

const Type any;
const std::string no_name;
const std::vector<Type::Member> no_members;

}  // namespace

Type Type::with(Kind kind, std::vector<Type> parameters) {
  Type result(kind);
  auto insides = std::make_shared<Insides>();
  insides->parameters = std::move(parameters);
  result.insides_ = std::move(insides);
  return result;
}

Type Type::list(Type element) { return with(Kind::list, {std::move(element)}); }
Type Type::map(Type key, Type value) { return with(Kind::map, {std::move(key), std::move(value)}); }
Type Type::type(Type of) { return with(Kind::type, {std::move(of)}); }
Type Type::optional(Type of) { return with(Kind::optional, {std::move(of)}); }

Type Type::opaque(std::string name, std::vector<Type> parameters) {
  Type result(Kind::opaque);
  auto insides = std::make_shared<Insides>();
  insides->parameters = std::move(parameters);
  insides->name = std::move(name);
  result.insides_ = std::move(insides);
  return result;
}

Type Type::variable(std::uint32_t number) {
  Type result(Kind::variable);
  result.number_ = number;
  return result;
}

Type Type::object(std::vector<Member> members, bool closed) {
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.name < b.name; });
  Type result(Kind::map);
  auto insides = std::make_shared<Insides>();
  insides->parameters = {string(), dyn()};
  insides->members = std::move(members);
  insides->closed = closed;
  result.insides_ = std::move(insides);
  return result;
}

std::size_t Type::parameter_count() const { return insides_ ? insides_->parameters.size() : 0; }
const Type& Type::parameter(std::size_t index) const {
  return index < parameter_count() ? insides_->parameters[index] : any;
}
const std::string& Type::name() const { return insides_ ? insides_->name : no_name; }
bool Type::has_members() const { return insides_ && (!insides_->members.empty() || insides_->closed); }
bool Type::closed() const { return insides_ && insides_->closed; }
const std::vector<Type::Member>& Type::members() const { return insides_ ? insides_->members : no_members; }

const Type* Type::find_member(std::string_view name) const {
  const auto& list = members();
  const auto it = std::lower_bound(list.begin(), list.end(), name,
                                   [](const Member& member, std::string_view key) { return member.name < key; });
  return it != list.end() && it->name == name ? &it->type : nullptr;
}

bool operator==(const Type& a, const Type& b) {
  if (a.kind_ != b.kind_ || a.number_ != b.number_) return false;
  if (a.insides_ == b.insides_) return true;
  if (a.name() != b.name() || a.parameter_count() != b.parameter_count() || a.closed() != b.closed()) return false;
  for (std::size_t i = 0; i < a.parameter_count(); ++i) {
    if (!(a.parameter(i) == b.parameter(i))) return false;
  }
  return std::equal(a.members().begin(), a.members().end(), b.members().begin(), b.members().end(),
                    [](const Type::Member& x, const Type::Member& y) {
                      return x.name == y.name && x.type == y.type && x.required == y.required;
                    });
}

std::string Type::text() const {
  std::string out;
  switch (kind_) {
    case Kind::dyn: return "dyn";
    case Kind::null: return "null_type";
    case Kind::boolean: return "bool";
    case Kind::integer: return "int";
    case Kind::unsigned_integer: return "uint";
    case Kind::number: return "double";
    case Kind::string: return "string";
    case Kind::bytes: return "bytes";
    case Kind::timestamp: return "timestamp";
    case Kind::duration: return "duration";
    case Kind::decimal: return "decimal";
    case Kind::numeric: return "number";
    case Kind::variable: return std::string(1, static_cast<char>('A' + number_ % 26));
    case Kind::list: out = "list"; break;
    case Kind::map: out = "map"; break;
    case Kind::type: out = "type"; break;
    case Kind::optional: out = "optional_type"; break;
    case Kind::opaque: out = name(); break;
  }
  if (parameter_count() == 0) return out;
  out += '(';
  for (std::size_t i = 0; i < parameter_count(); ++i) {
    if (i > 0) out += ", ";
    out += parameter(i).text();
  }
  return out + ')';
}

namespace {

class TypeText {
 public:
  TypeText(std::string_view text, std::vector<std::string>* parameters) : text_(text), parameters_(parameters) {}

  std::optional<Type> whole() {
    auto result = type(0);
    skip();
    if (at_ != text_.size()) return std::nullopt;
    return result;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<Type> type(int depth) {
    if (depth > 32) return std::nullopt;
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::string_view("._").find(text_[at_]) != std::string_view::npos ||
            (text_[at_] >= '0' && text_[at_] <= '9') || (text_[at_] >= 'a' && text_[at_] <= 'z') ||
            (text_[at_] >= 'A' && text_[at_] <= 'Z'))) {
      ++at_;
    }
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name.empty()) return std::nullopt;
    std::vector<Type> insides;
    if (take('(')) {
      do {
        auto inside = type(depth + 1);
        if (!inside) return std::nullopt;
        insides.push_back(std::move(*inside));
      } while (take(','));
      if (!take(')')) return std::nullopt;
    }
    return named(name, std::move(insides));
  }

  std::optional<Type> named(std::string_view name, std::vector<Type> insides) {
    const auto inside = [&](std::size_t i) { return i < insides.size() ? insides[i] : Type::dyn(); };
    if (name == "list") return Type::list(inside(0));
    if (name == "map") return Type::map(inside(0), inside(1));
    if (name == "type") return Type::type(inside(0));
    if (name == "optional_type") return Type::optional(inside(0));
    if (insides.empty()) {
      if (name == "dyn") return Type::dyn();
      if (name == "null_type") return Type::null();
      if (name == "bool") return Type::boolean();
      if (name == "int") return Type::integer();
      if (name == "uint") return Type::unsigned_integer();
      if (name == "double") return Type::number();
      if (name == "string") return Type::string();
      if (name == "bytes") return Type::bytes();
      if (name == "timestamp" || name == "google.protobuf.Timestamp") return Type::timestamp();
      if (name == "duration" || name == "google.protobuf.Duration") return Type::duration();
      if (name == "decimal") return Type::decimal();
      if (name == "number") return Type::numeric();
      if (parameters_ && name.size() == 1 && name[0] >= 'A' && name[0] <= 'Z') return parameter(name);
    }
    return Type::opaque(std::string(name), std::move(insides));
  }

  Type parameter(std::string_view name) {
    const auto it = std::find(parameters_->begin(), parameters_->end(), name);
    const auto number = static_cast<std::uint32_t>(it - parameters_->begin());
    if (it == parameters_->end()) parameters_->emplace_back(name);
    return Type::variable(number);
  }

  std::string_view text_;
  std::vector<std::string>* parameters_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Type> Type::parse(std::string_view text, std::vector<std::string>& parameters) {
  return TypeText(text, &parameters).whole();
}
std::optional<Type> Type::parse(std::string_view text) { return TypeText(text, nullptr).whole(); }

}  // namespace cairn::expr
