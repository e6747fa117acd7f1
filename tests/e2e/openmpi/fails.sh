#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a program that must fail with a message. Usage: fails.sh REGULAR-EXPRESSION [NAME=VALUE...] PROGRAM [ARGUMENT...]
set -eu
expected=$1
shift
if output=$(env "$@" 2>&1); then
  echo "$output"
  echo "it did not fail"
  exit 1
fi
echo "$output" | grep -q "parfocal: error: .*$expected" || { echo "$output"; echo "no message like $expected"; exit 1; }
