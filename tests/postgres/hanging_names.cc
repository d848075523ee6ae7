// Preloaded into a process: the lookup of names in hangs.example never ends, as with a name server that is away.
#include <dlfcn.h>
#include <netdb.h>
#include <unistd.h>

#include <string_view>

extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** list) {
  while (host != nullptr && std::string_view(host).ends_with("hangs.example")) ::pause();
  using Function = decltype(&getaddrinfo);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(host, service, hints, list);
}
