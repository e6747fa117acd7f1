/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any np=2 stock=no */
/* Wrong arguments of calls that the middleware answers by itself: the class of the error, which is Open
 * MPI's, the caller's error handler, and nothing else has changed. Stock SMPI returns other classes, or
 * crashes. */
#include "check.h"

static MPI_Comm world, none = MPI_COMM_NULL, made;
static MPI_Group group;
static MPI_Datatype type;
static int one;

static void is(int expected, int code, const char *call, int line)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(code, &class);
    check_count++;
    if (class != expected) {
        printf("class %d, not %d: ", class, expected);
        check_failed(__FILE__, line, call);
    }
}

#define IS(class, call) is(MPI_ERR_##class, call, #call, __LINE__)
/* Open MPI does not look, or returns another class for a pointer that is NULL. */
#define OURS(class, call)                                                                                    \
    do {                                                                                                     \
        if (check_simulated())                                                                               \
            IS(class, call);                                                                                 \
    } while (0)

static void communicators(void)
{
    int flag = 0, length = 0;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Info info = MPI_INFO_NULL;
    MPI_Request request = MPI_REQUEST_NULL;

    IS(COMM, MPI_Comm_size(none, &one));
    IS(ARG, MPI_Comm_size(world, NULL));
    IS(COMM, MPI_Comm_rank(none, &one));
    IS(ARG, MPI_Comm_rank(world, NULL));
    IS(COMM, MPI_Comm_compare(world, none, &one));
    IS(COMM, MPI_Comm_compare(none, world, &one));
    IS(ARG, MPI_Comm_compare(world, world, NULL));
    IS(COMM, MPI_Comm_set_name(none, "name"));
    IS(ARG, MPI_Comm_set_name(world, NULL));
    IS(ARG, MPI_Comm_get_name(world, NULL, &length));
    IS(ARG, MPI_Comm_get_name(world, name, NULL));
    CHECK_OK(MPI_Info_create(&info));
    IS(COMM, MPI_Comm_set_info(none, info));
    CHECK_OK(MPI_Info_free(&info));
    IS(INFO, MPI_Comm_set_info(world, MPI_INFO_NULL));
    IS(COMM, MPI_Comm_get_info(none, &info));
    OURS(ARG, MPI_Comm_get_info(world, NULL));
    IS(COMM, MPI_Comm_group(none, &group));
    IS(ARG, MPI_Comm_group(world, NULL));
    IS(COMM, MPI_Comm_test_inter(none, &flag));
    IS(ARG, MPI_Comm_test_inter(world, NULL));
    IS(COMM, MPI_Comm_remote_size(none, &one));
    IS(COMM, MPI_Comm_remote_group(none, &group));
    IS(COMM, MPI_Comm_dup(none, &made));
    IS(ARG, MPI_Comm_dup(world, NULL));
    IS(COMM, MPI_Comm_idup(none, &made, &request));
    IS(ARG, MPI_Comm_idup(world, NULL, &request));
    IS(COMM, MPI_Comm_create(none, group, &made));
    IS(GROUP, MPI_Comm_create(world, MPI_GROUP_NULL, &made));
    IS(ARG, MPI_Comm_create(world, group, NULL));
    IS(COMM, MPI_Comm_create_group(none, group, 0, &made));
    OURS(GROUP, MPI_Comm_create_group(world, MPI_GROUP_NULL, 0, &made));
    IS(TAG, MPI_Comm_create_group(world, group, -7, &made));
    IS(ARG, MPI_Comm_create_group(world, group, 0, NULL));
    IS(COMM, MPI_Comm_split(none, 0, 0, &made));
    IS(ARG, MPI_Comm_split(world, 0, 0, NULL));
    IS(ARG, MPI_Comm_split(world, -3, 0, &made));
    IS(COMM, MPI_Comm_split_type(none, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
    IS(ARG, MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, NULL));
    IS(ARG, MPI_Comm_get_parent(NULL));
    IS(COMM, MPI_Comm_free(&none));
    made = MPI_COMM_WORLD;
    IS(COMM, MPI_Comm_free(&made));
    CHECK(made == MPI_COMM_WORLD && none == MPI_COMM_NULL && request == MPI_REQUEST_NULL);
    IS(COMM, MPI_Intercomm_create(none, 0, world, 0, 0, &made));
    IS(ARG, MPI_Intercomm_create(world, 0, world, 1, 0, NULL));
    IS(COMM, MPI_Intercomm_merge(none, 0, &made));
    IS(COMM, MPI_Comm_call_errhandler(none, MPI_ERR_OTHER));
}

static void groups(void)
{
    MPI_Group no = MPI_GROUP_NULL, new;
    int ranks[1] = {0}, range[1][3] = {{0, 0, 1}}, far[1] = {9};

    IS(GROUP, MPI_Group_size(no, &one));
    IS(ARG, MPI_Group_size(group, NULL));
    IS(GROUP, MPI_Group_rank(no, &one));
    IS(ARG, MPI_Group_rank(group, NULL));
    IS(GROUP, MPI_Group_compare(group, no, &one));
    IS(ARG, MPI_Group_compare(group, group, NULL));
    IS(GROUP, MPI_Group_translate_ranks(no, 1, ranks, group, ranks));
    OURS(ARG, MPI_Group_translate_ranks(group, 1, NULL, group, ranks));
    IS(GROUP, MPI_Group_union(group, no, &new));
    OURS(ARG, MPI_Group_union(group, group, NULL));
    IS(GROUP, MPI_Group_incl(no, 1, ranks, &new));
    IS(ARG, MPI_Group_incl(group, 1, NULL, &new));
    IS(RANK, MPI_Group_incl(group, 1, far, &new));
    IS(GROUP, MPI_Group_range_excl(no, 1, range, &new));
    OURS(ARG, MPI_Group_range_excl(group, 1, range, NULL));
    IS(GROUP, MPI_Group_free(&no));
}

static void datatypes(void)
{
    MPI_Aint low, extent;
    MPI_Count long_low, long_extent;
    MPI_Datatype no = MPI_DATATYPE_NULL, new = MPI_DATATYPE_NULL, named = MPI_INT,
                 types[1] = {MPI_DATATYPE_NULL};
    int lengths[1] = {1}, places[1] = {0}, a, b, c, d, length;
    MPI_Aint far[1] = {0};
    char name[MPI_MAX_OBJECT_NAME];

    IS(TYPE, MPI_Type_size(no, &one));
    IS(ARG, MPI_Type_size(type, NULL));
    IS(TYPE, MPI_Type_size_x(no, &long_low));
    IS(ARG, MPI_Type_size_x(type, NULL));
    IS(TYPE, MPI_Type_get_extent(no, &low, &extent));
    IS(ARG, MPI_Type_get_extent(type, NULL, &extent));
    IS(TYPE, MPI_Type_get_extent_x(no, &long_low, &long_extent));
    IS(ARG, MPI_Type_get_true_extent(type, &low, NULL));
    IS(TYPE, MPI_Type_get_true_extent_x(no, &long_low, &long_extent));
    IS(TYPE, MPI_Type_get_envelope(no, &a, &b, &c, &d));
    IS(ARG, MPI_Type_get_envelope(type, NULL, &b, &c, &d));
    IS(TYPE, MPI_Type_commit(&no));
    IS(TYPE, MPI_Type_free(&no));
    IS(TYPE, MPI_Type_free(&named));
    IS(TYPE, MPI_Type_dup(no, &new));
    OURS(ARG, MPI_Type_dup(type, NULL));
    IS(TYPE, MPI_Type_set_name(no, "name"));
    IS(ARG, MPI_Type_set_name(type, NULL));
    IS(ARG, MPI_Type_get_name(type, NULL, &length));
    IS(TYPE, MPI_Type_create_hvector(1, 1, 8, no, &new));
    IS(COUNT, MPI_Type_create_hvector(-1, 1, 8, type, &new));
    IS(TYPE, MPI_Type_create_hindexed(1, lengths, far, no, &new));
    IS(ARG, MPI_Type_create_hindexed(1, NULL, far, type, &new));
    IS(TYPE, MPI_Type_create_indexed_block(1, 1, places, no, &new));
    IS(COUNT, MPI_Type_create_hindexed_block(-1, 1, far, type, &new));
    IS(TYPE, MPI_Type_create_struct(1, lengths, far, types, &new));
    IS(ARG, MPI_Type_create_struct(1, lengths, far, NULL, &new));
    IS(TYPE, MPI_Type_create_resized(no, 0, 8, &new));
    IS(ARG, MPI_Get_address(NULL, NULL));
    CHECK(new == MPI_DATATYPE_NULL &&named == MPI_INT);
}

static void infos(void)
{
    MPI_Info info, no = MPI_INFO_NULL;
    int flag, length;
    char text[8], key[MPI_MAX_INFO_KEY + 8];

    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = 0;
    OURS(ARG, MPI_Info_create(NULL));
    CHECK_OK(MPI_Info_create(&info));
    IS(INFO, MPI_Info_dup(no, &info));
    OURS(ARG, MPI_Info_dup(info, NULL));
    IS(INFO, MPI_Info_free(&no));
    IS(INFO, MPI_Info_set(no, "key", "value"));
    IS(INFO_KEY, MPI_Info_set(info, key, "value"));
    IS(INFO_VALUE, MPI_Info_set(info, "key", NULL));
    IS(INFO, MPI_Info_delete(no, "key"));
    IS(INFO_KEY, MPI_Info_delete(info, key));
    IS(INFO_NOKEY, MPI_Info_delete(info, "key"));
    IS(INFO, MPI_Info_get(no, "key", 7, text, &flag));
    IS(INFO_KEY, MPI_Info_get(info, key, 7, text, &flag));
    OURS(ARG, MPI_Info_get(info, "key", 7, NULL, &flag));
    IS(ARG, MPI_Info_get(info, "key", 7, text, NULL));
    IS(INFO, MPI_Info_get_valuelen(no, "key", &length, &flag));
    IS(INFO_KEY, MPI_Info_get_valuelen(info, key, &length, &flag));
    IS(ARG, MPI_Info_get_valuelen(info, "key", NULL, &flag));
    IS(INFO, MPI_Info_get_nkeys(no, &length));
    IS(ARG, MPI_Info_get_nkeys(info, NULL));
    IS(INFO, MPI_Info_get_nthkey(no, 0, key));
    OURS(ARG, MPI_Info_get_nthkey(info, 3, key));
    CHECK_OK(MPI_Info_free(&info));
}

static void topologies(void)
{
    int dims[1] = {2}, periods[1] = {0}, coords[1] = {0}, far[1] = {7}, index[2] = {1, 2}, edges[2] = {1, 0},
        a, b;
    MPI_Comm line, graph;

    IS(COMM, MPI_Cart_create(none, 1, dims, periods, 0, &made));
    IS(COMM, MPI_Graph_create(none, 2, index, edges, 0, &made));
    IS(COMM, MPI_Topo_test(none, &a));
    IS(ARG, MPI_Topo_test(world, NULL));
    IS(TOPOLOGY, MPI_Cartdim_get(world, &a));
    IS(TOPOLOGY, MPI_Cart_get(world, 1, dims, periods, coords));
    IS(TOPOLOGY, MPI_Cart_rank(world, coords, &a));
    IS(TOPOLOGY, MPI_Cart_coords(world, 0, 1, coords));
    IS(TOPOLOGY, MPI_Cart_shift(world, 0, 1, &a, &b));
    IS(TOPOLOGY, MPI_Cart_sub(world, periods, &made));
    IS(COMM, MPI_Cart_map(none, 1, dims, periods, &a));
    IS(TOPOLOGY, MPI_Graphdims_get(world, &a, &b));
    IS(TOPOLOGY, MPI_Graph_get(world, 2, 2, index, edges));
    IS(TOPOLOGY, MPI_Graph_neighbors(world, 0, 1, edges));
    CHECK_OK(MPI_Cart_create(world, 1, dims, periods, 0, &line));
    IS(ARG, MPI_Cartdim_get(line, NULL));
    IS(ARG, MPI_Cart_get(line, 1, NULL, periods, coords));
    IS(ARG, MPI_Cart_rank(line, coords, NULL));
    IS(ARG, MPI_Cart_rank(line, far, &a));
    IS(RANK, MPI_Cart_coords(line, 5, 1, coords));
    IS(ARG, MPI_Cart_coords(line, 0, 1, NULL));
    IS(DIMS, MPI_Cart_shift(line, -1, 1, &a, &b));
    IS(ARG, MPI_Cart_shift(line, 0, 1, NULL, &b));
    OURS(ARG, MPI_Cart_sub(line, dims, NULL));
    CHECK_OK(MPI_Comm_free(&line));
    CHECK_OK(MPI_Graph_create(world, 2, index, edges, 0, &graph));
    IS(ARG, MPI_Graphdims_get(graph, NULL, &b));
    IS(ARG, MPI_Graph_get(graph, 2, 2, NULL, edges));
    IS(RANK, MPI_Graph_neighbors_count(graph, 4, &a));
    IS(ARG, MPI_Graph_neighbors_count(graph, 0, NULL));
    IS(RANK, MPI_Graph_neighbors(graph, 4, 1, edges));
    IS(ARG, MPI_Graph_neighbors(graph, 0, 1, NULL));
    CHECK_OK(MPI_Comm_free(&graph));
    IS(ARG, MPI_Dims_create(2, 1, NULL));
}

static void requests(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    void *buffer;
    int flag;

    IS(COMM, MPI_Send_init(&one, 1, MPI_INT, 0, 0, none, &request));
    IS(COUNT, MPI_Send_init(&one, -1, MPI_INT, 0, 0, world, &request));
    IS(TYPE, MPI_Recv_init(&one, 1, MPI_DATATYPE_NULL, 0, 0, world, &request));
    IS(TAG, MPI_Send_init(&one, 1, MPI_INT, 0, -9, world, &request));
    IS(RANK, MPI_Recv_init(&one, 1, MPI_INT, 9, 0, world, &request));
    IS(REQUEST, MPI_Start(&request));
    OURS(COMM, MPI_Probe(0, 0, none, &status));
    OURS(COMM, MPI_Iprobe(0, 0, none, &flag, &status));
    OURS(COMM, MPI_Improbe(0, 0, none, &flag, &message, &status));
    OURS(REQUEST, MPI_Mrecv(&one, 1, MPI_INT, &message, &status));
    OURS(REQUEST, MPI_Imrecv(&one, 1, MPI_INT, &message, &request));
    IS(ARG, MPI_Test_cancelled(&status, NULL));
    IS(ARG, MPI_Status_set_cancelled(NULL, 1));
    IS(ARG, MPI_Buffer_attach(NULL, 16));
    IS(ARG, MPI_Buffer_attach(&one, -1));
    IS(ARG, MPI_Buffer_detach(NULL, &flag));
    IS(ARG, MPI_Alloc_mem(-1, MPI_INFO_NULL, &buffer));
    IS(ARG, MPI_Alloc_mem(8, MPI_INFO_NULL, NULL));
    OURS(ARG, MPI_Op_create(NULL, 1, &(MPI_Op){MPI_OP_NULL}));
    IS(OP, MPI_Op_free(&(MPI_Op){MPI_SUM}));
    IS(OP, MPI_Op_commutative(MPI_OP_NULL, &flag));
    CHECK(request == MPI_REQUEST_NULL);
}

static void windows(void)
{
    MPI_Win win = MPI_WIN_NULL, wrong = MPI_WIN_NULL;
    MPI_Info info = MPI_INFO_NULL;
    char name[MPI_MAX_OBJECT_NAME];
    void *base = NULL;
    int length;

    IS(COMM, MPI_Win_create(&one, sizeof one, 1, MPI_INFO_NULL, none, &win));
    OURS(ARG, MPI_Win_create(&one, sizeof one, 1, MPI_INFO_NULL, world, NULL));
    IS(COMM, MPI_Win_allocate(4, 1, MPI_INFO_NULL, none, &base, &win));
    IS(COMM, MPI_Win_allocate_shared(4, 1, MPI_INFO_NULL, none, &base, &win));
    IS(COMM, MPI_Win_create_dynamic(MPI_INFO_NULL, none, &win));
    IS(WIN, MPI_Win_free(&wrong));
    IS(WIN, MPI_Win_fence(0, wrong));
    IS(WIN, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, wrong));
    IS(WIN, MPI_Win_unlock(0, wrong));
    IS(WIN, MPI_Win_lock_all(0, wrong));
    IS(WIN, MPI_Win_unlock_all(wrong));
    IS(WIN, MPI_Win_sync(wrong));
    IS(WIN, MPI_Win_post(group, 0, wrong));
    IS(WIN, MPI_Win_start(group, 0, wrong));
    IS(WIN, MPI_Win_complete(wrong));
    IS(WIN, MPI_Win_test(wrong, &length));
    IS(WIN, MPI_Win_attach(wrong, &one, 4));
    IS(WIN, MPI_Win_detach(wrong, &one));
    IS(WIN, MPI_Win_get_group(wrong, &group));
    IS(WIN, MPI_Win_set_name(wrong, "name"));
    IS(WIN, MPI_Win_set_info(wrong, MPI_INFO_NULL));
    IS(WIN, MPI_Win_get_info(wrong, &info));
    IS(WIN, MPI_Win_call_errhandler(wrong, MPI_ERR_OTHER));
    CHECK_OK(MPI_Win_create(&one, sizeof one, 1, MPI_INFO_NULL, world, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    IS(LOCKTYPE, MPI_Win_lock(99, 0, 0, win));
    IS(ARG, MPI_Win_get_group(win, NULL));
    IS(ARG, MPI_Win_set_name(win, NULL));
    IS(ARG, MPI_Win_get_name(win, NULL, &length));
    IS(INFO, MPI_Win_set_info(win, MPI_INFO_NULL));
    IS(ARG, MPI_Win_get_info(win, NULL));
    IS(ARG, MPI_Win_get_attr(win, MPI_WIN_SIZE, NULL, &length));
    OURS(ARG, MPI_Win_test(win, NULL));
    IS(RMA_FLAVOR, MPI_Win_shared_query(win, 0, &(MPI_Aint){0}, &length, &base));
    CHECK_OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL && info == MPI_INFO_NULL && base == NULL);
}

/* Null handles have names, as MPI 4.0 says in section 7.8. */
static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;

    CHECK_OK(MPI_Comm_get_name(none, name, &length));
    CHECK(!strcmp(name, "MPI_COMM_NULL") && length == 13);
    CHECK_OK(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length));
    CHECK(!strcmp(name, "MPI_DATATYPE_NULL") && length == 17);
    CHECK_OK(MPI_Win_get_name(MPI_WIN_NULL, name, &length));
    CHECK(!strcmp(name, "MPI_WIN_NULL") && length == 12);
    CHECK_OK(MPI_Type_set_name(MPI_SHORT, "two bytes"));
    CHECK_OK(MPI_Type_get_name(MPI_SHORT, name, &length));
    CHECK(!strcmp(name, "two bytes") && length == 9);
    CHECK_OK(MPI_Type_get_name(MPI_LONG_LONG, name, &length)); /* a synonym, as the next one */
    CHECK(!strcmp(name, "MPI_LONG_LONG_INT"));
    CHECK_OK(MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, name, &length));
    CHECK(!strcmp(name, "MPI_C_COMPLEX"));
}

int main(int argc, char **argv)
{
    int total = 0, mine = 1;

    check_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Comm_group(world, &group));
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    communicators();
    groups();
    datatypes();
    infos();
    topologies();
    requests();
    windows();
    if (check_simulated())
        names();
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, world));
    CHECK(total == check_size);
    CHECK_OK(MPI_Comm_free(&world));
    return check_end("badargs");
}
