! SPDX-License-Identifier: BSD-3-Clause
! The module mpi_f08: handles and statuses that are types, calls without IERROR, derived types, callbacks.
! Not with mpirun: gfortran 12 does not get through it with the module of Open MPI 4.1.
! /* e2e: switch=any np=4 stock=no mpirun=no */
module callbacks
  use mpi_f08
  implicit none
  integer :: copies = 0, deletes = 0, errors = 0
contains
  subroutine larger(invec, inoutvec, len, datatype) ! the larger one in magnitude
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    if (datatype /= MPI_INTEGER) errors = errors + 1000
    where (abs(a) > abs(b)) b = a
  end subroutine
  subroutine copied(old, keyval, extra_state, value_in, value_out, flag, ierror)
    type(MPI_Comm) :: old
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    logical :: flag
    if (old == MPI_COMM_WORLD .and. keyval /= MPI_KEYVAL_INVALID) copies = copies + 1
    value_out = value_in + extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine deleted(object, keyval, value, extra_state, ierror)
    type(MPI_Comm) :: object
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra_state
    if (object /= MPI_COMM_NULL .and. keyval /= MPI_KEYVAL_INVALID .and. value > extra_state) deletes = deletes + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine noticed(object, error_code)
    type(MPI_Comm) :: object
    integer :: error_code, class
    call MPI_Error_class(error_code, class)
    if (class == MPI_ERR_RANK .and. object == MPI_COMM_WORLD) errors = errors + 1
  end subroutine
end module

