! SPDX-License-Identifier: BSD-3-Clause
! What gfortran's library keeps for a process belongs to a rank: units, arguments, clocks; COMMON, SAVE and module variables
! too. STOP ends one rank, with its status.
! /* e2e: switch=any np=4 stock=no mpirun=no exit=0 args=right */
! /* e2e: switch=any np=4 stock=no mpirun=no exit=3 args=stop */
module state
  integer :: counter = 0
end module

program runtime
  use mpi
  use state
  implicit none
  integer :: me, np, failures = 0
  character(len=8) :: word
  call begin
  call get_command_argument(1, word)
  call check(word == 'right' .or. word == 'stop', 'argument')
  call variables
  call units
  call clocks
  call finish('runtime')
  if (word == 'stop' .and. me == 2) stop 3
contains
  include 'check.inc'

  subroutine variables
    integer, save :: kept = 0
    integer :: i, code, shared
    common /block/ shared
    shared = me
    do i = 1, 3
      counter = counter + me
      kept = kept + 1
      call MPI_Barrier(MPI_COMM_WORLD, code)
    end do
    call check(counter == 3 * me, 'module variable')
    call check(kept == 3, 'saved variable')
    call check(shared == me, 'common block')
  end subroutine

  subroutine units
    character(len=24) :: name
    integer :: code, first, second
    write (name, '(a,i0)') 'runtime.data.', me
    open (unit=10, file=name, status='replace')
    call MPI_Barrier(MPI_COMM_WORLD, code)
    write (10, *) me
    call MPI_Barrier(MPI_COMM_WORLD, code)
    write (10, *) me + 100
    rewind (10)
    read (10, *) first
    call MPI_Barrier(MPI_COMM_WORLD, code)
    read (10, *) second
    close (10, status='delete')
    call check(first == me .and. second == me + 100, 'unit of each rank')
  end subroutine

  subroutine clocks
    real :: before, after
    integer(8) :: begun, ended, rate
    integer :: code
    double precision :: start, stop
    call MPI_Barrier(MPI_COMM_WORLD, code)
    start = MPI_Wtime()
    call cpu_time(before)
    call system_clock(begun, rate)
    call sleep(5)
    call system_clock(ended)
    call cpu_time(after)
    stop = MPI_Wtime()
    call check(abs(after - before - 5) < 0.1, 'cpu_time')
    call check(abs(real(ended - begun) / rate - 5) < 0.1, 'system_clock')
    call check(abs(stop - start - 5) < 0.1, 'Wtime')
  end subroutine
end program
