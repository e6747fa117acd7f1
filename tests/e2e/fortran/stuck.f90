! SPDX-License-Identifier: BSD-3-Clause
! A diagnosis names the line in Fortran, not our entry point.
! /* e2e: switch=none np=2 stock=no mpirun=no exit=nonzero message=MPI_Recv.*at.stuck.f90:10 */
program stuck
  use mpi
  implicit none
  integer :: code, value, me
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, code)
  call MPI_Recv(value, 1, MPI_INTEGER, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
  call MPI_Finalize(code)
end program
