#!/usr/bin/env bash
# dist_test.sh BUILD: what `cmake --install BUILD` makes runs from another path with an empty
# environment, brings the libraries of cmake/dist-libraries.txt and needs no other.
set -euo pipefail
build=$1
. "$(dirname "${BASH_SOURCE[0]}")/../tools/scratch.sh"

cmake --install "$build" --strip --prefix "$scratch/first" >"$scratch/install.log" || {
    cat "$scratch/install.log"
    exit 1
}
folder="$scratch/other path/assay"
mkdir -p "${folder%/*}"
mv "$scratch/first" "$folder"
mapfile -t binaries < <(find "$folder/bin" "$folder/lib" -type f)

assay() {
    local status=0
    (cd / && env -i "$folder/bin/assay" "$@" >"$scratch/out" 2>&1) || status=$?
    [ $status = 0 ] && return
    cat "$scratch/out"
    fail "assay $* ended with $status"
}
assay --version
assay info
assay selftest --store none
assay gemm --shapes 64x64x64 --dtype fp32 --limit 1 --store none --format json
# oneDNN is opened at run time: ldd doesn't see it, and this machine has its own.
grep -qF "\"library_file\":\"$folder/lib/" "$scratch/out" || fail "gemm ran a library from elsewhere"

# What glibc itself brings; all else must come from the folder.
glibc='linux-vdso|ld-linux|lib(c|m|mvec|dl|pthread|rt|resolv|util)\.so'
for program in "$folder"/bin/assay "$folder"/lib/assay/*.so; do
    outside=$(env -i /usr/bin/ldd "$program" | grep -Ev "$glibc" | grep -Fv "=> $folder/" || true)
    [ -z "$outside" ] || fail "${program#"$folder/"} takes from outside the folder: $outside"
done

# Names and symbol versions are those of the oldest system, Debian 12: a folder for others is made there.
if [ "$(getconf GNU_LIBC_VERSION)" = "glibc 2.36" ]; then
    for library in "$folder"/lib/*.so*; do
        [ -L "$library" ] || objdump -p "$library" | awk '$1 == "SONAME" { print $2 }'
    done | sort >"$scratch/libraries"
    diff <(grep -v '^#' "$root/cmake/dist-libraries.txt" | sort) "$scratch/libraries" ||
        fail "the libraries (>) are not those of cmake/dist-libraries.txt (<)"

    newest=$(objdump -T "${binaries[@]}" | grep -o 'GLIBC_2[.0-9]*' | sort -uV | tail -1)
    [ "$(printf '%s\n' "$newest" GLIBC_2.36 | sort -V | tail -1)" = GLIBC_2.36 ] ||
        fail "needs $newest, newer than glibc 2.36"
else
    echo "skipped: library list and glibc version are checked on Debian 12"
fi

[ -s "$folder/LICENSE" ] || fail "no LICENSE"
for library in "$folder"/lib/*.so*; do
    [ -e "$library" ] || fail "${library##*/} is a link to nothing"
done
[ $failures = 0 ]
