#!/usr/bin/env bash
# run.sh FOLDER [RECORD]: the tests that need a GPU, on a machine that has one. FOLDER is a build's or
# an installation's (bin/assay; bin/test_cuda from a build where nvcc is). Writes RECORD (default
# tests/gpu/last-run.toml, to be committed), which tells ./test elsewhere what was tested. Ends with 1
# when a test failed, or none could run.
set -uo pipefail
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    sed -n '2,5s/^# //p' "$0" >&2
    exit 2
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(cd "$1" && pwd) || exit 2
record=${2:-$root/tests/gpu/last-run.toml}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

outcome() { # NAME STATUS [WHY]
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
        echo "passed  $1"
    else
        failed=$((failed + 1))
        echo "FAILED  $1: ${3:-}"
        tail -n 40 "$scratch/out"
    fi
}

# Tests of a gtest program count one by one; one that was skipped has tested nothing.
unit_tests() {
    local program=$folder/bin/test_cuda status=0 good bad
    : >"$scratch/out"
    if [ ! -x "$program" ]; then
        outcome test_cuda 1 "$program isn't there: it is built only where nvcc is"
        return
    fi
    "$program" >"$scratch/out" 2>&1 || status=$?
    good=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\{0,1\}\..*/\1/p' "$scratch/out" | tail -n 1)
    bad=$(grep -c '^\[  FAILED  \] .*ms)$' "$scratch/out")
    passed=$((passed + ${good:-0}))
    failed=$((failed + bad))
    echo "${good:-0} passed, $bad failed: test_cuda"
    if [ "$bad" -gt 0 ]; then
        grep -B 20 '^\[  FAILED  \] .*ms)$' "$scratch/out" | tail -n 100
    elif [ $status != 0 ]; then
        outcome test_cuda 1 "ended with $status"
    elif [ "${good:-0}" = 0 ]; then
        outcome test_cuda 1 "no test ran"
    fi
}

# ends STATUS NAME WANTED... -- [VARIABLE=VALUE...] ARGUMENT...: `assay` ends with STATUS, prints each
# WANTED, and skips nothing where it ends well.
ends() {
    local want=$1 name=$2 wanted=() variables=() word status=0
    shift 2
    while [ "$1" != -- ]; do
        wanted+=("$1")
        shift
    done
    shift
    while [[ "$1" == *=* ]]; do
        variables+=("$1")
        shift
    done
    env "${variables[@]}" "$folder/bin/assay" "$@" >"$scratch/out" 2>&1 || status=$?
    if [ $status != "$want" ]; then
        outcome "$name" 1 "assay $* ended with $status, not $want"
        return
    fi
    for word in "${wanted[@]}"; do
        grep -qF -- "$word" "$scratch/out" && continue
        outcome "$name" 1 "assay $* doesn't print \"$word\""
        return
    done
    if [ "$want" = 0 ] && grep -q '^ *skipped ' "$scratch/out"; then
        outcome "$name" 1 "assay $* skipped a case"
        return
    fi
    outcome "$name" 0
}

program() { ends 0 "$@"; }

brief=(--device cuda:0 --store none --quiet --protocol boost --limit 1)
unit_tests
program "inventory" cuda:0 -- info
program "ruler" "timer is linear" '"passed":true' -- selftest --device cuda:0 --store none --quiet --format json
program "products" dtype=fp32 dtype=bf16 dtype=fp16 dtype=tf32 -- \
    gemm --shapes 1024x1024x1024 --dtype fp32,bf16,fp16,tf32 "${brief[@]}"
program "8-bit products" fp8_e4m3fn int8 -- \
    gemm --shapes 1024x1024x1024 --dtype fp8_e4m3fn,int8 --layout nt "${brief[@]}"
program "memory" op=triad -- memory --size 1M,256M "${brief[@]}"
program "kernels compared" "gain of" -- memory --op copy --size 256M --kernel all "${brief[@]}"
ends 1 "kernels of a small copy" skipped "goes over an array once a call" -- \
    memory --op copy --size 1M --kernel all "${brief[@]}"
# Its file of winners is its own, so that a search is made.
program "tuned product" "tuned gain" "tuning time" -- XDG_CACHE_HOME="$scratch/cache" \
    gemm --shapes 2048x2048x2048 --dtype bf16 --algorithm tuned \
    --device cuda:0 --store none --quiet --protocol sustained --limit 1 --format json
program "paths to a product" "parity=entries" -- \
    gemm --shapes 2048x2048x2048 --dtype bf16 --parity "${brief[@]}"
ends 1 "a missing library" skipped /none ASSAY_LIB_CUBLASLT -- ASSAY_LIB_CUBLASLT=/none \
    gemm --shapes 1024x1024x1024 --dtype bf16 "${brief[@]}"
ends 2 "a hidden device" CUDA_VISIBLE_DEVICES -- CUDA_VISIBLE_DEVICES=9 \
    gemm --shapes 1024x1024x1024 --dtype bf16 "${brief[@]}"
