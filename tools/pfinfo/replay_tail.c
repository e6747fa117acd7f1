/* SPDX-License-Identifier: BSD-3-Clause */
/* The rest of the library of pfinfo --record-program=calls: this rank's file, its clock, its begin and end.
 */
#define RECORD_BUFFER ((size_t)1 << 20)

static struct recorder recorder;

static struct {
    int fd;
    char *buffer;
    size_t written, used; /* bytes in the file; behind them in the buffer */
    long since, begin, cost;
    MPI_Comm comm; /* for the exchange of the ranks at the end */
} spool;

static long record_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void record_fail(const char *what)
{
    fprintf(stderr, "record: rank %d: %s: %s\n", recorder.rank, what, strerror(errno));
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

/* A call begins. */
static struct recorder *record_self(void)
{
    if (recorder.open && recorder.depth == 0)
        spool.begin = record_now();
    return &recorder;
}

static void record_left(struct recorder *me)
{
    if (me->open && me->depth == 0)
        spool.since = record_now();
}

/* Flops of a host of 1 Gf, so that a second here is one there. */
static double record_computed(struct recorder *me, int *sleeps)
{
    long ns = spool.begin - spool.since - spool.cost;
    (void)me;
    *sleeps = 0;
    return ns > 0 ? (double)ns : 0;
}

static void record_flush(void)
{
    for (size_t at = 0; at < spool.used;) {
        ssize_t done = write(spool.fd, spool.buffer + at, spool.used - at);
        if (done <= 0)
            record_fail("cannot write to the folder for temporary files ($TMPDIR)");
        at += (size_t)done;
    }
    spool.written += spool.used;
    spool.used = 0;
}

static long record_emit(struct recorder *me, const char *text, size_t length)
{
    (void)me;
    if (spool.used + length > RECORD_BUFFER)
        record_flush();
    long at = (long)(spool.written + spool.used);
    if (length > RECORD_BUFFER)
        record_fail("a call has too many arguments");
    memcpy(spool.buffer + spool.used, text, length);
    spool.used += length;
    return at;
}

static void record_amend(struct recorder *me, long at, const char *text, size_t length)
{
    (void)me;
    if ((size_t)at < spool.written)
        record_flush();
    if ((size_t)at >= spool.written)
        memcpy(spool.buffer + ((size_t)at - spool.written), text, length);
    else if (pwrite(spool.fd, text, length, at) != (ssize_t)length)
        record_fail("cannot write to the folder for temporary files ($TMPDIR)");
}

static void record_send_file(int to, FILE *out)
{
    long left = (long)spool.written;
    int count;
    if (to >= 0)
        PMPI_Send(&left, 1, MPI_LONG, to, 0, spool.comm);
    for (long at = 0; at < (long)spool.written; at += count) {
        count = (int)pread(spool.fd, spool.buffer, RECORD_BUFFER, at);
        if (count <= 0)
            record_fail("cannot read what it has recorded");
        if (to >= 0)
            PMPI_Send(spool.buffer, count, MPI_BYTE, to, 1, spool.comm);
        else if (fwrite(spool.buffer, 1, (size_t)count, out) != (size_t)count)
            record_fail("PARFOCAL_REPLAY_RECORD");
    }
}

static void record_receive_file(int from, FILE *out)
{
    long left;
    int count;
    MPI_Status status;
    PMPI_Recv(&left, 1, MPI_LONG, from, 0, spool.comm, MPI_STATUS_IGNORE);
    for (; left > 0; left -= count) {
        PMPI_Recv(spool.buffer, (int)RECORD_BUFFER, MPI_BYTE, from, 1, spool.comm, &status);
        PMPI_Get_count(&status, MPI_BYTE, &count);
        if (fwrite(spool.buffer, 1, (size_t)count, out) != (size_t)count)
            record_fail("PARFOCAL_REPLAY_RECORD");
    }
}

static void record_closed(struct recorder *me)
{
    const char *name = getenv("PARFOCAL_REPLAY_RECORD");
    int ranks;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    record_flush();
    if (me->rank > 0) {
        record_send_file(0, NULL);
    } else {
        FILE *out = fopen(name && *name ? name : "record.replay", "w");
        if (!out)
            record_fail("PARFOCAL_REPLAY_RECORD");
        fprintf(out, "# parfocal-replay 1 ranks %d\n", ranks);
        record_send_file(-1, out);
        for (int rank = 1; rank < ranks; rank++)
            record_receive_file(rank, out);
        if (fclose(out) != 0)
            record_fail("PARFOCAL_REPLAY_RECORD");
    }
    PMPI_Comm_free(&spool.comm);
    close(spool.fd);
}

static void record_begin(void)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_dup(MPI_COMM_WORLD, &spool.comm);
    snprintf(name, sizeof name, "%s/parfocal-record-XXXXXX", folder && *folder ? folder : "/tmp");
    spool.buffer = malloc(RECORD_BUFFER);
    spool.fd = mkstemp(name);
    recorder.rank = rank;
    if (!spool.buffer || spool.fd < 0 || unlink(name) != 0)
        record_fail("cannot write to the folder for temporary files ($TMPDIR)");
    record_begin_rank(&recorder, rank);
    spool.cost = 1000000;
    for (int i = 0; i < 1000; i++) {
        long first = record_now(), took = record_now() - first;
        spool.cost = took < spool.cost ? took : spool.cost;
    }
    spool.since = record_now();
}

int MPI_Init(int *argc, char ***argv)
{
    int answer = PMPI_Init(argc, argv);
    if (answer == MPI_SUCCESS)
        record_begin();
    return answer;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int answer = PMPI_Init_thread(argc, argv, required, provided);
    if (answer == MPI_SUCCESS)
        record_begin();
    return answer;
}

int MPI_Finalize(void)
{
    record_self();
    record_end_rank(&recorder);
    return PMPI_Finalize();
}

int MPI_Pcontrol(const int level, ...)
{
    return record_Pcontrol(level);
}
