#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compares the layout of all C and C++ sources with .clang-format, by clang-format 14: other versions differ.
# Usage: check-layout.sh [--fix] [FILE...]    (without files: all of the tree). Status 77 (skipped) without clang-format 14.
set -eu
action="--dry-run --Werror"
if [ "${1:-}" = --fix ]; then
    action=-i
    shift
fi
for clang_format in clang-format-14 clang-format none; do
    case $("$clang_format" --version 2>/dev/null) in
    *"version 14."*) break ;;
    esac
done
[ "$clang_format" != none ] || { echo "clang-format 14 is missing"; exit 77; }

if [ $# -eq 0 ]; then
    cd "$(dirname "$0")/.."
    # shellcheck disable=SC2046
    set -- $(git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cpp' '*.cc' 2>/dev/null ||
        find . -path './build*' -prune -o \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.cc' \) -print)
fi
# Git still lists what has just been removed.
for file in "$@"; do
    shift
    [ ! -f "$file" ] || set -- "$@" "$file"
done
# shellcheck disable=SC2086
"$clang_format" $action "$@" || { echo "scripts/check-layout.sh --fix [FILE...] lays it out"; exit 1; }
