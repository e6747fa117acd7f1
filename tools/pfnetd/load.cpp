/* SPDX-License-Identifier: BSD-3-Clause */
/* SimGrid's C interface does not say what is wrong with a platform. */
#include "tools/pfnetd/load.h"

#include <cstdio>
#include <string>

#include <simgrid/s4u/Engine.hpp>

bool load_platform(const char *file, char *error, size_t error_size)
{
    try {
        simgrid::s4u::Engine::get_instance()->load_platform(file);
        return true;
    } catch (const std::exception &caught) {
        std::string text = caught.what();
        std::snprintf(error, error_size, "SimGrid cannot read the platform: %s",
                      text.substr(0, text.find('\n')).c_str());
        return false;
    }
}
