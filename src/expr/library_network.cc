// IP addresses and networks as values.
#include "expr/function.h"
#include "expr/network_address.h"

namespace cairn::expr {

namespace {

using Args = std::span<Value>;
using Kind = Value::Kind;

class IpValue final : public Opaque {
 public:
  explicit IpValue(IpAddress held) : address(held) {}
  std::string_view type_name() const override { return "net.IP"; }
  bool equals(const Value& other) const override;
  std::optional<int> compare(const Value&) const override { return std::nullopt; }
  std::string text() const override { return address.text(); }
  std::size_t bytes() const override { return sizeof *this; }
  const IpAddress address;
};

class NetworkValue final : public Opaque {
 public:
  explicit NetworkValue(IpNetwork held) : network(held) {}
  std::string_view type_name() const override { return "net.CIDR"; }
  bool equals(const Value& other) const override;
  std::optional<int> compare(const Value&) const override { return std::nullopt; }
  std::string text() const override { return network.text(); }
  std::size_t bytes() const override { return sizeof *this; }
  const IpNetwork network;
};

bool IpValue::equals(const Value& other) const {
  const auto* ip = other.is(Kind::opaque) ? dynamic_cast<const IpValue*>(&other.as_opaque()) : nullptr;
  return ip && ip->address.unmapped() == address.unmapped();
}
bool NetworkValue::equals(const Value& other) const {
  const auto* cidr = other.is(Kind::opaque) ? dynamic_cast<const NetworkValue*>(&other.as_opaque()) : nullptr;
  return cidr && cidr->network == network;
}

const IpAddress& address_of(const Value& value) { return static_cast<const IpValue&>(value.as_opaque()).address; }
const IpNetwork& network_of(const Value& value) { return static_cast<const NetworkValue&>(value.as_opaque()).network; }

Value make(Context& context, IpAddress address) {
  return context.opaque(Kind::opaque, std::make_unique<IpValue>(address));
}
Value make(Context& context, IpNetwork network) {
  return context.opaque(Kind::opaque, std::make_unique<NetworkValue>(network));
}

Value no_address(Context& context, std::string_view text) {
  return context.fail("invalid_argument", "`" + std::string(text.substr(0, 64)) + "` is not an IP address");
}
Value no_network(Context& context, std::string_view text) {
  return context.fail("invalid_argument", "`" + std::string(text.substr(0, 64)) + "` is not a network like 10.0.0.0/8");
}

Value ip(Context& context, Args args) {
  const auto address = IpAddress::parse(args[0].as_text());
  return address ? make(context, *address) : no_address(context, args[0].as_text());
}
Value cidr(Context& context, Args args) {
  const auto network = IpNetwork::parse(args[0].as_text());
  return network ? make(context, *network) : no_network(context, args[0].as_text());
}
Value is_ip(Context&, Args args) { return Value::boolean(IpAddress::parse(args[0].as_text()).has_value()); }
Value is_cidr(Context&, Args args) { return Value::boolean(IpNetwork::parse(args[0].as_text()).has_value()); }
Value is_canonical(Context& context, Args args) {
  const auto address = IpAddress::parse(args[0].as_text());
  return address ? Value::boolean(address->text() == args[0].as_text()) : no_address(context, args[0].as_text());
}
Value text_of(Context& context, Args args) { return context.text(args[0].as_opaque().text()); }

Value family(Context&, Args args) { return Value::integer(address_of(args[0]).v6 ? 6 : 4); }
Value unspecified(Context&, Args args) { return Value::boolean(address_of(args[0]).unspecified()); }
Value loopback(Context&, Args args) { return Value::boolean(address_of(args[0]).loopback()); }
Value global_unicast(Context&, Args args) { return Value::boolean(address_of(args[0]).global_unicast()); }
Value multicast(Context&, Args args) { return Value::boolean(address_of(args[0]).link_local_multicast()); }
Value unicast(Context&, Args args) { return Value::boolean(address_of(args[0]).link_local_unicast()); }

Value contains_ip(Context&, Args args) { return Value::boolean(network_of(args[0]).contains(address_of(args[1]))); }
Value contains_ip_text(Context& context, Args args) {
  const auto address = IpAddress::parse(args[1].as_text());
  return address ? Value::boolean(network_of(args[0]).contains(*address)) : no_address(context, args[1].as_text());
}
Value contains_cidr(Context&, Args args) { return Value::boolean(network_of(args[0]).contains(network_of(args[1]))); }
Value contains_cidr_text(Context& context, Args args) {
  const auto network = IpNetwork::parse(args[1].as_text());
  return network ? Value::boolean(network_of(args[0]).contains(*network)) : no_network(context, args[1].as_text());
}
Value network_ip(Context& context, Args args) { return make(context, network_of(args[0]).address); }
Value masked(Context& context, Args args) { return make(context, network_of(args[0]).masked()); }
Value prefix_length(Context&, Args args) { return Value::integer(network_of(args[0]).prefix); }

const Overload network_overloads[] = {
    {"ip(string) -> net.IP", ip, "An IP address, version 4 or 6.", "ip(\"10.0.0.1\").family()", "4"},
    {"isIP(string) -> bool", is_ip, "Whether the text is an IP address.", "isIP(\"10.0.0.256\")", "false"},
    {"ip.isCanonical(string) -> bool", is_canonical, "Whether the text is the usual spelling of the address.",
     "ip.isCanonical(\"2001:DB8::1\")", "false"},
    {"cidr(string) -> net.CIDR", cidr, "A network.", "cidr(\"10.0.0.0/8\").prefixLength()", "8"},
    {"isCIDR(string) -> bool", is_cidr, "Whether the text is a network.", "isCIDR(\"10.0.0.0/8\")", "true"},
    {"string(net.IP) -> string", text_of, "The usual spelling.", "string(ip(\"::0001\"))", "\"::1\""},
    {"string(net.CIDR) -> string", text_of, "Address, slash, prefix length.", "string(cidr(\"10.0.0.0/8\"))",
     "\"10.0.0.0/8\""},
    {"net.IP.family() -> int", family, "4 or 6.", "ip(\"::1\").family()", "6"},
    {"net.IP.isUnspecified() -> bool", unspecified, "Whether it is 0.0.0.0 or ::.", "ip(\"::\").isUnspecified()",
     "true"},
    {"net.IP.isLoopback() -> bool", loopback, "Whether it means this machine.", "ip(\"127.0.0.1\").isLoopback()",
     "true"},
    {"net.IP.isGlobalUnicast() -> bool", global_unicast, "Whether it addresses one machine beyond the link.",
     "ip(\"192.168.0.1\").isGlobalUnicast()", "true"},
    {"net.IP.isLinkLocalMulticast() -> bool", multicast, "Whether it addresses a group on the link.",
     "ip(\"ff02::1\").isLinkLocalMulticast()", "true"},
    {"net.IP.isLinkLocalUnicast() -> bool", unicast, "Whether it addresses one machine on the link.",
     "ip(\"fe80::1\").isLinkLocalUnicast()", "true"},
    {"net.CIDR.containsIP(net.IP) -> bool", contains_ip, "Whether an address is in the network.",
     "cidr(\"10.0.0.0/8\").containsIP(ip(\"10.1.2.3\"))", "true"},
    {"net.CIDR.containsIP(string) -> bool", contains_ip_text, "Whether an address is in the network.",
     "cidr(\"10.0.0.0/8\").containsIP(\"11.1.2.3\")", "false"},
    {"net.CIDR.containsCIDR(net.CIDR) -> bool", contains_cidr, "Whether another network is inside.",
     "cidr(\"10.0.0.0/8\").containsCIDR(cidr(\"10.1.0.0/16\"))", "true"},
    {"net.CIDR.containsCIDR(string) -> bool", contains_cidr_text, "Whether another network is inside.",
     "cidr(\"10.1.0.0/16\").containsCIDR(\"10.0.0.0/8\")", "false"},
    {"net.CIDR.ip() -> net.IP", network_ip, "The address as written.", "string(cidr(\"10.1.0.0/8\").ip())",
     "\"10.1.0.0\""},
    {"net.CIDR.masked() -> net.CIDR", masked, "With the bits after the prefix as zero.",
     "string(cidr(\"10.1.0.0/8\").masked())", "\"10.0.0.0/8\""},
    {"net.CIDR.prefixLength() -> int", prefix_length, "How many bits name the network.",
     "cidr(\"10.0.0.0/8\").prefixLength()", "8"},
};

}  // namespace

Library library_network() { return {"network", network_overloads}; }

}  // namespace cairn::expr
