! SPDX-License-Identifier: BSD-3-Clause
! Collectives with the named types of Fortran, operations of the user, MPI_IN_PLACE, nonblocking ones, and the conversion of
! arrays of handles.
! /* e2e: switch=any np=4 stock=no */
program collectives
  use mpi
  implicit none
  integer :: me, np, failures = 0
  call begin
  call named_types
  call user_operation
  call in_place
  call nonblocking
  call arrays_of_types
  call sizes
  call finish('collectives')
contains
  include 'check.inc'

  subroutine named_types
    integer :: ierr, i, sum_of_ranks, pair(2), best(2)
    integer(1) :: i1, o1
    integer(2) :: i2, o2
    integer(4) :: i4, o4
    integer(8) :: i8, o8
    real(4) :: r4, s4
    real(8) :: r8, s8
    real(16) :: r16, s16
    complex :: c, d
    complex(8) :: z, y
    logical :: l, m
    character(len=4) :: word
    double precision :: dpair(2), dbest(2)
    real :: rpair(2), rbest(2)
    sum_of_ranks = np * (np + 1) / 2
    i1 = int(me + 1, 1)
    i2 = int(me + 1, 2)
    i4 = me + 1
    i8 = me + 1
    r4 = me + 1
    r8 = me + 1
    r16 = me + 1
    c = cmplx(me + 1, 1)
    z = cmplx(me + 1, -1, 8)
    call MPI_Allreduce(i1, o1, 1, MPI_INTEGER1, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(o1 == sum_of_ranks, 'INTEGER1')
    call MPI_Allreduce(i2, o2, 1, MPI_INTEGER2, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(o2 == sum_of_ranks, 'INTEGER2')
    call MPI_Allreduce(i4, o4, 1, MPI_INTEGER4, MPI_MAX, MPI_COMM_WORLD, ierr)
    call check(o4 == np, 'INTEGER4')
    call MPI_Allreduce(i8, o8, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(o8 == sum_of_ranks, 'INTEGER8')
    call MPI_Allreduce(r4, s4, 1, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(s4 == sum_of_ranks, 'REAL')
    call MPI_Allreduce(r4, s4, 1, MPI_REAL4, MPI_MIN, MPI_COMM_WORLD, ierr)
    call check(s4 == 1, 'REAL4')
    call MPI_Allreduce(r8, s8, 1, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(s8 == sum_of_ranks, 'REAL8')
    call MPI_Allreduce(r8, s8, 1, MPI_DOUBLE_PRECISION, MPI_PROD, MPI_COMM_WORLD, ierr)
    call check(s8 == product([(i, i = 1, np)]), 'DOUBLE PRECISION')
    s16 = r16
    call MPI_Bcast(s16, 1, MPI_REAL16, 1, MPI_COMM_WORLD, ierr)
    call check(s16 == 2, 'REAL16')
    call MPI_Allreduce(c, d, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(d == cmplx(sum_of_ranks, np), 'COMPLEX')
    call MPI_Allreduce(z, y, 1, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(y == cmplx(sum_of_ranks, -np, 8), 'DOUBLE COMPLEX')
    y = z
    call MPI_Bcast(y, 1, MPI_COMPLEX16, 2, MPI_COMM_WORLD, ierr)
    call check(y == cmplx(3, -1, 8), 'COMPLEX16')
    l = me /= 1
    call MPI_Allreduce(l, m, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
    call check(.not. m, 'LOGICAL and')
    call MPI_Allreduce(l, m, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
    call check(m, 'LOGICAL or')
    word = merge('root', 'none', me == 3)
    call MPI_Bcast(word, 4, MPI_CHARACTER, 3, MPI_COMM_WORLD, ierr)
    call check(word == 'root', 'CHARACTER')
    pair = [mod(me + 1, np), me]
    call MPI_Allreduce(pair, best, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
    call check(all(best == [np - 1, np - 2]), '2INTEGER')
    rpair = pair
    call MPI_Allreduce(rpair, rbest, 1, MPI_2REAL, MPI_MINLOC, MPI_COMM_WORLD, ierr)
    call check(all(rbest == [0, np - 1]), '2REAL')
    dpair = pair
    call MPI_Allreduce(dpair, dbest, 1, MPI_2DOUBLE_PRECISION, MPI_MINLOC, MPI_COMM_WORLD, ierr)
    call check(all(dbest == [0, np - 1]), '2DOUBLE PRECISION')
  end subroutine

  ! Not commutative: the composition of linear functions a x + b.
  subroutine compose(first, second, length, datatype)
    integer, intent(in) :: length, datatype
    integer, intent(in) :: first(2, *)
    integer, intent(inout) :: second(2, *)
    integer :: i, a, b, total, code
    call MPI_Type_size(datatype, total, code)
    if (total /= 8) failures = failures + 1
    do i = 1, length
      a = second(1, i) * first(1, i)
      b = second(1, i) * first(2, i) + second(2, i)
      second(:, i) = [a, b]
    end do
  end subroutine

  subroutine user_operation
    integer :: ierr, op, pair, i, in(2, 3), out(2, 3), request
    logical :: commutes
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierr)
    call MPI_Type_commit(pair, ierr)
    call MPI_Op_create(compose, .false., op, ierr)
    call MPI_Op_commutative(op, commutes, ierr)
    call check(.not. commutes, 'commutes')
    do i = 1, 3
      in(:, i) = [me + i, me - i]
    end do
    call MPI_Allreduce(in, out, 3, pair, op, MPI_COMM_WORLD, ierr)
    call expect(out, np - 1, 'Allreduce with an operation')
    call MPI_Reduce(in, out, 3, pair, op, np - 1, MPI_COMM_WORLD, ierr)
    if (me == np - 1) call expect(out, np - 1, 'Reduce with an operation')
    call MPI_Iallreduce(in, out, 3, pair, op, MPI_COMM_WORLD, request, ierr)
    call MPI_Op_free(op, ierr)
    call check(op == MPI_OP_NULL, 'freed operation')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call expect(out, np - 1, 'Iallreduce with an operation')
    call MPI_Type_free(pair, ierr)
  end subroutine

  ! The composition of the functions of all ranks up to `last`.
  subroutine expect(out, last, what)
    integer, intent(in) :: out(2, 3), last
    character(len=*), intent(in) :: what
    integer :: a, b, j, k
    do j = 1, 3
      a = j
      b = -j
      do k = 1, last
        b = (k + j) * b + k - j
        a = (k + j) * a
      end do
      call check(out(1, j) == a .and. out(2, j) == b, what)
    end do
  end subroutine

  subroutine in_place
    integer :: ierr, i, values(4), counts(4), places(4)
    integer, allocatable :: all_of_them(:)
    values = me
    call MPI_Allreduce(MPI_IN_PLACE, values, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(all(values == np * (np - 1) / 2), 'Allreduce in place')
    allocate (all_of_them(np))
    all_of_them = -1
    all_of_them(me + 1) = me * me
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_of_them, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check(all(all_of_them == [(i * i, i = 0, np - 1)]), 'Allgather in place')
    if (me == 0) then
      call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, all_of_them, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    else
      call MPI_Gather(-me, 1, MPI_INTEGER, all_of_them, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    end if
    call check(me /= 0 .or. all_of_them(np) == 1 - np, 'Gather in place')
    counts = 1
    places = [0, 1, 2, 3]
    values = 10 * me + places
    call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, values, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check(all(values == 10 * places + me), 'Alltoallv in place')
    deallocate (all_of_them)
  end subroutine

  subroutine nonblocking
    integer :: ierr, request(3), value, total, gathered(4), status(MPI_STATUS_SIZE, 3)
    value = me + 5
    call MPI_Ibarrier(MPI_COMM_WORLD, request(1), ierr)
    call MPI_Iallgather(value, 1, MPI_INTEGER, gathered, 1, MPI_INTEGER, MPI_COMM_WORLD, request(2), ierr)
    call MPI_Ireduce(value, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, request(3), ierr)
    call MPI_Waitall(3, request, status, ierr)
    call check(all(gathered == [5, 6, 7, 8]), 'Iallgather')
    call check(me /= 0 .or. total == 26, 'Ireduce')
    call check(all(request == MPI_REQUEST_NULL), 'null requests')
  end subroutine

  subroutine arrays_of_types
    integer :: ierr, i, combiner, integers(1), types(1), many, counts(4), places(4), sendtypes(4), recvtypes(4)
    integer :: out(4), in(4), n(3)
    integer(kind=MPI_ADDRESS_KIND) :: addresses(1)
    counts = 1
    places = [(4 * i, i = 0, 3)]
    sendtypes = MPI_INTEGER
    recvtypes = MPI_INTEGER
    call MPI_Type_contiguous(1, MPI_INTEGER, many, ierr)
    call MPI_Type_commit(many, ierr)
    recvtypes(2) = many
    out = [(100 * me + i, i = 0, 3)]
    call MPI_Alltoallw(out, counts, places, sendtypes, in, counts, places, recvtypes, MPI_COMM_WORLD, ierr)
    call check(all(in == [(100 * i + me, i = 0, 3)]), 'Alltoallw')
    call MPI_Type_get_envelope(many, n(1), n(2), n(3), combiner, ierr)
    call check(combiner == MPI_COMBINER_CONTIGUOUS .and. all(n == [1, 0, 1]), 'envelope')
    call MPI_Type_get_contents(many, 1, 1, 1, integers, addresses, types, ierr)
    call check(integers(1) == 1 .and. types(1) == MPI_INTEGER, 'contents')
    call MPI_Type_free(many, ierr)
  end subroutine

  subroutine sizes
    integer :: ierr, size, kind_of_type
    integer(kind=MPI_COUNT_KIND) :: size_x
    real(8) :: matrix(3, 3)
    complex :: c
    call MPI_Sizeof(matrix, size, ierr)
    call check(size == 8, 'Sizeof array')
    call MPI_Sizeof(c, size, ierr)
    call check(size == 8, 'Sizeof complex')
    call MPI_Sizeof(1_2, size, ierr)
    call check(size == 2, 'Sizeof integer(2)')
    call MPI_Type_create_f90_real(15, 307, kind_of_type, ierr)
    call MPI_Type_size_x(kind_of_type, size_x, ierr)
    call check(size_x == 8, 'type of a kind')
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, kind_of_type, ierr)
    call MPI_Type_size(kind_of_type, size, ierr)
    call check(size == 4, 'Type_match_size')
  end subroutine
end program
