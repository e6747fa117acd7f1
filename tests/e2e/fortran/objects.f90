! SPDX-License-Identifier: BSD-3-Clause
! Objects and callbacks: attributes, error handlers, strings, infos, topologies, groups, generalized requests.
! /* e2e: switch=any np=4 stock=no */
program objects
  use mpi
  implicit none
  integer :: me, np, failures = 0
  integer(kind=MPI_ADDRESS_KIND) :: dropped = 0
  integer :: copies = 0, deletions = 0, errors_seen = 0, last_error = 0, queried = 0, freed = 0
  call begin
  call attributes
  call attributes_of_mpi1
  call attributes_of_others
  call attributes_in_c
  call predefined_attributes
  call error_handlers
  call strings
  call infos
  call grids
  call graphs
  call neighbours
  call groups
  call generalized
  call finish('objects')
contains
  include 'check.inc'

  subroutine copy(comm, keyval, state, in, out, flag, code)
    integer :: comm, keyval, code
    integer(kind=MPI_ADDRESS_KIND) :: state, in, out
    logical :: flag
    if (comm == MPI_COMM_NULL .or. keyval == MPI_KEYVAL_INVALID) failures = failures + 1
    copies = copies + 1
    out = in + state
    flag = .true.
    code = MPI_SUCCESS
  end subroutine

  subroutine drop(comm, keyval, value, state, code)
    integer :: comm, keyval, code
    integer(kind=MPI_ADDRESS_KIND) :: value, state
    if (state /= 1000 .or. value < 7 .or. comm == MPI_COMM_NULL .or. keyval == 0) failures = failures + 1
    deletions = deletions + 1
    code = MPI_SUCCESS
  end subroutine

  subroutine attributes
    integer :: keyval, dup, comm, code, once, type
    integer(kind=MPI_ADDRESS_KIND) :: value, state = 1000
    logical :: found
    call MPI_Comm_create_keyval(copy, drop, keyval, state, code)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, code)
    value = 7_8 + 2_8**40
    call MPI_Comm_set_attr(comm, keyval, value, code)
    call MPI_Comm_dup(comm, dup, code)
    call MPI_Comm_get_attr(dup, keyval, value, found, code)
    call check(found .and. value == 1007_8 + 2_8**40, 'copied attribute')
    call MPI_Comm_delete_attr(comm, keyval, code)
    call MPI_Comm_get_attr(comm, keyval, value, found, code)
    call check(.not. found, 'deleted attribute')
    call MPI_Comm_free(dup, code)
    call check(dup == MPI_COMM_NULL, 'freed communicator')
    call check(copies == 1 .and. deletions == 2, 'callbacks')
    call MPI_Comm_free_keyval(keyval, code)
    call check(keyval == MPI_KEYVAL_INVALID, 'freed keyval')
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, state, code)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, once, state, code)
    value = 11
    call MPI_Comm_set_attr(comm, keyval, value, code)
    call MPI_Comm_set_attr(comm, once, value, code)
    call MPI_Comm_dup(comm, dup, code)
    call MPI_Comm_get_attr(dup, keyval, value, found, code)
    call check(found .and. value == 11, 'MPI_COMM_DUP_FN')
    call MPI_Comm_get_attr(dup, once, value, found, code)
    call check(.not. found, 'MPI_COMM_NULL_COPY_FN')
    call MPI_Comm_free(dup, code)
    call MPI_Comm_free(comm, code)
    call MPI_Comm_free_keyval(keyval, code)
    call MPI_Comm_free_keyval(once, code)
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, keyval, state, code)
    value = -5
    call MPI_Type_set_attr(MPI_INTEGER, keyval, value, code)
    call MPI_Type_dup(MPI_INTEGER, type, code)
    value = 0
    call MPI_Type_get_attr(type, keyval, value, found, code)
    call check(found .and. value == -5, 'attribute of a datatype')
    call MPI_Type_free(type, code)
    call MPI_Type_free_keyval(keyval, code)
  end subroutine

  subroutine copy_type(type, keyval, state, in, out, flag, code)
    integer :: type, keyval, code, n
    integer(kind=MPI_ADDRESS_KIND) :: state, in, out
    logical :: flag
    call MPI_Type_size(type, n, code)
    if (keyval == MPI_KEYVAL_INVALID) failures = failures + 1
    out = in * n + state
    flag = .true.
    code = MPI_SUCCESS
  end subroutine

  subroutine drop_other(object, keyval, value, state, code)
    integer :: object, keyval, code
    integer(kind=MPI_ADDRESS_KIND) :: value, state
    if (keyval == MPI_KEYVAL_INVALID .or. state /= 1000) failures = failures + 1
    dropped = dropped + value
    code = MPI_SUCCESS
  end subroutine

  ! Of datatypes and windows; and the procedures of the standard, called by the program itself.
  ! MPI 3.1 section 17.2.7: C gets the address of a number that Fortran has set, Fortran the address that C has set.
  subroutine attributes_in_c
    use, intrinsic :: iso_c_binding
    interface
      function c_comm(comm) bind(C, name='MPI_Comm_f2c')
        import :: c_ptr, c_int
        integer(c_int), value :: comm
        type(c_ptr) :: c_comm
      end function
      function c_get(comm, keyval, value, flag) bind(C, name='MPI_Comm_get_attr')
        import :: c_ptr, c_int
        type(c_ptr), value :: comm
        integer(c_int), value :: keyval
        type(c_ptr) :: value
        integer(c_int) :: flag, c_get
      end function
      function c_set(comm, keyval, value) bind(C, name='MPI_Comm_set_attr')
        import :: c_ptr, c_int, c_intptr_t
        type(c_ptr), value :: comm
        integer(c_int), value :: keyval
        integer(c_intptr_t), value :: value
        integer(c_int) :: c_set
      end function
    end interface
    integer(kind=MPI_ADDRESS_KIND) :: value
    integer(kind=MPI_ADDRESS_KIND), pointer :: wide
    integer(c_int), pointer :: narrow
    integer(c_int) :: flag
    integer :: keyval, number, code
    logical :: found
    type(c_ptr) :: place
    value = 0
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, value, code)
    value = 2_8**40 + me
    call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, code)
    flag = c_get(c_comm(MPI_COMM_WORLD), keyval, place, flag)
    call c_f_pointer(place, wide)
    call check(wide == value, 'wide attribute in C')
    call MPI_Attr_get(MPI_COMM_WORLD, keyval, number, found, code)
    call check(found .and. number == me, 'wide attribute by MPI-1')
    call MPI_Attr_put(MPI_COMM_WORLD, keyval, -7 - me, code)
    flag = c_get(c_comm(MPI_COMM_WORLD), keyval, place, flag)
    call c_f_pointer(place, narrow)
    call check(narrow == -7 - me, 'narrow attribute in C')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, value, found, code)
    call check(found .and. value == -7 - me, 'narrow attribute by MPI-2')
    code = c_set(c_comm(MPI_COMM_WORLD), keyval, 2_c_intptr_t**41)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, value, found, code)
    call check(found .and. value == 2_8**41, 'attribute of C')
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval, code)
    call MPI_Comm_free_keyval(keyval, code)
  end subroutine

  subroutine attributes_of_others
    integer :: keyval, type, dup, win, code, memory(4)
    integer(kind=MPI_ADDRESS_KIND) :: value, state = 1000, bytes = 16
    logical :: found
    call MPI_Type_create_keyval(copy_type, drop_other, keyval, state, code)
    call MPI_Type_contiguous(3, MPI_INTEGER, type, code)
    value = 5
    call MPI_Type_set_attr(type, keyval, value, code)
    call MPI_Type_dup(type, dup, code)
    call MPI_Type_get_attr(dup, keyval, value, found, code)
    call check(found .and. value == 1060, 'copied attribute of a datatype')
    call MPI_Type_free(dup, code)
    call MPI_Type_free(type, code)
    call check(dropped == 1065, 'deleted attributes of datatypes')
    call MPI_Type_free_keyval(keyval, code)
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, drop_other, keyval, state, code)
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
    value = 2
    call MPI_Win_set_attr(win, keyval, value, code)
    value = 0
    call MPI_Win_get_attr(win, keyval, value, found, code)
    call check(found .and. value == 2, 'attribute of a window')
    call MPI_Win_free(win, code)
    call check(dropped == 1067, 'deleted attribute of a window')
    call MPI_Win_free_keyval(keyval, code)
    value = 0
    found = .false.
    call MPI_COMM_DUP_FN(MPI_COMM_WORLD, 0, state, state, value, found, code)
    call check(found .and. value == 1000 .and. code == MPI_SUCCESS, 'MPI_COMM_DUP_FN called')
    call MPI_COMM_NULL_COPY_FN(MPI_COMM_WORLD, 0, state, state, value, found, code)
    call check(.not. found .and. code == MPI_SUCCESS, 'MPI_COMM_NULL_COPY_FN called')
    code = -1
    call MPI_COMM_NULL_DELETE_FN(MPI_COMM_WORLD, 0, value, state, code)
    call check(code == MPI_SUCCESS, 'MPI_COMM_NULL_DELETE_FN called')
  end subroutine

  subroutine old_copy(comm, keyval, state, in, out, flag, code)
    integer :: comm, keyval, state, in, out, code
    logical :: flag
    if (comm == MPI_COMM_NULL .or. keyval == 0 .or. state /= 3) failures = failures + 1
    out = in * state
    flag = in > 0
    code = MPI_SUCCESS
  end subroutine

  subroutine attributes_of_mpi1
    integer :: keyval, comm, code, value
    logical :: found
    call MPI_Keyval_create(old_copy, MPI_NULL_DELETE_FN, keyval, 3, code)
    call MPI_Attr_put(MPI_COMM_WORLD, keyval, 14, code)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, code)
    call MPI_Attr_get(comm, keyval, value, found, code)
    call check(found .and. value == 42, 'Attr_get')
    call MPI_Comm_free(comm, code)
    call MPI_Attr_delete(MPI_COMM_WORLD, keyval, code)
    call MPI_Keyval_free(keyval, code)
  end subroutine

  subroutine predefined_attributes
    integer(kind=MPI_ADDRESS_KIND) :: value
    integer :: code, short
    logical :: found
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, found, code)
    call check(found .and. value >= 32767, 'MPI_TAG_UB')
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, short, found, code)
    call check(found .and. short == value, 'MPI_TAG_UB of MPI-1')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, found, code)
    call check(found .and. (value == 0 .or. value == 1), 'MPI_WTIME_IS_GLOBAL')
  end subroutine

  subroutine handler(comm, code)
    integer :: comm, code
    if (comm /= MPI_COMM_WORLD) failures = failures + 1
    errors_seen = errors_seen + 1
    last_error = code
  end subroutine

  subroutine error_handlers
    integer :: errhandler, code, class, value = 0, length, mine
    character(len=MPI_MAX_ERROR_STRING) :: text
    call MPI_Comm_create_errhandler(handler, errhandler, code)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler, code)
    call MPI_Errhandler_free(errhandler, code)
    call MPI_Send(value, 1, MPI_INTEGER, np + 5, 0, MPI_COMM_WORLD, code)
    call check(code /= MPI_SUCCESS .and. errors_seen == 1 .and. last_error == code, 'error handler')
    call MPI_Error_class(code, class, code)
    call check(class == MPI_ERR_RANK, 'MPI_ERR_RANK')
    text = repeat('#', len(text))
    call MPI_Error_string(class, text, length, code)
    call check(length > 0 .and. text(length:length) /= ' ' .and. text(length + 1:) == ' ', 'error string')
    call MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER, code)
    call check(errors_seen == 2 .and. last_error == MPI_ERR_OTHER, 'Comm_call_errhandler')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, code)
    call MPI_Recv(value, -1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call check(code /= MPI_SUCCESS .and. errors_seen == 2, 'MPI_ERRORS_RETURN')
    call MPI_Add_error_class(class, code)
    call MPI_Add_error_code(class, mine, code)
    call MPI_Add_error_string(mine, 'of our own   ', code)
    call MPI_Error_string(mine, text, length, code)
    call check(text == 'of our own' .and. length == 10, 'error string of our own')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, code)
  end subroutine

  subroutine strings
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=MPI_MAX_PROCESSOR_NAME) :: host
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    integer :: length, code, comm, major, minor
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, code)
    call check(name == 'MPI_COMM_WORLD' .and. length == 14, 'name of the world')
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, code)
    call MPI_Comm_set_name(comm, 'a name of mine    ', code)
    call MPI_Comm_get_name(comm, name, length, code)
    call check(name == 'a name of mine' .and. length == 14, 'name')
    call MPI_Comm_free(comm, code)
    call MPI_Type_get_name(MPI_DOUBLE_PRECISION, name, length, code)
    call check(name == 'MPI_DOUBLE_PRECISION', 'name of a datatype')
    call MPI_Get_processor_name(host, length, code)
    call check(length > 0 .and. len_trim(host) == length, 'name of the processor')
    call MPI_Get_library_version(version, length, code)
    call check(length > 0 .and. version /= ' ', 'version of the library')
    call MPI_Get_version(major, minor, code)
    call check(major == MPI_VERSION .and. minor == MPI_SUBVERSION, 'version')
  end subroutine

  subroutine infos
    integer :: info, dup, code, keys, length
    character(len=MPI_MAX_INFO_KEY) :: key
    character(len=12) :: value
    logical :: found
    call MPI_Info_create(info, code)
    call MPI_Info_set(info, '  wanted  ', '  a value ', code)
    call MPI_Info_set(info, 'other', 'b', code)
    call MPI_Info_get_nkeys(info, keys, code)
    call check(keys == 2, 'keys')
    value = repeat('#', 12)
    call MPI_Info_get(info, 'wanted', 12, value, found, code)
    call check(found .and. value == 'a value', 'value')
    call MPI_Info_get_valuelen(info, 'wanted ', length, found, code)
    call check(found .and. length == 7, 'length of a value')
    value = 'untouched'
    call MPI_Info_get(info, 'absent', 12, value, found, code)
    call check(.not. found .and. value == 'untouched', 'absent value')
    call MPI_Info_get_nthkey(info, 1, key, code)
    call check(key == 'other', 'key')
    call MPI_Info_dup(info, dup, code)
    call MPI_Info_delete(dup, 'other', code)
    call MPI_Info_get_nkeys(dup, keys, code)
    call check(keys == 1, 'keys of a copy')
    call MPI_Info_free(dup, code)
    call MPI_Info_free(info, code)
    call check(info == MPI_INFO_NULL, 'freed info')
  end subroutine

  subroutine grids
    integer :: grid, row, code, dims(2), coords(2), rank, before, after, got(2), n, test
    logical :: periods(2), seen(2)
    dims = 0
    call MPI_Dims_create(np, 2, dims, code)
    periods = [.true., .false.]
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, code)
    call MPI_Cart_get(grid, 2, got, seen, coords, code)
    call check(all(got == dims) .and. (seen(1) .and. .not. seen(2)), 'Cart_get')
    call MPI_Cart_rank(grid, coords, rank, code)
    call check(rank == me, 'Cart_rank')
    call MPI_Cart_shift(grid, 1, 1, before, after, code)
    if (coords(2) == 0) call check(before == MPI_PROC_NULL, 'edge of the grid')
    call MPI_Topo_test(grid, test, code)
    call check(test == MPI_CART, 'Topo_test')
    call MPI_Cart_sub(grid, [.true., .false.], row, code)
    call MPI_Comm_size(row, n, code)
    call check(n == dims(1), 'Cart_sub')
    call MPI_Comm_compare(row, grid, test, code)
    call check(test == MPI_UNEQUAL, 'Comm_compare')
    call MPI_Comm_free(row, code)
    call MPI_Comm_free(grid, code)
  end subroutine

  subroutine graphs
    integer :: graph, code, left(1), right(1), in, out, weights(1), source(1), target(1), counts(1), types(1), one(1), got(1)
    integer(kind=MPI_ADDRESS_KIND) :: places(1)
    logical :: weighted
    left = mod(me + np - 1, np)
    right = mod(me + 1, np)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, left, MPI_UNWEIGHTED, 1, right, MPI_UNWEIGHTED, MPI_INFO_NULL, &
      .false., graph, code)
    call MPI_Dist_graph_neighbors_count(graph, in, out, weighted, code)
    call check(in == 1 .and. out == 1 .and. .not. weighted, 'unweighted graph')
    call MPI_Dist_graph_neighbors(graph, 1, source, MPI_UNWEIGHTED, 1, target, MPI_UNWEIGHTED, code)
    call check(source(1) == left(1) .and. target(1) == right(1), 'neighbours')
    counts = 1
    types = MPI_INTEGER
    places = 0
    one = me
    call MPI_Neighbor_alltoallw(one, counts, places, types, got, counts, places, types, graph, code)
    call check(got(1) == left(1), 'Neighbor_alltoallw')
    call MPI_Comm_free(graph, code)
    weights = me + 1
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, left, weights, 1, right, weights, MPI_INFO_NULL, .false., graph, code)
    weights = 0
    call MPI_Dist_graph_neighbors(graph, 1, source, weights, 1, target, MPI_UNWEIGHTED, code)
    call check(weights(1) == me + 1, 'weights')
    call MPI_Comm_free(graph, code)
  end subroutine

  ! The lists of datatypes are as long as the neighbours are many.
  subroutine neighbours
    integer :: ring, graph, code, i, left, right, counts(2) = 1, types(2) = MPI_INTEGER, out(2), in(2)
    integer(kind=MPI_ADDRESS_KIND) :: places(2) = [0, 4]
    left = mod(me + np - 1, np)
    right = mod(me + 1, np)
    out = [10 * me, 10 * me + 1]
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [np], [.true.], .false., ring, code)
    call MPI_Neighbor_alltoallw(out, counts, places, types, in, counts, places, types, ring, code)
    call check(in(1) == 10 * left + 1 .and. in(2) == 10 * right, 'Neighbor_alltoallw on a grid')
    call MPI_Comm_free(ring, code)
    call MPI_Graph_create(MPI_COMM_WORLD, np, [(2 * i, i = 1, np)], &
      [(mod(i / 2 + merge(np - 1, 1, mod(i, 2) == 0), np), i = 0, 2 * np - 1)], .false., graph, code)
    in = -1
    call MPI_Neighbor_alltoallw(out, counts, places, types, in, counts, places, types, graph, code)
    call check(in(1) == 10 * left + 1 .and. in(2) == 10 * right, 'Neighbor_alltoallw on a graph')
    call MPI_Comm_free(graph, code)
  end subroutine

  subroutine groups
    integer :: world, part, rest, code, ranges(3, 1), n, ranks(2), there(2), comm
    call MPI_Comm_group(MPI_COMM_WORLD, world, code)
    ranges(:, 1) = [0, np - 1, 2]
    call MPI_Group_range_incl(world, 1, ranges, part, code)
    call MPI_Group_size(part, n, code)
    call check(n == (np + 1) / 2, 'Group_range_incl')
    call MPI_Group_difference(world, part, rest, code)
    ranks = [0, 1]
    call MPI_Group_translate_ranks(part, 2, ranks, world, there, code)
    call check(all(there == [0, 2]), 'Group_translate_ranks')
    call MPI_Comm_create(MPI_COMM_WORLD, part, comm, code)
    call check((comm == MPI_COMM_NULL) .eqv. mod(me, 2) == 1, 'Comm_create')
    if (comm /= MPI_COMM_NULL) call MPI_Comm_free(comm, code)
    call MPI_Comm_split(MPI_COMM_WORLD, merge(MPI_UNDEFINED, 0, me == 0), -me, comm, code)
    call check((comm == MPI_COMM_NULL) .eqv. me == 0, 'Comm_split')
    if (comm /= MPI_COMM_NULL) call MPI_Comm_free(comm, code)
    call MPI_Group_free(part, code)
    call MPI_Group_free(rest, code)
    call MPI_Group_free(world, code)
    call check(world == MPI_GROUP_NULL, 'freed group')
  end subroutine

  subroutine query(state, status, code)
    integer(kind=MPI_ADDRESS_KIND) :: state
    integer :: status(MPI_STATUS_SIZE), code
    queried = queried + int(state)
    state = state + 1
    status(MPI_SOURCE) = MPI_UNDEFINED
    status(MPI_TAG) = 77
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, code)
    call MPI_Status_set_cancelled(status, .false., code)
  end subroutine

  subroutine free(state, code)
    integer(kind=MPI_ADDRESS_KIND) :: state
    integer :: code
    freed = freed + int(state)
    code = MPI_SUCCESS
  end subroutine

  subroutine cancel(state, complete, code)
    integer(kind=MPI_ADDRESS_KIND) :: state
    integer :: code
    logical :: complete
    if (state /= 9 .or. complete) failures = failures + 1
    code = MPI_SUCCESS
  end subroutine

  subroutine generalized
    integer :: request, code, status(MPI_STATUS_SIZE), n
    integer(kind=MPI_ADDRESS_KIND) :: state = 9
    logical :: flag
    call MPI_Grequest_start(query, free, cancel, state, request, code)
    call MPI_Test(request, flag, status, code)
    call check(.not. flag, 'not complete')
    call MPI_Cancel(request, code)
    call MPI_Grequest_complete(request, code)
    call MPI_Wait(request, status, code)
    call MPI_Get_count(status, MPI_INTEGER, n, code)
    call check(n == 3 .and. status(MPI_TAG) == 77 .and. queried == 9 .and. freed == 10, 'generalized request')
    call MPI_F_sync_reg(state)
    call check(state == 10, 'state of a generalized request')
    call check(request == MPI_REQUEST_NULL, 'null request')
  end subroutine
end program
