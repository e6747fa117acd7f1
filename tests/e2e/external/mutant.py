#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A right simulator, one of whose answers is changed at random; argument 1 is the seed."""
import random
import sys

import peers


class Mutant(peers.Simulator):
    def __init__(self, peer):
        super().__init__(peer)
        self.rng = random.Random(int(sys.argv[1]))
        self.wrong = self.rng.choice([0, 1, 2, 3, 5, 8, 13, 21])
        self.said = 0

    def send(self, data):
        super().send(peers.mutate(data, self.rng) if self.said == self.wrong else data)
        self.said += 1


peers.serve({sys.argv[1]: Mutant})
