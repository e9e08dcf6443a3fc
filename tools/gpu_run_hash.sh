#!/usr/bin/env bash
# gpu_run_hash.sh          what a run of the GPU tests depends on, as one hash
# gpu_run_hash.sh --warn   one line when the run recorded in tests/gpu/last-run.toml is missing, of
#                          other sources, or had failures; else nothing
# CI has no GPU: tests/gpu/run.sh runs there where one is, and leaves that record.
set -euo pipefail
cd "${ASSAY_ROOT:-$(dirname "${BASH_SOURCE[0]}")/..}"
export LC_ALL=C
record=tests/gpu/last-run.toml

# What git tracks or would: an index may be older than the files (a copy of a working tree, say). All
# of them in a copy that is no repository.
files() {
    local folders=(backends src/device src/measure src/ops src/probes src/work tests/cuda tests/gpu)
    if [ -e .git ]; then git ls-files -co --exclude-standard "${folders[@]}"; else find "${folders[@]}" -type f 2>/dev/null; fi
}

hash_of_sources() {
    files | grep -vxF "$record" | sort | while IFS= read -r file; do
        [ -f "$file" ] && sha256sum -- "$file"
    done | sha256sum | cut -d ' ' -f 1
}

value() { sed -n "s/^$1 = \"\{0,1\}\([^\"]*\)\"\{0,1\}$/\1/p" "$record"; }

case "${1:-}" in
    '') hash_of_sources ;;
    --warn)
        refresh='run tests/gpu/run.sh BUILD on a machine with a GPU'
        if [ ! -f "$record" ]; then
            echo "the GPU tests have no recorded run: $refresh"
        elif [ "$(value hash)" != "$(hash_of_sources)" ]; then
            echo "the GPU tests ran on other sources ($(value date)): $refresh"
        elif [ "$(value failed)" != 0 ]; then
            echo "the GPU tests had $(value failed) failures ($(value date)): $refresh"
        fi
        ;;
    *)
        sed -n '2,4s/^# //p' "$0" >&2
        exit 2
        ;;
esac
