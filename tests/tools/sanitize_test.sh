#!/usr/bin/env bash
# tests/gpu/sanitize.sh with a sanitizer and a test program made up here: what it passes, finds and
# leaves out.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/scratch.sh"

mkdir -p "$scratch"/{build/bin,path}
printf '#!/bin/sh\nprintf "[  PASSED  ] %%s tests.\\n" "${COUNT:-3}"\n' >"$scratch/build/bin/test_cuda"
cat >"$scratch/path/compute-sanitizer" <<'PROGRAM'
#!/usr/bin/env bash
tool=$2
[ -n "${REFUSES:-}" ] && echo '========= Error: Device not supported' && exit 1
while [[ "$1" != */test_cuda ]]; do shift; done
"$@"
[ "$tool" != "${FINDS:-}" ] || { echo "========= ERROR SUMMARY: 2 errors" && exit 9; }
[ "$tool" = racecheck ] && echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)" && exit
echo "========= ERROR SUMMARY: 0 errors"
PROGRAM
chmod +x "$scratch"/build/bin/test_cuda "$scratch/path/compute-sanitizer"
# ends STATUS WORDS [VARIABLE=VALUE...] [-- TOOL...]
ends() {
    local want=$1 words=$2 variables=() status=0 said
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    [ $# = 0 ] || shift
    said=$(env "${variables[@]}" "$root/tests/gpu/sanitize.sh" "$scratch/build" "$@" 2>&1) || status=$?
    [ $status = "$want" ] || fail "${variables[*]} $* was to end with $want, not $status: $said"
    [[ "$said" == *"$words"* ]] || fail "${variables[*]} $* was to say '$words', but: $said"
}

path=PATH=$scratch/path:$PATH
ends 0 'passed  initcheck' "$path"
ends 0 'passed  memcheck' "$path" -- memcheck
ends 1 'FAILED  racecheck: found something' "$path" FINDS=racecheck
ends 1 'not all tests passed' "$path" COUNT=0
ends 77 "doesn't take this device" "$path" REFUSES=yes
mv "$scratch/build/bin/test_cuda" "$scratch/build/bin/gone"
ends 1 'built only where nvcc is' "$path"
[ $failures = 0 ]
