# SPDX-License-Identifier: BSD-3-Clause
"""All thresholds of samples, by what they bound. Literature: docs/sampling.md. "Measured": on the cases of experiments/sampling."""

# Units: what recurs in the sequence of markers.
LEAST_UNITS = 12  # two strata of LEAST_DRAWN: with fewer, nothing is left to estimate
MATCHING_SHARE = 0.9  # of the markers that must be what the marker one period before was: a tenth may be output, or a step of another kind
LONGEST_PERIOD = 512  # markers of a unit
PACKET = 4096  # bytes whose simulation costs as much as a call: those of a packet
MOST_SITE_UNITS = 20000  # units by a call site: more are not needed, and each costs a marker
LEAST_KIND = 5  # members of a kind that is sampled: with fewer, LEAST_DRAWN draws all
IRREGULAR_SHARE = 0.05  # of units in rare kinds, above which those that make the same calls are one kind

# The sample.
LEAST_DRAWN = 6  # units of a stratum: Student's t of 5 + 1 degrees of freedom is 2.4, of 3 + 1 it would be 2.8
LARGE = 2  # steps of the smallest sample: a larger unit is certain [1, 5.6.1],
UNEVEN = 3  # if it takes so many times the mean of its kind
STRATIFIED_SPREAD = 0.02  # of x in a kind, relative standard deviation above which the kind has strata: the usual goal
MOST_STRATA = 4  # of a kind: more narrow the interval little [1, 12.6]
UNITS_PER_DRAWN = 60  # of a kind or stratum for each unit of LEAST_DRAWN: with the iterations around it, a twelfth of the run
ITERATIONS_BEFORE, ITERATIONS_AFTER = (2, 3, 4), 1  # in a region, around a unit: after one alone, ranks are not yet apart as they are in a full run (measured)
FIRST_SHARE = 0.05  # of the run, half of the budget at most, for the first regions: each further step is one more run in the cheap model
MOST_STEPS = 4  # of growth
LEAST_GROWTH, USUAL_GROWTH = 0.1, 1.5  # of the sample in a step: less is not worth a run; half as many again are likely to be enough
VARIANCE_MARGIN = 1.1  # the standard deviation that few units show may be too small by so much
MOST_SAMPLED = 0.5  # of the run in the smallest sample: above it all is simulated, as a further run and the cheap ones cost the rest

# The estimate.
PRIOR, PRIOR_FREEDOM = 0.02, 1  # standard deviation of a unit, and degrees of freedom with which it counts: equal iterations go round in cycles in a fine
# model, some longer by 1 to 3 % (measured), and the six that were drawn may show none of them
LEAST_WIDTH = 2e-4  # half-width of any interval: where every unit is known, mixed runs are right within that (measured)
LEAST_REGRESSION = 9  # units for a regression: seven more than its coefficients
CLEARLY_LESS = 0.7  # of the ratio's variance, for a regression: the better of two is chosen by chance, too

# The border.
SETTLED = 4  # iterations after which a run that begins in the fine model is compared with other regions,
COMPARED = (4, 16)  # over so many, a fiftieth of all
COMPARED_APART, COMPARED_WITHIN = 12, 300  # iterations between the two stretches
CHANCE = 4  # times the variance of the difference: below two standard deviations it may be chance

# Online sampling.
BEGIN_MARKERS = 620  # of the begin: a program with three hundred iterations of two markers is all of it
BEGIN_ITERATIONS, BEGIN_SPARE = 80, 20  # of the begin where the program names them itself, and those outside the stretches that are compared
KIND_PERIOD = 16  # iterations after which kinds recur, at most: then so many are one unit
ONLINE_UNIT, ONLINE_SHARE = 2, 0.08  # iterations of a unit at least, and the part of the first zones that regions take, the budget at most
ZONE_GROWTH, MOST_ZONE_GROWTH = 10, 0.2  # length of a zone by what lies before it: times the goal, and at most
LEAST_ONLINE = 4  # units that stand for a stratum
LAST_ITERATION = 5_000_000  # behind which no region is placed
MOST_SCATTER = 0.3  # of x in a kind, apart from what bytes explain, above which regions are drawn when all units are known
SCATTERED_UNIT, SCATTERED_SHARE, SCATTERED_COMPARED = 10, 0.04, 48  # above STRATIFIED_SPREAD: iterations of a unit, part of the run, iterations compared
CHEAP_SETTLES = 16  # iterations behind a region, whose times in the cheap model are not taken
USUAL_SHARE = 0.95  # of iterations that are of one kind, where others come between

# The cost.
APPLICATION_SHARE = 0.2  # of the processor time, above which no other model is five times as cheap
ONE_RUN, MORE_RUNS = 5, 10  # times that the fine model must be more expensive than the cheap one: where one further run may do; where some are needed, as
# the cheap run in which nothing may be found costs so much less than the fine one
MOST_LISTED = 2000  # markers of a run all in the fine model, whose units are listed: to find those of more takes longer than it tells
MOST_COST = 1.1  # of the cost of the whole run in the fine model
