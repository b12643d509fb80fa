#pragma once

#include "guest_support/call_parameters.h"
