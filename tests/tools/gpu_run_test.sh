#!/usr/bin/env bash
# The record of a GPU run: tests/gpu/run.sh writes it, tools/gpu_run_hash.sh tells when it is stale.
# On a tree, a program and a test program made up here.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/scratch.sh"

tree=$scratch/tree
mkdir -p "$tree"/{backends/cuda,src/{device,measure,ops,probes,work},tests/{cuda,gpu},tools}
cp "$root/tools/gpu_run_hash.sh" "$tree/tools/"
cp "$root/tests/gpu/run.sh" "$tree/tests/gpu/"
echo 'kernel' >"$tree/backends/cuda/kernel.cu"
echo 'interface' >"$tree/src/ops/memory.h"
echo 'sampler' >"$tree/src/measure/sampler.cpp"
echo 'probe' >"$tree/src/probes/gemm.cpp"
echo 'test' >"$tree/tests/cuda/stream_test.cpp"
git -C "$tree" init -q
git -C "$tree" add -A
hash() { "$tree/tools/gpu_run_hash.sh"; }
# says WORDS: the warning is one line with WORDS; none where WORDS is empty.
says() {
    local said
    said=$("$tree/tools/gpu_run_hash.sh" --warn)
    if [ -z "$1" ]; then
        [ -z "$said" ] || fail "nothing was to be said, but: $said"
    elif [[ "$said" != *"$1"*tests/gpu/run.sh* ]] || [ "$(wc -l <<<"$said")" != 1 ]; then
        fail "'$1' was to be said, with the command, but: '$said'"
    fi
}

# A program and a test program that do as they are told.
build=$scratch/build
mkdir -p "$build/bin" "$scratch/path"
cat >"$build/bin/assay" <<'PROGRAM'
#!/usr/bin/env bash
[[ " $* " == *" ${BREAKS:-nothing} "* ]] && exit 1
if [ -z "${HEEDLESS:-}" ]; then
    [ "${CUDA_VISIBLE_DEVICES:-}" = 9 ] && echo 'no cuda:0 (CUDA_VISIBLE_DEVICES is "9")' && exit 2
    [ "${ASSAY_LIB_CUBLASLT:-}" = /none ] && echo "  skipped m=1024: can't open /none: ASSAY_LIB_CUBLASLT" && exit 1
    [[ " $* " == *" --size 1M --kernel all "* ]] && echo "  skipped op=copy: bulk goes over an array once a call" && exit 1
fi
echo 'cuda:0 delivers much; "timer is linear","passed":true; dtype=fp32 dtype=bf16 dtype=fp16 dtype=tf32'
echo "fp8_e4m3fn int8 op=triad op=both_ways op=device_to_device parity=entries tuned gain, tuning time"
[[ " $* " == *" ${MUTE:-nothing} "* ]] || echo "gain of bulk"
echo "mask=causal+window:128 mask=causal+document:even:4 mask=causal+document:skewed:4 mask=causal+prefix:100"
echo "mask=causal+blocks:128:0/0-1/1-2/0,3 modifier=softcap:50 modifier=alibi modifier=bias pass=backward"
echo 'kv_heads=2 throughput of cudnn, throughput of generic, "cache":"miss" "cache":"hit" "path":"fast" plan read in 2 ms'
echo 'speed-up over dense sweep="dim=64..96+8" cliffs, largest padding gain, llama3-8b attention kv_heads=8'
echo "deepseek-v3 MLA value_dim=128 lengths=512/1024/77/1 seq=70000"
if [ -z "${HEEDLESS:-}" ] && [ "${ASSAY_LIB_CUDNN:-}" = /none ]; then
    echo '"path":"portable" "provider":"generic" "left out":"cudnn: can'"'"'t open /none: no such file"'
fi
[[ " $* " == *" ${SKIPS:-nothing} "* ]] && echo "  skipped op=copy: no such thing"
exit 0
PROGRAM
cat >"$build/bin/test_cuda" <<'PROGRAM'
#!/usr/bin/env bash
if [ "${UNIT:-}" = fails ]; then
    printf '[  FAILED  ] Cuda.Adds (3 ms)\n[  PASSED  ] 4 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Cuda.Adds\n'
    exit 1
fi
[ "${UNIT:-}" = crashes ] && kill -SEGV $$
[ "${UNIT:-}" = skips ] && printf '[  PASSED  ] 0 tests.\n[  SKIPPED ] 5 tests, listed below:\n' && exit
printf '[       OK ] Cuda.Adds (3 ms)\n[  PASSED  ] 5 tests.\n'
PROGRAM
printf '#!/bin/sh\necho "NVIDIA H200, 580.159"\n' >"$scratch/path/nvidia-smi"
chmod +x "$build"/bin/* "$scratch/path/nvidia-smi"
PATH=$scratch/path:$PATH
# runs STATUS PASSED FAILED [VARIABLE=VALUE]
runs() {
    local status=0 want="passed = $2"$'\n'"failed = $3"
    env "${@:4}" "$tree/tests/gpu/run.sh" "$build" >"$scratch/out" 2>&1 || status=$?
    [ $status = "$1" ] || fail "run.sh ${*:4} was to end with $1, not $status: $(cat "$scratch/out")"
    [ "$(grep -E '^(passed|failed)' "$tree/tests/gpu/last-run.toml")" = "$want" ] ||
        fail "run.sh ${*:4} was to record $2 and $3: $(cat "$tree/tests/gpu/last-run.toml")"
}

says 'no recorded run'
runs 0 32 0
says ''
grep -qx 'device = "NVIDIA H200"' "$tree/tests/gpu/last-run.toml" || fail "the device isn't recorded"
grep -qx 'driver = "580.159"' "$tree/tests/gpu/last-run.toml" || fail "the driver isn't recorded"
runs 1 31 1 BREAKS=info
says 'had 1 failures'
runs 1 31 1 MUTE=all
runs 1 28 4 SKIPS=gemm
runs 1 28 4 HEEDLESS=yes
runs 1 31 1 UNIT=fails
runs 1 27 1 UNIT=crashes
runs 1 27 1 UNIT=skips
mv "$build/bin/test_cuda" "$build/bin/gone"
runs 1 27 1
mv "$build/bin/gone" "$build/bin/test_cuda"
runs 0 32 0

before=$(hash)
git -C "$tree" add -A
[ "$(hash)" = "$before" ] || fail "the record itself counts"
git -C "$tree" rm -q --cached src/probes/gemm.cpp
[ "$(hash)" = "$before" ] || fail "a file that isn't in the index yet doesn't count"
git -C "$tree" add -A
echo 'notes' >"$tree/backends/notes"
[ "$(hash)" != "$before" ] || fail "a new file, which the build takes, doesn't count"
echo 'notes' >"$tree/.gitignore"
[ "$(hash)" = "$before" ] || fail "an ignored file counts"
rm "$tree/backends/notes" "$tree/.gitignore"
cp -r "$tree" "$scratch/copy"
rm -rf "$scratch/copy/.git"
[ "$("$scratch/copy/tools/gpu_run_hash.sh")" = "$before" ] || fail "a copy without .git has another hash"
says ''
for file in backends/cuda/kernel.cu src/ops/memory.h src/measure/sampler.cpp src/probes/gemm.cpp \
    tests/cuda/stream_test.cpp tests/gpu/run.sh; do
    cp "$tree/$file" "$scratch/kept"
    echo '# changed' >>"$tree/$file"
    says 'other sources'
    cp "$scratch/kept" "$tree/$file"
    says ''
done
git -C "$tree" mv backends/cuda/kernel.cu backends/cuda/other.cu
says 'other sources'
[ $failures = 0 ]
