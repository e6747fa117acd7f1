/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The links of all routes of a platform: for each ordered pair of hosts a line with their numbers, in the
 * order of the platform, and the names of the links. Needs nothing but SimGrid:
 *
 *     cc routes.c -o routes -lsimgrid && ./routes PLATFORM HOSTS
 */
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <stdio.h>
#include <stdlib.h>
#include <xbt/dynar.h>

int main(int argc, char **argv)
{
    simgrid_init(&argc, argv);
    if (argc != 3) {
        fprintf(stderr, "usage: routes PLATFORM HOSTS\n");
        return 2;
    }
    simgrid_load_platform(argv[1]);
    int hosts = atoi(argv[2]);
    for (int from = 0; from < hosts; from++)
        for (int to = 0; to < hosts; to++) {
            char name[2][32];
            snprintf(name[0], sizeof name[0], "node-%d", from);
            snprintf(name[1], sizeof name[1], "node-%d", to);
            xbt_dynar_t links = xbt_dynar_new(sizeof(sg_link_t), NULL);
            sg_host_get_route(sg_host_by_name(name[0]), sg_host_by_name(name[1]), links);
            printf("%d %d", from, to);
            for (unsigned long i = 0; i < xbt_dynar_length(links); i++)
                printf(" %s", sg_link_get_name(xbt_dynar_get_as(links, i, sg_link_t)));
            printf("\n");
            xbt_dynar_free(&links);
        }
    return 0;
}
