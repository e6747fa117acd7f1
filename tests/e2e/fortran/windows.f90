! SPDX-License-Identifier: BSD-3-Clause
! Windows whose memory comes from MPI, as a C pointer or as an address, and a file.
! /* e2e: switch=coll np=4 stock=no mpirun=no */
program windows
  use mpi
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: me, np, failures = 0
  call begin
  call created
  call allocated
  call files
  call finish('windows')
contains
  include 'check.inc'

  subroutine created
    integer :: win, code, memory(4), value, old
    integer(kind=MPI_ADDRESS_KIND) :: bytes = 16, place, attribute
    logical :: found
    memory = -1
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, attribute, found, code)
    call check(found .and. attribute == 16, 'MPI_WIN_SIZE')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, attribute, found, code)
    call check(found .and. attribute == 4, 'MPI_WIN_DISP_UNIT')
    call MPI_Win_get_attr(win, MPI_WIN_BASE, attribute, found, code)
    call MPI_Get_address(memory, place, code)
    call check(found .and. attribute == place, 'MPI_WIN_BASE')
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, code)
    value = me
    place = 1
    call MPI_Put(value, 1, MPI_INTEGER, mod(me + 1, np), place, 1, MPI_INTEGER, win, code)
    call MPI_Win_fence(0, win, code)
    call MPI_F_sync_reg(memory)
    call check(memory(2) == mod(me + np - 1, np), 'Put')
    place = 2
    call MPI_Win_fence(0, win, code)
    memory(3) = 0
    call MPI_F_sync_reg(memory)
    call MPI_Win_fence(0, win, code)
    call MPI_Accumulate(me + 1, 1, MPI_INTEGER, 0, place, 1, MPI_INTEGER, MPI_SUM, win, code)
    call MPI_Win_fence(0, win, code)
    call MPI_F_sync_reg(memory)
    if (me == 0) call check(memory(3) == np * (np + 1) / 2, 'Accumulate')
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, code)
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, code)
    call MPI_Get(old, 1, MPI_INTEGER, 0, place, 1, MPI_INTEGER, win, code)
    call MPI_Win_unlock(0, win, code)
    call MPI_F_sync_reg(old)
    call check(old == np * (np + 1) / 2, 'Get')
    call MPI_Win_free(win, code)
    call check(win == MPI_WIN_NULL, 'freed window')
  end subroutine

  subroutine allocated
    integer :: win, code
    integer(kind=MPI_ADDRESS_KIND) :: bytes = 80, place = 0, address
    type(c_ptr) :: base
    real(8), pointer :: memory(:)
    call MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, code)
    call c_f_pointer(base, memory, [10])
    memory = me
    call MPI_Get_address(memory, address, code)
    call check(address == transfer(base, address), 'memory of the window')
    call MPI_Win_fence(0, win, code)
    call MPI_Put(memory, 5, MPI_DOUBLE_PRECISION, mod(me + 1, np), place + 5, 5, MPI_DOUBLE_PRECISION, win, code)
    call MPI_Win_fence(0, win, code)
    call MPI_F_sync_reg(memory)
    call check(all(memory(6:10) == mod(me + np - 1, np)), 'Put into memory of MPI')
    call MPI_Win_free(win, code)
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, base, code)
    call c_f_pointer(base, memory, [10])
    memory = 3
    call check(sum(memory) == 30, 'Alloc_mem')
    call MPI_Free_mem(memory, code)
    call check(code == MPI_SUCCESS, 'Free_mem')
  end subroutine

  subroutine files
    integer :: file, code, values(3), status(MPI_STATUS_SIZE), n, etype, filetype
    integer(kind=MPI_OFFSET_KIND) :: offset, size
    character(len=MPI_MAX_DATAREP_STRING) :: representation
    call MPI_File_open(MPI_COMM_WORLD, 'windows.data   ', MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
      MPI_INFO_NULL, file, code)
    call check(code == MPI_SUCCESS, 'File_open')
    values = me
    offset = 12_8 * me
    call MPI_File_write_at_all(file, offset, values, 3, MPI_INTEGER, status, code)
    call MPI_Get_count(status, MPI_INTEGER, n, code)
    call check(n == 3, 'written')
    call MPI_File_sync(file, code)
    call MPI_Barrier(MPI_COMM_WORLD, code)
    call MPI_File_get_size(file, size, code)
    call check(size == 12 * np, 'size of the file')
    offset = 4
    call MPI_File_set_view(file, offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, code)
    call MPI_File_get_view(file, size, etype, filetype, representation, code)
    call check(size == 4 .and. representation == 'native', 'view')
    offset = 3 * mod(me + 1, np) - 1 + merge(1, 0, mod(me + 1, np) == 0)
    call MPI_File_read_at(file, offset, values, 1, MPI_INTEGER, MPI_STATUS_IGNORE, code)
    call check(values(1) == mod(me + 1, np), 'read')
    call MPI_File_close(file, code)
    call check(file == MPI_FILE_NULL, 'closed file')
  end subroutine
end program
