/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects made in memory of ours: one that fits, and one that is larger than was thought, which ends the
 * process. */
#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

#include "lowlevel/simgrid/room.h"

namespace
{

/* Its constructor writes as much as the library's would. */
class Object
{
    char room_[1024];

  public:
    explicit Object(size_t bytes)
    {
        for (size_t i = 0; i < bytes; i++)
            static_cast<volatile char *>(room_)[i] = 0;
    }
};

bool ends(size_t bytes)
{
    pid_t child = fork();
    if (child == 0) {
        delete pf_simgrid_new<Object>("object", bytes);
        _exit(0);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

} // namespace

int main()
{
    bool good = !ends(100) && !ends(960) && ends(961) && ends(1024);
    puts(good ? "PASS" : "FAIL");
    return good ? 0 : 1;
}
