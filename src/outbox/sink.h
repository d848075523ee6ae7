// The destination of outbox events. A program may implement its own, so the interface is public.
#pragma once

#include "cairn/sink.h"