program f08
  use mpi_f08
  use callbacks
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer, c_associated, c_loc
  implicit none
  integer :: rank, ranks, failures = 0, total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call messages()
  call requests()
  call types()
  call reductions()
  call attributes()
  call handlers()
  call memory()
  call MPI_Reduce(failures, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0 .and. total == 0) print '(a)', 'f08: PASS'
  call MPI_Finalize()
  if (failures > 0) stop 1
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (good) return
    failures = failures + 1
    print '(a,i0,2a)', 'FAIL rank ', rank, ': ', what
  end subroutine

  subroutine messages()
    type(MPI_Status) :: status, again
    integer :: got, count, code, fields(MPI_STATUS_SIZE), before
    before = modulo(rank - 1, ranks)
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, modulo(rank + 1, ranks), 5, got, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, &
                      MPI_COMM_WORLD, status, code)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(code == MPI_SUCCESS .and. got == before .and. count == 1, 'messages 1')
    call check(status%MPI_SOURCE == before .and. status%MPI_TAG == 5, 'messages 2')
    call MPI_Status_f082f(status, fields)
    call MPI_Status_f2f08(fields, again)
    call check(fields(MPI_SOURCE) == before .and. again%MPI_TAG == 5, 'messages 3')
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, modulo(rank + 1, ranks), 6, got, 1, MPI_INTEGER, before, 6, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(got == before, 'messages 4')
  end subroutine

  subroutine requests()
    type(MPI_Request) :: list(2)
    type(MPI_Status) :: statuses(2)
    integer :: got
    logical :: done
    real(8) :: buffer(3)
    call MPI_Irecv(got, 1, MPI_INTEGER, modulo(rank - 1, ranks), 1, MPI_COMM_WORLD, list(1))
    call MPI_Isend(rank, 1, MPI_INTEGER, modulo(rank + 1, ranks), 1, MPI_COMM_WORLD, list(2))
    call MPI_Waitall(2, list, statuses)
    call check(got == modulo(rank - 1, ranks) .and. statuses(1)%MPI_TAG == 1, 'requests 1')
    call check(all(list == MPI_REQUEST_NULL), 'requests 2')
    buffer = rank
    call MPI_Ibcast(buffer, 3, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, list(1))
    call MPI_Wait(list(1), MPI_STATUS_IGNORE)
    call check(all(buffer == 1), 'requests 3')
    call MPI_Testall(2, list, done, MPI_STATUSES_IGNORE) ! of nothing
    call check(done, 'requests 4')
  end subroutine

  subroutine types()
    type :: particle
      sequence
      integer :: id, more
      real(8) :: place(3)
    end type
    type(particle) :: mine, theirs
    type(MPI_Datatype) :: type
    integer(kind=MPI_ADDRESS_KIND) :: at(2), lower, extent
    call MPI_Get_address(mine%id, at(1))
    call MPI_Get_address(mine%place, at(2))
    call MPI_Type_create_struct(2, [1, 3], at - at(1), [MPI_INTEGER, MPI_DOUBLE_PRECISION], type)
    call MPI_Type_commit(type)
    call MPI_Type_get_extent(type, lower, extent)
    call check(lower == 0 .and. extent == 32, 'types 1')
    mine = particle(rank, 0, [1d0, 2d0, 3d0] * rank)
    theirs = particle(-1, -1, 0d0)
    call MPI_Sendrecv(mine, 1, type, modulo(rank + 1, ranks), 2, theirs, 1, type, modulo(rank - 1, ranks), 2, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call check(theirs%id == modulo(rank - 1, ranks) .and. theirs%more == -1 .and. theirs%place(3) == 3 * theirs%id, 'types 2')
    call MPI_Type_free(type)
    call check(type == MPI_DATATYPE_NULL, 'types 3')
  end subroutine

  subroutine reductions()
    type(MPI_Op) :: op
    integer :: found(2), sum
    real(8) :: begin
    begin = MPI_Wtime()
    call MPI_Op_create(larger, .true., op)
    call MPI_Allreduce([rank, -2 * rank], found, 2, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(found(1) == ranks - 1 .and. found(2) == -2 * (ranks - 1) .and. errors == 0, 'reductions 1')
    call MPI_Op_free(op)
    sum = rank
    call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(sum == ranks * (ranks - 1) / 2 .and. op == MPI_OP_NULL .and. MPI_Wtime() > begin, 'reductions 2')
  end subroutine

  subroutine attributes()
    type(MPI_Comm) :: comm
    integer :: keyval, length
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    character(len=MPI_MAX_OBJECT_NAME) :: name
    call MPI_Comm_create_keyval(copied, deleted, keyval, 7_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, 100_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_get_attr(comm, keyval, value, flag)
    call check(flag .and. value == 107 .and. copies == 1, 'attributes 1')
    call MPI_Comm_set_name(comm, 'a copy')
    call MPI_Comm_get_name(comm, name, length)
    call check(length == 6 .and. name == 'a copy' .and. comm /= MPI_COMM_WORLD, 'attributes 2')
    call MPI_Comm_free(comm)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval)
    call check(comm == MPI_COMM_NULL .and. deletes == 2, 'attributes 3')
    call MPI_Comm_free_keyval(keyval)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_free_keyval(keyval)
  end subroutine

  subroutine handlers()
    type(MPI_Errhandler) :: handler
    integer :: code
    call MPI_Comm_create_errhandler(noticed, handler)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler)
    call MPI_Send(rank, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD)
    call MPI_Send(rank, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, code)
    call check(errors == 2 .and. code /= MPI_SUCCESS, 'handlers 1')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
    call MPI_Errhandler_free(handler)
  end subroutine

  subroutine memory()
    type(c_ptr) :: base, detached
    type(MPI_Win) :: window
    integer, pointer :: cells(:)
    integer, target :: buffer(1000)
    integer :: got = -1, size
    call MPI_Alloc_mem(8_MPI_ADDRESS_KIND, MPI_INFO_NULL, base)
    call c_f_pointer(base, cells, [2])
    cells = [rank, 10 * rank]
    call MPI_Win_create(cells, 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
    call MPI_Win_fence(0, window)
    call MPI_Get(got, 1, MPI_INTEGER, modulo(rank + 1, ranks), 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, window)
    call check(got == 10 * modulo(rank + 1, ranks), 'memory 1')
    call MPI_Win_free(window)
    call MPI_Free_mem(cells)
    call MPI_Buffer_attach(buffer, 4000)
    call MPI_Buffer_detach(detached, size)
    call check(size == 4000 .and. c_associated(detached, c_loc(buffer)), 'memory 2')
  end subroutine
end program
