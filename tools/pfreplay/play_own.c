/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of MPI functions as our recordings write them. */
#include "tools/pfreplay/play_own.h"

#include <string.h>

#include "base/memory.h"

void *play_place(void *memory)
{
    const char *word = play_word("a buffer");
    if (strcmp(word, "i") != 0 && strcmp(word, "-") != 0)
        play_die("%s: a buffer is i or -, not '%.20s'", play.action, word);
    return *word == 'i' ? MPI_IN_PLACE : memory;
}

MPI_Group play_group(void)
{
    MPI_Group world, group;
    int count = play_count("the size of a group"), *ranks = play_ints(count, "a rank");
    for (int i = 0; i < count; i++)
        if (ranks[i] < 0 || ranks[i] >= play.size)
            play_die("%s: there is no rank %d", play.action, ranks[i]);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    play_check(MPI_Group_incl(world, count, ranks, &group));
    MPI_Group_free(&world);
    return group;
}

MPI_Comm *play_new_comm(void)
{
    static MPI_Comm none;
    int number = play_int("the new communicator");
    return number == -1 ? &none : play_comm_slot(number);
}

int play_color(void)
{
    int color = play_int("the color");
    return color == -333 ? MPI_UNDEFINED : color;
}

int play_assert(void)
{
    static const int asserts[] = {MPI_MODE_NOCHECK, MPI_MODE_NOSTORE, MPI_MODE_NOPUT, MPI_MODE_NOPRECEDE,
                                  MPI_MODE_NOSUCCEED};
    int bits = play_int("the assertions"), result = 0;
    for (int i = 0; i < 5; i++)
        if (bits & 1 << i)
            result |= asserts[i];
    return result;
}

MPI_Datatype *play_types(int count)
{
    MPI_Datatype *types = pf_calloc((size_t)count + 1, sizeof *types);
    for (int i = 0; i < count; i++)
        types[i] = play_type();
    return types;
}

MPI_Aint *play_zero_aints(int count)
{
    static MPI_Aint *zeros;
    static int room;
    if (count > room) {
        free(zeros);
        room = count;
        zeros = pf_calloc((size_t)count, sizeof *zeros);
    }
    return zeros;
}
