/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A job of SMPI with one rank, on a platform of one host (host.xml). */

#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <smpi/smpi.h>

/* Runs `rank` between MPI_Init and MPI_Finalize. Once in a process. */
inline void pf_simgrid_one_rank(char **argv, const char *platform, void (*rank)())
{
    int one = 1;
    simgrid::s4u::Engine engine(&one, argv);
    engine.load_platform(platform);
    auto *host = engine.host_by_name("host");
    SMPI_init();
    SMPI_app_instance_register(
        "job", [](int, char **) {}, 1);
    auto actor = simgrid::s4u::Actor::init("rank", host);
    actor->set_property("instance_id", "job");
    actor->set_property("rank", "0");
    actor->start([rank]() {
        PMPI_Init(nullptr, nullptr);
        rank();
        PMPI_Finalize();
    });
    engine.run();
    SMPI_finalize();
}
