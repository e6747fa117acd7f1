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
  logical :: all_right
  call begin
  call get_command_argument(1, word)
  call check(word == 'right' .or. word == 'stop', 'argument')
  call variables
  call units
  call clocks
  call random
  call refused
  call nested(me, np, all_right)
  call check(all_right, 'operation inside a procedure')
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

  ! Each rank has a sequence of its own, which its seed decides.
  subroutine random
    integer :: n, i, code
    integer, allocatable :: seed(:), got(:)
    double precision :: together(4), alone(4), others(4)
    call random_seed(size=n)
    allocate (seed(n), got(n))
    seed = 42 + mod(me, 2)
    call random_seed(put=seed)
    call random_number(together)
    call MPI_Barrier(MPI_COMM_WORLD, code)
    call random_seed(put=seed)
    call random_seed(get=got)
    call check(all(got == seed), 'random_seed(get)')
    do i = 1, 4
      call random_number(alone(i))
      call MPI_Barrier(MPI_COMM_WORLD, code)
    end do
    call check(all(alone == together), 'random_number after random_seed')
    call MPI_Sendrecv(alone, 4, MPI_DOUBLE_PRECISION, mod(me + 2, np), 1, others, 4, MPI_DOUBLE_PRECISION, mod(me + 2, np), 1, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call check(all(others == alone), 'the same seed on two ranks')
    call MPI_Sendrecv(alone, 4, MPI_DOUBLE_PRECISION, ieor(me, 1), 2, others, 4, MPI_DOUBLE_PRECISION, ieor(me, 1), 2, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call check(any(others /= alone), 'another seed on another rank')
  end subroutine

  ! Lists of strings are converted, and what is not implemented is refused.
  subroutine refused
    integer :: child, codes(2), code, class
    character(len=8) :: words(3) = ['first   ', 'second  ', '        ']
    character(len=8) :: programs(2) = ['one     ', 'two     '], lists(2, 2) = reshape(['a', 'b', ' ', ' '], [2, 2])
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, code)
    call MPI_Comm_spawn('worker', words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, child, codes, code)
    call MPI_Error_class(code, class, code)
    call check(class == MPI_ERR_UNSUPPORTED_OPERATION, 'Comm_spawn')
    call MPI_Comm_spawn_multiple(2, programs, lists, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, child, &
      MPI_ERRCODES_IGNORE, code)
    call MPI_Error_class(code, class, code)
    call check(class == MPI_ERR_UNSUPPORTED_OPERATION, 'Comm_spawn_multiple')
    call MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, child, &
      codes, code)
    call check(code /= MPI_SUCCESS, 'Comm_spawn_multiple without arguments')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, code)
  end subroutine
end program

! Passing on `add`, which uses a variable around it, takes code on the stack.
subroutine nested(me, np, right)
  use mpi
  implicit none
  integer :: me, np, op, code, total, calls, all
  logical :: right
  calls = 0
  call MPI_Op_create(add, .true., op, code)
  call MPI_Allreduce(me, total, 1, MPI_INTEGER, op, MPI_COMM_WORLD, code)
  call MPI_Op_free(op, code)
  call MPI_Allreduce(calls, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  right = total == np * (np - 1) / 2 .and. all >= np - 1
contains
  subroutine add(in, inout, n, type)
    integer :: n, type, in(n), inout(n)
    inout = inout + in
    calls = calls + 1
  end subroutine
end subroutine
