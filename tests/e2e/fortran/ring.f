C SPDX-License-Identifier: BSD-3-Clause
C Small enough for stock SMPI: its simulated times and ours must be the same to the last digit.
C (Ranks share gfortran's library there, so no call of MPI may stand in a PRINT.)
C /* e2e: switch=any np=4 */
      program ring
      implicit none
      include 'mpif.h'
      integer ierr, me, np, i, n, bad, total, req(2)
      integer st(MPI_STATUS_SIZE,2), one(MPI_STATUS_SIZE)
      double precision t
      double precision out(20000), in(20000)
      common /data/ out, in
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, me, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, np, ierr)
      bad = 0
      n = 1
      do 20 i = 1, 5
         out(n) = 10*i + me
         call MPI_IRECV(in, n, MPI_DOUBLE_PRECISION,
     &        mod(me + np - 1, np), i, MPI_COMM_WORLD, req(1), ierr)
         call MPI_ISEND(out, n, MPI_DOUBLE_PRECISION, mod(me + 1, np),
     &        i, MPI_COMM_WORLD, req(2), ierr)
         call MPI_WAITALL(2, req, st, ierr)
         if (in(n) .ne. 10*i + mod(me + np - 1, np)) bad = bad + 1
         t = MPI_WTIME()
         print '(a,i2,i3,es25.17)', 'T ring', i, me, t
         n = n * 10
         if (n .gt. 20000) n = 20000
 20   continue
      if (me .eq. 0) then
         call MPI_SEND(out, 100, MPI_DOUBLE_PRECISION, 1, 7,
     &        MPI_COMM_WORLD, ierr)
      else if (me .eq. 1) then
         call MPI_RECV(in, 100, MPI_DOUBLE_PRECISION, 0, 7,
     &        MPI_COMM_WORLD, one, ierr)
         if (in(1) .ne. 10.0d0) bad = bad + 1
      endif
      call MPI_BCAST(in, 5000, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD,
     &     ierr)
      t = MPI_WTIME()
      print '(a,i3,es25.17)', 'T bcast', me, t
      call MPI_ALLREDUCE(bad, total, 1, MPI_INTEGER, MPI_SUM,
     &     MPI_COMM_WORLD, ierr)
      t = MPI_WTIME()
      print '(a,i3,es25.17)', 'T end', me, t
      if (me .eq. 0 .and. total .eq. 0) print '(a)', 'ring: PASS'
      if (total .ne. 0) print '(a)', 'ring: FAIL'
      call MPI_FINALIZE(ierr)
      end
