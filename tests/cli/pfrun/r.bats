# SPDX-License-Identifier: BSD-3-Clause
# Programs in R, with the distribution's own R and its Rmpi, which was built for Open MPI.
load common.bash

setup_file() {
    command -v Rscript
}

# ranks WAY command...: what its ranks print, in order
ranks() {
    local way=$1
    shift
    # shellcheck disable=SC2086
    pfrun -quiet $way --cfg=smpi/simulate-computation:no -np 3 "$@" | grep '^[0-9] of' | sort
}

@test "a session of R for each rank" {
    cat >app.R <<'END'
#!/usr/bin/env Rscript
suppressMessages(library(Rmpi))
rank <- mpi.comm.rank(0)
set.seed(rank)
texts <- sort(sapply(1:5000, function(i) paste0("text", i, rnorm(1)))) # more than its memory has at first
invisible(gc())
sum <- mpi.allreduce(as.double(rank + nchar(texts[1]) - nchar(texts[1])), type = 2, op = "sum", comm = 0)
object <- list(numbers = 1:3, text = "hello")
if (rank == 0) mpi.bcast.Robj(object, 0, 0) else object <- mpi.bcast.Robj(NULL, 0, 0)
caught <- tryCatch(stop("caught"), error = function(e) conditionMessage(e))
deep <- function(n) if (n == 0) 0 else 1 + deep(n - 1)
cat(rank, "of", mpi.comm.size(0), sum, object$text, sum(object$numbers), caught, deep(200), commandArgs(TRUE), "\n")
invisible(mpi.finalize())
END
    expected="0 of 3 3 hello 6 caught 200 a b
1 of 3 3 hello 6 caught 200 a b
2 of 3 3 hello 6 caught 200 a b"
    chmod +x app.R
    for way in "-model analytic" "-model smpi" "-model portals" "-schedule every:2=smpi|portals"; do
        diff <(ranks "$way" Rscript app.R a b | sed 's/ $//') <(echo "$expected")
    done
    diff <(ranks "" ./app.R a b | sed 's/ $//') <(echo "$expected")
    diff <(ranks "" R --no-save --no-echo -f app.R --args a b | sed 's/ $//') <(echo "$expected")
}

@test "expressions, options and what is refused" {
    [ "$(pfrun -quiet -np 2 Rscript --vanilla -e 'cat("one\n")' -e 'cat(commandArgs(TRUE), "\n")' two | sort | xargs)" = "one one two two" ]
    run pfrun -quiet -np 2 Rscript -e 'quit(status = 3)'
    [ "$status" -eq 3 ]
    refuses "R CMD BATCH: only R itself can be run (R -f FILE)" -np 2 R CMD BATCH app.R
    mkdir empty
    printf '#!/bin/sh\nexit 1\n' >empty/R
    cp empty/R empty/Rscript
    chmod +x empty/*
    refuses "'empty/R' does not print where R is" -np 2 empty/Rscript app.R
}
