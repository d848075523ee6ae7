// The types of the HTTP server (http/server.h) that routes and resources use without a prefix.
#pragma once

#include "http/server.h"

namespace cairn::api {

using http::Admission;
using http::EventStream;
using http::Headers;
using http::HttpServer;
using http::HttpSettings;
using http::KnownCaller;
using http::Reply;
using http::Request;
using http::Response;
using http::ResponseReceipt;
using http::TlsFiles;

}  // namespace cairn::api
