// SPDX-License-Identifier: BSD-3-Clause
// A program without MPI: it runs as it is, with constructors, exceptions and destructors.
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

struct Global {
    Global()
    {
        std::cout << "constructed\n";
    }
    ~Global()
    {
        std::cout << "destroyed" << std::endl;
    }
} global;

thread_local int in_thread = 5;

int main(int argc, char **argv)
{
    std::string text = argc > 1 ? argv[1] : "nothing";
    try {
        if (in_thread == 5)
            throw std::runtime_error("thrown " + text);
    } catch (const std::exception &error) {
        std::cout << error.what() << "\n";
    }
    std::exit(3);
}
