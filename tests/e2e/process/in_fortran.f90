! SPDX-License-Identifier: BSD-3-Clause
! The same of gfortran's library: its units over the descriptors of the rank.
program cases
  use mpi
  implicit none
  integer :: rank, ierr, number, status
  character(len=32) :: which, name
  real :: x
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call get_command_argument(1, which)
  write (name, '(a,i0)') 'log.', rank
  select case (which)
  case ('reopen6')
    if (rank > 0) open (6, file=name)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    write (6, '(i0,a)') rank, ': said'
    print '(a)', 'print'
  case ('close6')
    if (rank > 0) close (6)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (rank == 0) write (6, '(i0,a)') rank, ': said'
    open (0, file=name)
    write (0, '(i0,a)') rank, ': error'
  case ('read5')
    number = -1
    read (5, *, iostat=status) number
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    print '(i0,a,i0,a,l1)', rank, ': ', number, ' ', status == 0
  case ('files')
    open (10, file=name)
    write (10, '(a,i0)') 'rank ', rank
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    rewind (10)
    read (10, '(a)') which
    print '(i0,a,a)', rank, ': ', trim(which)
    close (10)
    call random_number(x)
    call execute_command_line('echo shell')
  case ('chdir')
    call execute_command_line('mkdir -p sub')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (rank == 1) call chdir('sub')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    open (10, file=name)
    write (10, '(a,i0)') 'rank ', rank
    close (10)
  case default
    call MPI_Abort(MPI_COMM_WORLD, 2, ierr)
  end select
  call MPI_Finalize(ierr)
  if (which == 'chdir') stop
end program cases
