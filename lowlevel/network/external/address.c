/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets: finding the other side, starting it, or waiting for it. */
#include "lowlevel/network/external/address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/streams.h"

struct complaint {
    char *text;
    size_t size;
};

static int fail(struct complaint c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(struct complaint c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c.text, c.size, format, args);
    va_end(args);
    return -1;
}

static bool unix_address(struct sockaddr_un *to, const char *path, struct complaint c)
{
    *to = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!*path || strlen(path) >= sizeof to->sun_path) {
        fail(c, "a socket's path has 1 to %zu characters, not %zu", sizeof to->sun_path - 1, strlen(path));
        return false;
    }
    strcpy(to->sun_path, path);
    return true;
}

static int connect_unix(const char *path, struct complaint c)
{
    struct sockaddr_un to;
    if (!unix_address(&to, path, c))
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    int error = errno;
    if (fd >= 0)
        close(fd);
    return fail(c, "no simulator answers at '%s': %s", path, strerror(error));
}

/* HOST:PORT, where HOST may be in brackets, or empty where that makes sense. */
static struct addrinfo *look_up(const char *place, bool listens, struct complaint c)
{
    const char *colon = strrchr(place, ':');
    char host[256] = "";
    const char *port = colon ? colon + 1 : place;
    size_t length = colon ? (size_t)(colon - place) : 0;
    bool brackets = length >= 2 && place[0] == '[' && place[length - 1] == ']';
    if (!*port || strspn(port, "0123456789") != strlen(port) || length >= sizeof host ||
        (length == 0 && !listens)) {
        fail(c, "'%s' is not HOST:PORT", place);
        return NULL;
    }
    snprintf(host, sizeof host, "%.*s", (int)(brackets ? length - 2 : length), place + brackets);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    int error = getaddrinfo(*host ? host : "127.0.0.1", port, &hints, &found);
    if (!error)
        return found;
    fail(c, "'%s': %s", place, gai_strerror(error));
    return NULL;
}

static void send_at_once(int fd)
{
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

static int connect_tcp(const char *place, struct complaint c)
{
    struct addrinfo *found = look_up(place, false, c);
    int error = 0;
    for (struct addrinfo *to = found; to; to = to->ai_next) {
        int fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC, to->ai_protocol);
        if (fd >= 0 && connect(fd, to->ai_addr, to->ai_addrlen) == 0) {
            send_at_once(fd);
            freeaddrinfo(found);
            return fd;
        }
        error = errno;
        if (fd >= 0)
            close(fd);
    }
    if (!found)
        return -1;
    freeaddrinfo(found);
    return fail(c, "no simulator answers at '%s': %s", place, strerror(error));
}

/* Never returns. The child must not outlive its parent, however that ends. */
static void become(const char *command, int fd, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_IGN); /* at ^C its parent says what has happened, and ends it */
    dup2(fd, STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* what it prints is none of the program's output */
    execl("/bin/sh", "sh", "-c", pf_asprintf("exec %s", command), (char *)NULL);
    _exit(127);
}

static int start(const char *command, pid_t *child, struct complaint c)
{
    int ends[2];
    pid_t parent = getpid();
    if (!command[strspn(command, " ")])
        return fail(c, "exec: names no command");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return fail(c, "no socket: %s", strerror(errno));
    pf_flush_all();
    *child = fork();
    if (*child == 0)
        become(command, ends[1], parent);
    close(ends[1]);
    if (*child > 0)
        return ends[0];
    *child = 0;
    close(ends[0]);
    return fail(c, "cannot start '%s': %s", command, strerror(errno));
}

int pf_external_connect(const char *address, pid_t *child, char *error, size_t error_size)
{
    struct complaint c = {error, error_size};
    *child = 0;
    if (strncmp(address, "exec:", 5) == 0)
        return start(address + 5, child, c);
    if (strncmp(address, "tcp:", 4) == 0)
        return connect_tcp(address + 4, c);
    if (strncmp(address, "unix:", 5) == 0)
        return connect_unix(address + 5, c);
    if (strchr(address, '/'))
        return connect_unix(address, c);
    return fail(c, "'%s' is none of exec:COMMAND, unix:PATH, a path with a slash, and tcp:HOST:PORT",
                address);
}

int pf_external_listen_unix(const char *path, char *error, size_t error_size)
{
    struct complaint c = {error, error_size};
    struct sockaddr_un at;
    struct stat info;
    if (!unix_address(&at, path, c))
        return -1;
    /* What a dead server has left behind is replaced, and nothing else. */
    if (lstat(path, &info) == 0 && S_ISSOCK(info.st_mode)) {
        int there = connect_unix(path, c);
        if (there >= 0) {
            close(there);
            return fail(c, "another process already listens at '%s'", path);
        }
        unlink(path);
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    mode_t before = umask(0177);
    bool bound = fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0;
    umask(before);
    if (bound && listen(fd, 1) == 0)
        return fd;
    int why = errno;
    if (bound)
        unlink(path);
    if (fd >= 0)
        close(fd);
    return fail(c, "cannot listen at '%s': %s", path, strerror(why));
}

int pf_external_listen_tcp(const char *place, char *error, size_t error_size)
{
    struct complaint c = {error, error_size};
    struct addrinfo *at = look_up(place, true, c);
    int yes = 1;
    if (!at)
        return -1;
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    bool listens = fd >= 0 && bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, 1) == 0;
    int why = errno;
    freeaddrinfo(at);
    if (listens)
        return fd;
    if (fd >= 0)
        close(fd);
    return fail(c, "cannot listen at '%s': %s", place, strerror(why));
}
