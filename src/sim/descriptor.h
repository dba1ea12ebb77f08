// Descriptor, as net has it.
#pragma once

#include "net/descriptor.h"

namespace nephila::sim {

using net::Descriptor;

}  // namespace nephila::sim
