/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank has of the C library as a process has it: one case for each run, named by the first argument.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <getopt.h>
#include <locale.h>
#include <mpi.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static int rank, size;
static char **arguments;
static int argument_count;

/* All others run meanwhile. */
static void turn(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static FILE *log_file(const char *mode)
{
    char name[32];
    snprintf(name, sizeof name, "log.%d", rank);
    return fopen(name, mode);
}

static const char *log_name(void)
{
    static char name[32];
    snprintf(name, sizeof name, "log.%d", rank);
    return name;
}

static void numbers(void)
{
    for (int i = 0; i < 4; i++) {
        printf("%d: %d %ld", rank, rand(), random());
        turn();
        printf(" %.15g %ld %ld\n", drand48(), lrand48(), mrand48());
        turn();
    }
}

static void seeded(void)
{
    srand(rank + 1);
    srand48(rank + 7);
    numbers();
    srandom(rank + 3);
    numbers();
}

static void unseeded(void)
{
    numbers();
}

static void states(void)
{
    char mine[64];
    char *before = initstate(rank + 5, mine, sizeof mine);
    turn();
    long first = random();
    turn();
    char *own = setstate(before);
    turn();
    long second = random();
    setstate(mine);
    turn();
    printf("%d: %ld %ld %ld %d\n", rank, first, second, random(), own == mine);
}

static void congruence(void)
{
    unsigned short seed[3] = {rank, 2, 3}, parameters[7] = {1, 2, rank, 4, 5, 6, 7}, x[3] = {9, 9, rank};
    unsigned short *old = seed48(seed);
    turn();
    printf("%d: %d %ld\n", rank, old[0], lrand48());
    lcong48(parameters);
    turn();
    printf("%d: %ld %.15g %ld %ld\n", rank, lrand48(), erand48(x), nrand48(x), jrand48(x));
    turn();
    printf("%d: %d\n", rank, rand_r(&(unsigned){rank}));
}

static void tokens(void)
{
    char text[64];
    snprintf(text, sizeof text, "a%d,b%d,,c%d", rank, rank, rank);
    for (char *t = strtok(text, ","); t; t = strtok(NULL, ",")) {
        printf("%d: %s\n", rank, t);
        turn();
    }
}

static void dates(void)
{
    time_t day = 86400L * 365 * (rank + 1);
    setenv("TZ", rank == 1 ? "EST5" : "UTC", 1);
    struct tm *local = localtime(&day);
    char *text = asctime(local);
    turn();
    printf("%d: %d %s", rank, local->tm_year, text);
    struct tm *world = gmtime(&(time_t){day / 2});
    turn();
    printf("%d: %d %d\n", rank, local->tm_year, world->tm_yday);
    text = ctime(&(time_t){day / 3});
    setenv("TZ", "UTC", 1);
    turn();
    printf("%d: %d\n", rank, text[3]);
}

static void texts(void)
{
    char *unknown = strerror(1000 + rank), *signal_text = strsignal(100 + rank);
    char *address = inet_ntoa((struct in_addr){htonl(0x0a000000 + rank)});
    turn();
    printf("%d: %s, %s, %s\n", rank, unknown, signal_text, address);
}

static void rounding(void)
{
    volatile double one = 1, three = 3;
    fesetround(rank == 1 ? FE_UPWARD : rank == 2 ? FE_TOWARDZERO : FE_TONEAREST);
    turn();
    printf("%d: %d %.20g\n", rank, fegetround(), one / three);
}

static void table(void)
{
    hcreate(10);
    hsearch((ENTRY){"a key", (char *)"value" + rank}, ENTER);
    turn();
    ENTRY *found = hsearch((ENTRY){"a key", NULL}, FIND);
    printf("%d: %s\n", rank, found ? (char *)found->data : "nothing");
    hdestroy();
}

static void characters(void)
{
    wchar_t wide = 0;
    size_t first = mbrtowc(&wide, rank ? "a" : "b", 1, NULL);
    turn();
    printf("%d: %zu %d %d %d\n", rank, first, (int)wide, mbtowc(&wide, "xyz", 3), mblen("", 1));
}

static void read_options(const char *letters)
{
    int option;
    while ((option = getopt(argument_count, arguments, letters)) != -1) {
        printf("%d: option %c %s, at %d\n", rank, option, optarg ? optarg : "-", optind);
        for (int i = 0; i < rank; i++)
            usleep(1);
        turn();
    }
    printf("%d: rest", rank);
    for (int i = optind; i < argument_count; i++)
        printf(" %s", arguments[i]);
    printf("\n");
}

static void options(void)
{
    read_options("ab:c::");
}

static void options_twice(void)
{
    read_options("ab:c::");
    optind = 1;
    read_options("+ab:c::");
    optind = 0;
    read_options("-ab:c::");
}

static void options_bad(void)
{
    dup2(1, 2);
    arguments[0] = "cases";
    read_options("b");
    optind = 1;
    opterr = 0;
    read_options(":c:");
    printf("%d: %c\n", rank, optopt);
}

static void options_long(void)
{
    int flag = 0, which = -1, option;
    const struct option longs[] = {
        {"alpha", no_argument, NULL, 'A'},       {"beta", required_argument, NULL, 'B'},
        {"bet", optional_argument, NULL, 'O'},   {"flag", no_argument, &flag, 7},
        {"gamma", required_argument, NULL, 'G'}, {NULL, 0, NULL, 0}};
    char *list[] = {"cases", "--alpha",   "x",         "--beta=1", "--flag", "-zz",     "--bet", "--gam",
                    "2",     "--nothing", "--alpha=1", "y",        "--",     "--alpha", NULL};
    dup2(1, 2);
    while ((option = getopt_long(14, list, "z", longs, &which)) != -1) {
        printf("%d: %d %s %d %d\n", rank, option, optarg ? optarg : "-", optind, which);
        turn();
    }
    printf("%d: flag %d, rest %s %s %s\n", rank, flag, list[optind], list[optind + 1], list[13]);
    char *only[] = {"cases", "-alpha", "-beta", "3", "-z", "-q", "-gamma", NULL};
    for (optind = 0; (option = getopt_long_only(7, only, "z", longs, &which)) != -1;)
        printf("%d: %d %s %d\n", rank, option, optarg ? optarg : "-", optind);
}

static void environment(void)
{
    extern char **environ;
    char entry[] = "PUT=0";
    setenv("MINE", rank ? "other" : "first", 1);
    entry[4] += rank;
    putenv(entry);
    if (rank == 2)
        unsetenv("MINE");
    turn();
    printf("%d: %s %s\n", rank, getenv("MINE") ? getenv("MINE") : "unset", getenv("PUT"));
    if (rank == 1)
        clearenv();
    turn();
    printf("%d: %d\n", rank, environ && *environ);
}

static void masks(void)
{
    mode_t before = umask(rank == 1 ? 077 : 022);
    turn();
    fclose(log_file("w"));
    struct stat status;
    stat(log_name(), &status);
    printf("%d: %o %o\n", rank, (unsigned)(before | 022), status.st_mode & 0777);
    mkdir(rank ? "one" : "two", 0777);
    stat(rank ? "one" : "two", &status);
    printf("%d: %o\n", rank, (unsigned)umask(0));
}

static void folders(void)
{
    char name[32], here[4096], *end;
    snprintf(name, sizeof name, "sub.%d", rank);
    mkdir(name, 0755);
    turn();
    if (chdir(name) != 0)
        printf("%d: %m\n", rank);
    turn();
    fclose(log_file("w"));
    end = strrchr(getcwd(here, sizeof here), '/');
    int descriptor = open("second", O_WRONLY | O_CREAT, 0644);
    dprintf(descriptor, "rank %d\n", rank);
    close(descriptor);
    rename("second", "third");
    DIR *folder = opendir(".");
    int entries = 0;
    while (readdir(folder))
        entries++;
    closedir(folder);
    char *real = realpath("third", NULL);
    printf("%d: %s %d %s %d\n", rank, end, entries, strrchr(real, '/'), access("../log.9", F_OK));
    if (rank == 1)
        chdir("..");
    turn();
    printf("%d: %d\n", rank, access(name, F_OK));
    MPI_File file;
    MPI_File_open(MPI_COMM_SELF, "by_mpi", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write(file, "x\n", 2, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    system("ls -I listing | tr '\\n' ' ' > listing");
}

static volatile sig_atomic_t got;

static void on_signal(int number)
{
    got = number * 10 + rank;
}

static void on_info(int number, siginfo_t *info, void *context)
{
    (void)context;
    got = number * 100 + info->si_signo + rank;
}

static void signals(void)
{
    struct sigaction action = {.sa_sigaction = on_info, .sa_flags = SA_SIGINFO}, before;
    signal(SIGUSR1, rank == 1 ? SIG_IGN : on_signal);
    if (rank == 2)
        sigaction(SIGUSR2, &action, NULL);
    turn();
    raise(SIGUSR1);
    printf("%d: %d\n", rank, (int)got);
    sigaction(SIGUSR2, NULL, &before);
    printf("%d: %d\n", rank, before.sa_handler == SIG_DFL);
    turn();
    if (rank == 2)
        kill(getpid(), SIGUSR2);
    printf("%d: %d %d\n", rank, (int)got, signal(SIGUSR1, SIG_DFL) == SIG_IGN);
}

static void say(void)
{
    printf("%d: handler\n", rank);
}

static void say_and_exit(void)
{
    printf("%d: handler that ends\n", rank);
    exit(0);
}

static void say_last(int status, void *arg)
{
    printf("%d: %s %d\n", rank, (char *)arg, status);
}

static void finalize_late(void)
{
    int sum = 1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d: sum %d\n", rank, sum);
    MPI_Finalize();
}

static void ends(void)
{
    on_exit(say_last, "last");
    atexit(say);
    atexit(say_and_exit);
    atexit(say);
    turn();
}

static void end_with_mpi(void)
{
    atexit(finalize_late);
    exit(0);
}

static void end_inside(void)
{
    on_exit(say_last, "end");
    MPI_Finalize();
    exit(rank == 1 ? 0 : 0);
}

static void end_quickly(void)
{
    at_quick_exit(say);
    atexit(say_and_exit);
    MPI_Finalize();
    quick_exit(0);
}

static void end_at_once(void)
{
    printf("%d: complete\n", rank);
    fflush(stdout);
    atexit(say);
    MPI_Finalize();
    _exit(0);
}

static __attribute__((destructor)) void destruct(void)
{
    if (argument_count > 2 && strcmp(arguments[1], "destructor") == 0)
        printf("%d: destructor\n", rank);
}

static void nothing(void)
{
    atexit(say);
}

static void close_output(void)
{
    if (rank)
        fclose(stdout);
    turn();
    int result = printf("%d: said\n", rank);
    FILE *report = log_file("w");
    fprintf(report, "%d %d\n", result < 0, fflush(stdout) != 0);
    fclose(report);
}

static void drop_output(void)
{
    if (rank)
        freopen("/dev/null", "w", stdout);
    turn();
    printf("%d: said\n", rank);
    write(1, rank ? "from no. 1\n" : "from no. 0\n", 11);
}

static void move_output(void)
{
    FILE *before = stdout, *after = freopen(log_name(), "w", stdout);
    turn();
    printf("%d: %d %d\n", rank, before == after, fileno(stdout));
    puts("a line");
    fflush(stdout);
    write(STDOUT_FILENO, "raw\n", 4);
    system("echo shell");
    turn();
    fprintf(before, "once more\n");
}

static void move_descriptor(void)
{
    int file = open(log_name(), O_WRONLY | O_CREAT | O_TRUNC, 0644), saved = dup(1);
    printf("%d: before\n", rank);
    fflush(stdout);
    dup2(file, 1);
    close(file);
    turn();
    printf("%d: inside\n", rank);
    fflush(stdout);
    turn();
    if (rank != 1) {
        dup2(saved, 1);
        close(saved);
    }
    turn();
    printf("%d: after\n", rank);
}

static void close_and_open(void)
{
    if (rank) {
        close(1);
        int file = open(log_name(), O_WRONLY | O_CREAT, 0644);
        printf("descriptor %d\n", file);
    }
    turn();
    printf("%d: said, %d\n", rank, fcntl(1, F_GETFD) >= 0);
    fflush(stdout);
}

static void close_descriptors(void)
{
    if (rank == 1)
        close(2);
    if (rank == 2)
        close(0);
    turn();
    printf("%d: %d %d %d\n", rank, (int)write(2, "", 0), (int)read(0, &(char){0}, 0), close(1));
    FILE *report = log_file("w");
    fprintf(report, "%d\n", (int)write(1, "x", 1));
    fclose(report);
}

static void assign_output(void)
{
    FILE *before = stdout;
    if (rank)
        stdout = log_file("w");
    turn();
    printf("%d: said\n", rank);
    putchar('x');
    puts("");
    turn();
    fprintf(before, "%d: also\n", rank);
    if (rank)
        fclose(stdout);
}

static void buffers(void)
{
    static char buffer[1000];
    if (rank)
        setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    printf("%d: first part", rank);
    turn();
    printf(", second part\n");
    turn();
    fputs("", stdout);
    printf("%d: %d\n", rank, rank == 0 || strstr(buffer, "second") != NULL);
}

static void pieces(void)
{
    for (int i = 0; i < 3; i++) {
        printf("%d: begin ", rank);
        putchar('a' + i);
        turn();
        printf(" end");
        puts("");
    }
}

static void wide(void)
{
    wprintf(L"%d: wide", rank);
    turn();
    putwchar(L'\n');
    wprintf(L"%d: %d %d\n", rank, fwide(stdout, 0) > 0, printf("x") < 0);
}

static void input(void)
{
    char word[20] = "none";
    int number = -1, letter = getchar(), found = scanf("%d %19s", &number, word);
    turn();
    printf("%d: %d %d %d %s %d\n", rank, letter, found, number, word, feof(stdin) != 0);
}

static void raw_input(void)
{
    char bytes[8] = "";
    int n = (int)read(0, bytes, 3);
    turn();
    printf("%d: %d %s\n", rank, n, bytes);
}

static void own_input(void)
{
    FILE *file = log_file("w");
    fprintf(file, "%d\n%d\n", rank + 10, rank + 20);
    fclose(file);
    int first = 0, second = 0;
    if (rank == 1)
        freopen(log_name(), "r", stdin);
    else
        dup2(open(log_name(), O_RDONLY), 0);
    turn();
    scanf("%d", &first);
    turn();
    scanf("%d", &second);
    printf("%d: %d %d\n", rank, first, second);
}

static void errors(void)
{
    freopen(log_name(), "w", stderr);
    program_invocation_name = program_invocation_short_name = "cases";
    turn();
    errno = ENOENT;
    perror("perror");
    fprintf(stderr, "%d: fprintf\n", rank);
    warnx("warnx %d", rank);
    write(2, "write\n", 6);
    turn();
    printf("%d: %d\n", rank, fileno(stderr));
}

static void error_exit(void)
{
    freopen(log_name(), "w", stderr);
    program_invocation_name = program_invocation_short_name = "cases";
    atexit(say);
    MPI_Finalize();
    errx(0, "the end of %d", rank);
}

static void opened(void)
{
    FILE *again = fdopen(1, "w");
    fprintf(again, "%d: again\n", rank);
    fflush(again);
    if (rank)
        fclose(again);
    turn();
    printf("%d: %d\n", rank, dprintf(1, "%d: direct\n", rank) > 0);
    fflush(stdout);
}

static void child(void)
{
    if (rank)
        freopen(log_name(), "w", stdout);
    mkdir(rank == 2 ? "deep" : "flat", 0755);
    if (rank == 2)
        chdir("deep");
    turn();
    pid_t pid = fork();
    if (pid == 0) {
        execlp("sh", "sh", "-c", "basename $(pwd | grep -o 'deep$' || echo top)", (char *)NULL);
        _exit(1);
    }
    waitpid(pid, NULL, 0);
    turn();
    FILE *pipe = popen("echo from a pipe", "r");
    char line[40] = "";
    fgets(line, sizeof line, pipe);
    pclose(pipe);
    printf("%d: %s", rank, line);
}

static void opens_many(void)
{
    int number = open("/dev/null", O_WRONLY), copy = dup(number);
    printf("%d: %d %d\n", rank, number > 2, copy > number);
    FILE *files[4];
    for (int i = 0; i < 4; i++)
        files[i] = tmpfile();
    turn();
    for (int i = 0; i < 4; i++) {
        fprintf(files[i], "%d", rank * 10 + i);
        rewind(files[i]);
        int value;
        fscanf(files[i], "%d", &value);
        printf("%d: %d\n", rank, value);
    }
}

static void stream_flags(void)
{
    if (rank == 1)
        fclose(stdin);
    turn();
    printf("%d: %d %d\n", rank, getchar() == EOF || !rank, ferror(stdout));
    clearerr(stdin);
    if (rank == 2) {
        int full = open("/dev/full", O_WRONLY);
        dup2(full, 1);
        printf("lost\n");
        fflush(stdout);
    }
    turn();
    fprintf(stderr, "%s", "");
    FILE *report = log_file("w");
    fprintf(report, "%d\n", ferror(stdout) != 0);
    fclose(report);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"seeded", seeded},
             {"unseeded", unseeded},
             {"states", states},
             {"congruence", congruence},
             {"tokens", tokens},
             {"dates", dates},
             {"texts", texts},
             {"rounding", rounding},
             {"table", table},
             {"characters", characters},
             {"options", options},
             {"options_twice", options_twice},
             {"options_bad", options_bad},
             {"options_long", options_long},
             {"environment", environment},
             {"masks", masks},
             {"folders", folders},
             {"signals", signals},
             {"ends", ends},
             {"end_with_mpi", end_with_mpi},
             {"end_inside", end_inside},
             {"end_quickly", end_quickly},
             {"end_at_once", end_at_once},
             {"destructor", nothing},
             {"close_output", close_output},
             {"drop_output", drop_output},
             {"move_output", move_output},
             {"move_descriptor", move_descriptor},
             {"close_and_open", close_and_open},
             {"close_descriptors", close_descriptors},
             {"assign_output", assign_output},
             {"buffers", buffers},
             {"pieces", pieces},
             {"wide", wide},
             {"input", input},
             {"raw_input", raw_input},
             {"own_input", own_input},
             {"errors", errors},
             {"error_exit", error_exit},
             {"opened", opened},
             {"child", child},
             {"opens_many", opens_many},
             {"stream_flags", stream_flags}};

int main(int argc, char **argv)
{
    int done = 0, found = 0;
    arguments = argv;
    argument_count = argc;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(argv[1], cases[i].name) == 0)
            cases[i].run(), found = 1;
    if (!found)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Finalized(&done);
    if (!done)
        MPI_Finalize();
    return 0;
}