program "transfers" op=both_ways op=device_to_device -- \
    memory --op host_to_device,device_to_host,both_ways,device_to_device --size 64M \
    --host-memory pinned,pageable "${brief[@]}"
# Attention keeps winners and plans: both are the run's own, so that they are made, then found.
own=(XDG_CACHE_HOME="$scratch/cache")
short=(--device cuda:0 --store none --quiet --protocol boost --limit 0.3)
both=(--pass "forward,backward")
blocks=causal+blocks:128:0/0-1/1-2/0,3
program "attention's masks" mask=causal+window:128 mask=causal+document:even:4 \
    mask=causal+document:skewed:4 mask=causal+prefix:100 "mask=$blocks" pass=backward -- "${own[@]}" \
    attention --heads 2 --seq 512 --dtype bf16 "${both[@]}" "${short[@]}" --mask \
    "causal+window:128,causal+document:even:4,causal+document:skewed:4,causal+prefix:100,$blocks"
program "attention's modifiers" modifier=softcap:50 modifier=alibi modifier=bias pass=backward -- \
    "${own[@]}" attention --heads 2 --seq 512 --dtype bf16 --mask causal --modifier softcap:50,alibi,bias \
    "${both[@]}" "${short[@]}"
program "attention's types, grouped heads" dtype=fp32 dtype=bf16 dtype=fp16 kv_heads=2 pass=backward -- \
    "${own[@]}" attention --heads 4 --kv-heads 2 --seq 512 --dim 128 --dtype fp32,bf16,fp16 --mask causal \
    "${both[@]}" "${short[@]}"
program "attention's providers" "throughput of cudnn" "throughput of generic" pass=backward -- "${own[@]}" \
    attention --heads 8 --seq 2048 --dim 128 --dtype bf16 --mask causal --provider all "${both[@]}" "${short[@]}"
# A winner is sure after six rounds, which this limit is enough for.
kept=(attention --heads 4 --seq 1024 --dim 128 --dtype bf16 --mask full --format json
    --device cuda:0 --store none --quiet --protocol boost --limit 3)
program "attention's fastest provider, compared" '"cache":"miss"' -- "${own[@]}" "${kept[@]}"
program "attention's fastest provider, known" '"cache":"hit"' '"path":"fast"' "plan read in" -- \
    "${own[@]}" "${kept[@]}"
program "attention against dense" "speed-up over dense" -- "${own[@]}" attention --heads 8 --seq 4096 --dim 128 \
    --dtype bf16 --mask causal+window:256 --against-dense "${brief[@]}"
program "attention's dims" 'sweep="dim=64..96+8"' cliffs "largest padding gain" -- "${own[@]}" \
    attention --heads 8 --seq 1024 --dtype bf16 --mask causal --sweep dim=64..96+8 "${brief[@]}"
program "a model's grouped attention" "llama3-8b attention" kv_heads=8 -- "${own[@]}" \
    attention --model llama3-8b --seq 2048 --dtype bf16 "${short[@]}"
program "a model's latent attention" "deepseek-v3 MLA" value_dim=128 -- "${own[@]}" \
    attention --model deepseek-v3 --tp 8 --seq 2048 --dtype bf16 "${short[@]}"
program "ragged attention" lengths=512/1024/77/1 pass=backward -- "${own[@]}" attention --heads 4 \
    --lengths 512/1024/77/1 --dtype bf16 --mask causal "${both[@]}" "${short[@]}"
program "long attention" seq=70000 "throughput of cudnn" "throughput of generic" pass=backward -- "${own[@]}" \
    attention --heads 1 --seq 70000 --dim 128 --dtype bf16 --mask causal+window:4096 --provider all \
    "${both[@]}" "${short[@]}"
program "attention without its library" '"path":"portable"' '"provider":"generic"' \
    "\"left out\":\"cudnn: can't open /none" -- "${own[@]}" ASSAY_LIB_CUDNN=/none \
    attention --heads 4 --seq 1024 --dtype bf16 --format json "${short[@]}"
begin=$SECONDS
program "quick suite" "cuda:0 delivers" -- run --suite quick --device cuda:0 --store none --quiet
took=$((SECONDS - begin))
# From start to verdict; its budget is 43 s.
if [ $took -le 45 ]; then outcome "quick suite in time" 0; else outcome "quick suite in time" 1 "took $took s"; fi

gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
cat >"$record" <<TOML
# Written by tests/gpu/run.sh; ./test compares the hash with the sources' (tools/gpu_run_hash.sh).
hash = "$("$root/tools/gpu_run_hash.sh")"
date = "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
device = "${gpu%%,*}"
driver = "${gpu##*, }"
passed = $passed
failed = $failed
TOML
echo "$passed passed, $failed failed: $record"
[ $failed = 0 ]
