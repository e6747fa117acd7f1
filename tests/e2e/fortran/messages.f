C SPDX-License-Identifier: BSD-3-Clause
C FORTRAN 77 with mpif.h: messages of several types through one name, completion of requests, absolute addresses, MPI-1.
C /* e2e: switch=any np=4 stock=no */
      program messages
      implicit none
      include 'mpif.h'
      integer ierr, i, n, me, np, left, right, bad, all, idx, outc
      integer req(8), stats(MPI_STATUS_SIZE,8), st(MPI_STATUS_SIZE)
      integer indices(8), ibuf(16), iback(16), blocks(2), types(2)
      integer addr(2), disp(2), pair, cnt, size, done, pos
      integer(kind=MPI_ADDRESS_KIND) where(2)
      double precision dbuf(16), dback(16), t0
      real rbuf(4), rback(4)
      complex cbuf(4), cback(4)
      logical flag
      character text*12, echo*12, pack*200
      integer mixi
      double precision mixd
      common /mixed/ mixd, mixi
      bad = 0
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, me, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, np, ierr)
      left = mod(me + np - 1, np)
      right = mod(me + 1, np)
      t0 = MPI_WTIME()
C Each type through the same name
      do 10 i = 1, 16
         ibuf(i) = 100*me + i
         dbuf(i) = ibuf(i) + 0.5d0
 10   continue
      do 11 i = 1, 4
         rbuf(i) = me + i
         cbuf(i) = cmplx(me, i)
 11   continue
      write(text, '(a,i4)') 'rank', me
      call MPI_SENDRECV(ibuf, 16, MPI_INTEGER, right, 1, iback, 16,
     &     MPI_INTEGER, left, 1, MPI_COMM_WORLD, st, ierr)
      if (iback(3) .ne. 100*left + 3) bad = bad + 1
      if (st(MPI_SOURCE) .ne. left .or. st(MPI_TAG) .ne. 1) bad = bad+1
      call MPI_GET_COUNT(st, MPI_INTEGER, cnt, ierr)
      if (cnt .ne. 16) bad = bad + 1
      call MPI_SENDRECV(dbuf, 16, MPI_DOUBLE_PRECISION, right, 2, dback,
     &     16, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD,
     &     MPI_STATUS_IGNORE, ierr)
      if (dback(16) .ne. 100*left + 16.5d0) bad = bad + 1
      call MPI_SENDRECV(rbuf, 4, MPI_REAL, right, 3, rback, 4,
     &     MPI_REAL, left, 3, MPI_COMM_WORLD, st, ierr)
      if (rback(4) .ne. left + 4) bad = bad + 1
      call MPI_SENDRECV(cbuf, 4, MPI_COMPLEX, right, 4, cback, 4,
     &     MPI_COMPLEX, left, 4, MPI_COMM_WORLD, st, ierr)
      if (cback(2) .ne. cmplx(left, 2)) bad = bad + 1
      call MPI_SENDRECV(text, 12, MPI_CHARACTER, right, 5, echo, 12,
     &     MPI_CHARACTER, left, 5, MPI_COMM_WORLD, st, ierr)
      read(echo(5:8), '(i4)') n
      if (n .ne. left) bad = bad + 1
C Arrays of requests; places count from 1
      do 20 i = 1, 4
         call MPI_IRECV(iback(i), 1, MPI_INTEGER, left, 10 + i,
     &        MPI_COMM_WORLD, req(i), ierr)
 20   continue
      do 21 i = 1, 4
         call MPI_ISEND(ibuf(i), 1, MPI_INTEGER, right, 10 + i,
     &        MPI_COMM_WORLD, req(4 + i), ierr)
 21   continue
      done = 0
 22   call MPI_WAITANY(8, req, idx, st, ierr)
      if (idx .ne. MPI_UNDEFINED) then
         if (req(idx) .ne. MPI_REQUEST_NULL) bad = bad + 1
         if (idx .le. 4 .and. st(MPI_TAG) .ne. 10 + idx) bad = bad + 1
         done = done + 1
         goto 22
      endif
      if (done .ne. 8) bad = bad + 1
      do 23 i = 1, 4
         if (iback(i) .ne. 100*left + i) bad = bad + 1
         call MPI_IRECV(iback(i), 1, MPI_INTEGER, left, 20 + i,
     &        MPI_COMM_WORLD, req(i), ierr)
         call MPI_ISEND(ibuf(i), 1, MPI_INTEGER, right, 20 + i,
     &        MPI_COMM_WORLD, req(4 + i), ierr)
 23   continue
      done = 0
 24   call MPI_WAITSOME(8, req, outc, indices, stats, ierr)
      do 25 i = 1, outc
         if (indices(i) .lt. 1 .or. indices(i) .gt. 8) bad = bad + 1
         if (req(indices(i)) .ne. MPI_REQUEST_NULL) bad = bad + 1
         if (indices(i) .le. 4) then
            if (stats(MPI_TAG,i) .ne. 20 + indices(i)) bad = bad + 1
         endif
 25   continue
      if (outc .ne. MPI_UNDEFINED) then
         done = done + outc
         goto 24
      endif
      if (done .ne. 8) bad = bad + 1
