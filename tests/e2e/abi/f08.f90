! SPDX-License-Identifier: BSD-3-Clause
! Open MPI's module mpi_f08 in a program of its mpif90: statuses and handles that are types, strings, special addresses, an
! operation, attributes, and what a deadlock names.
module operations
  use mpi_f08
  use, intrinsic :: iso_c_binding
contains
  subroutine larger(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = max(a, b)
    if (datatype /= MPI_INTEGER) b = -1
  end subroutine
end module

program f08
  use operations
  implicit none
  integer :: rank, ranks, i, n, failures = 0, total, got(2), length, keyval, size
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: flag
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: half
  type(MPI_Group) :: group
  type(MPI_Datatype) :: pair
  type(MPI_Info) :: info
  type(MPI_Op) :: op
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=12) :: word
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(1, word)
  if (word == 'stuck') then
    call MPI_Recv(n, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, status) ! the line of the deadlock
  end if
  call MPI_Irecv(got(1), 1, MPI_INTEGER, modulo(rank - 1, ranks), 3, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(rank, 1, MPI_INTEGER, modulo(rank + 1, ranks), 3, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call MPI_Get_count(statuses(1), MPI_INTEGER, n)
  call check(n == 1 .and. statuses(1)%MPI_TAG == 3 .and. statuses(1)%MPI_SOURCE == got(1), 'statuses')
  call check(all([(requests(i) == MPI_REQUEST_NULL, i = 1, 2)]), 'requests')
  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  got = rank
  call MPI_Bcast(got, 1, pair, ranks - 1, MPI_COMM_WORLD)
  call check(all(got == ranks - 1), 'derived type')
  call MPI_Type_free(pair)
  call check(pair == MPI_DATATYPE_NULL, 'null')
  total = rank
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(total == ranks * (ranks - 1) / 2, 'in place')
  call MPI_Op_create(larger, .true., op)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
  call check(total == ranks - 1, 'operation')
  call MPI_Op_free(op)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half)
  call MPI_Comm_set_name(half, 'half of all')
  call MPI_Comm_get_name(half, name, length)
  call check(name == 'half of all' .and. length == 11, 'name')
  call MPI_Comm_group(half, group)
  call MPI_Group_size(group, size)
  call check(size == (ranks + 1 - mod(rank, 2)) / 2, 'group')
  call MPI_Group_free(group)
  call MPI_Comm_free(half)
  call MPI_Info_create(info)
  call MPI_Info_set(info, 'key', 'some value')
  call MPI_Info_get(info, 'key', len(word), word, flag)
  call check(flag .and. word == 'some value', 'info')
  call MPI_Info_free(info)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
  call check(flag .and. value >= 32767, 'predefined attribute')
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, 2_MPI_ADDRESS_KIND**40 + rank)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, value, flag)
  call check(flag .and. value == 2_MPI_ADDRESS_KIND**40 + rank, 'attribute')
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, MPI_PROC_NULL, 0, n, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status)
  call check(status%MPI_SOURCE == MPI_PROC_NULL, 'MPI_PROC_NULL')
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0 .and. failures == 0) print '(a)', 'f08: PASS'
  call MPI_Finalize()
contains
  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    failures = failures + 1
    print '(a,i0,2a)', 'FAIL rank ', rank, ': ', what
  end subroutine
end program
