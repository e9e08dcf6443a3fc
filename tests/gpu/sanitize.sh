#!/usr/bin/env bash
# sanitize.sh FOLDER [TOOL...]: the program's own kernels of attention under compute-sanitizer (default
# memcheck, racecheck and initcheck) on a machine with a GPU. FOLDER is a build's, with bin/test_cuda.
# Ends with 1 when a tool found something or a test failed, with 77 where there is no
# compute-sanitizer or it doesn't take the device.
set -uo pipefail
if [ $# -lt 1 ]; then
    sed -n '2,5s/^# //p' "$0" >&2
    exit 2
fi
program=$1/bin/test_cuda
shift
tools=("$@")
[ $# -gt 0 ] || tools=(memcheck racecheck initcheck)
seconds=120 # of each tool: a hang must end
if [ ! -x "$program" ]; then
    echo "FAILED  $program isn't there: it is built only where nvcc is" >&2
    exit 1
fi
sanitizer=
for place in compute-sanitizer /usr/local/cuda*/bin/compute-sanitizer; do
    [ -n "$sanitizer" ] || sanitizer=$(command -v "$place")
done
if [ -z "$sanitizer" ]; then
    echo "skipped: there is no compute-sanitizer on the PATH or in /usr/local/cuda*/bin" >&2
    exit 77
fi
out=$(mktemp)
trap 'rm -f "$out"' EXIT

failed=0
for tool in "${tools[@]}"; do
    began=$SECONDS status=0 why=
    tests='Types/CudaAttentionOfType.*' # fp32, bf16 and fp16; both passes of small problems
    # A hundred times as slow: a small problem for each kernel of bf16 and fp16, one of fp32.
    if [ "$tool" = racecheck ]; then
        tests='CudaAttentionOnDevice.Runs*'
    fi
    # Kernels are on trial, and no call that asks whether something is there: that of API errors is
    # another matter. Without cuDNN's own kernels, which aren't either.
    options=(--tool "$tool" --error-exitcode 9 --print-limit 20)
    [ "$tool" = memcheck ] && options+=(--report-api-errors no)
    ASSAY_LIB_CUDNN=/none timeout -k 10 $seconds "$sanitizer" "${options[@]}" \
        "$program" --gtest_filter="$tests" >"$out" 2>&1 || status=$?
    if grep -q 'Device not supported' "$out"; then
        echo "skipped: compute-sanitizer doesn't take this device" >&2
        exit 77
    elif [ $status = 124 ] || [ $status = 137 ]; then
        why="took over $seconds s"
    elif ! grep -qE '(ERROR|RACECHECK) SUMMARY: 0 ' "$out"; then
        why="found something"
    elif ! grep -q '^\[  PASSED  \] [1-9]' "$out" || grep -qE '^\[  (FAILED|SKIPPED)' "$out"; then
        why="not all tests passed"
    elif [ $status != 0 ]; then
        why="ended with $status"
    fi
    if [ -z "$why" ]; then
        echo "passed  $tool, $((SECONDS - began)) s"
    else
        failed=1
        echo "FAILED  $tool: $why"
        grep -E '^=========|^\[  (FAILED|SKIPPED)|Failure' "$out" | head -n 60
        tail -n 15 "$out"
    fi
done
exit $failed