C Persistent requests, tests until done
      call MPI_SEND_INIT(dbuf, 4, MPI_DOUBLE_PRECISION, right, 30,
     &     MPI_COMM_WORLD, req(1), ierr)
      call MPI_RECV_INIT(dback, 4, MPI_DOUBLE_PRECISION, left, 30,
     &     MPI_COMM_WORLD, req(2), ierr)
      do 30 n = 1, 3
         dback(4) = 0
         call MPI_F_SYNC_REG(dback)
         call MPI_STARTALL(2, req, ierr)
         flag = .false.
 31      if (.not. flag) then
            call MPI_TESTALL(2, req, flag, MPI_STATUSES_IGNORE, ierr)
            goto 31
         endif
         call MPI_F_SYNC_REG(dback)
         if (dback(4) .ne. 100*left + 4.5d0) bad = bad + 1
         if (req(1) .eq. MPI_REQUEST_NULL) bad = bad + 1
 30   continue
      call MPI_REQUEST_FREE(req(1), ierr)
      call MPI_REQUEST_FREE(req(2), ierr)
      if (req(1) .ne. MPI_REQUEST_NULL) bad = bad + 1
C MPI_BOTTOM with absolute addresses, and a type of MPI-1 relative to a common block
      call MPI_GET_ADDRESS(mixd, where(1), ierr)
      call MPI_GET_ADDRESS(mixi, where(2), ierr)
      blocks(1) = 1
      blocks(2) = 1
      types(1) = MPI_DOUBLE_PRECISION
      types(2) = MPI_INTEGER
      call MPI_TYPE_CREATE_STRUCT(2, blocks, where, types, pair, ierr)
      call MPI_TYPE_COMMIT(pair, ierr)
      mixd = 2.5d0 * me
      mixi = me
      call MPI_SENDRECV_REPLACE(MPI_BOTTOM, 1, pair, right, 40, left,
     &     40, MPI_COMM_WORLD, st, ierr)
      if (mixi .ne. left .or. mixd .ne. 2.5d0 * left) bad = bad + 1
      call MPI_TYPE_FREE(pair, ierr)
      if (pair .ne. MPI_DATATYPE_NULL) bad = bad + 1
      call MPI_ADDRESS(mixd, addr(1), ierr)
      call MPI_ADDRESS(mixi, addr(2), ierr)
      disp(1) = 0
      disp(2) = addr(2) - addr(1)
      call MPI_TYPE_STRUCT(2, blocks, disp, types, pair, ierr)
      call MPI_TYPE_COMMIT(pair, ierr)
      call MPI_TYPE_SIZE(pair, size, ierr)
      if (size .ne. 12) bad = bad + 1
      call MPI_SENDRECV_REPLACE(mixd, 1, pair, left, 41, right,
     &     41, MPI_COMM_WORLD, st, ierr)
      if (mixi .ne. me .or. mixd .ne. 2.5d0 * me) bad = bad + 1
      call MPI_TYPE_FREE(pair, ierr)
C Packing into a string
      pos = 0
      call MPI_PACK(ibuf, 4, MPI_INTEGER, pack, 200, pos,
     &     MPI_COMM_WORLD, ierr)
      call MPI_PACK(rbuf, 4, MPI_REAL, pack, 200, pos, MPI_COMM_WORLD,
     &     ierr)
      call MPI_SENDRECV_REPLACE(pack, pos, MPI_PACKED, right, 50, left,
     &     50, MPI_COMM_WORLD, st, ierr)
      pos = 0
      call MPI_UNPACK(pack, 200, pos, iback, 4, MPI_INTEGER,
     &     MPI_COMM_WORLD, ierr)
      call MPI_UNPACK(pack, 200, pos, rback, 4, MPI_REAL,
     &     MPI_COMM_WORLD, ierr)
      if (iback(4) .ne. 100*left + 4) bad = bad + 1
      if (rback(1) .ne. left + 1) bad = bad + 1
C Probe
      call MPI_ISEND(ibuf, 5, MPI_INTEGER, right, 60, MPI_COMM_WORLD,
     &     req(1), ierr)
      call MPI_PROBE(MPI_ANY_SOURCE, 60, MPI_COMM_WORLD, st, ierr)
      call MPI_GET_COUNT(st, MPI_INTEGER, cnt, ierr)
      if (cnt .ne. 5 .or. st(MPI_SOURCE) .ne. left) bad = bad + 1
      call MPI_RECV(iback, cnt, MPI_INTEGER, st(MPI_SOURCE), 60,
     &     MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_WAIT(req(1), MPI_STATUS_IGNORE, ierr)
      call MPI_PCONTROL(1)
      if (MPI_WTIME() .lt. t0) bad = bad + 1
      call MPI_ALLREDUCE(bad, all, 1, MPI_INTEGER, MPI_SUM,
     &     MPI_COMM_WORLD, ierr)
      if (me .eq. 0 .and. all .eq. 0) print '(a)', 'messages: PASS'
      if (all .ne. 0) print *, 'messages: FAIL', me, bad
      call MPI_FINALIZE(ierr)
      end
