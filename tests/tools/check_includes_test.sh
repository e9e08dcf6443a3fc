#!/usr/bin/env bash
# tools/check_includes.sh finds each kind of planted bad include, and nothing in a good tree.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/scratch.sh"
check=$root/tools/check_includes.sh

good_tree() {
    rm -rf "$scratch"/*
    mkdir -p "$scratch"/src/{base,store,cli} "$scratch"/backends/cpu
    echo '#include <nlohmann/json.hpp>' >"$scratch/src/base/json.h"
    printf '#include "base/json.h"\n#include <sqlite3.h>\n' >"$scratch/src/store/sqlite.cpp"
    printf '#include "store/store.h"\n#include <CLI/CLI.hpp>\n' >"$scratch/src/cli/main.cpp"
    printf '#include "cpu/pin.h"\n#include "device/device.h"\n' >"$scratch/backends/cpu/module.cpp"
    touch "$scratch/backends/cpu/pin.h"
}

# finds FILE LINE WORDS: LINE planted in FILE is complained of with WORDS, at its place.
finds() {
    good_tree
    mkdir -p "$scratch/${1%/*}"
    echo "$2" >>"$scratch/$1"
    local said place
    place="$1:$(wc -l <"$scratch/$1"):"
    if said=$("$check" "$scratch") || [[ "$said" != *"$place"*"$3"* ]]; then
        fail "$2 in $1 should give '$place ... $3', gave '$said'"
    fi
}

good_tree
"$check" "$scratch" || fail "a good tree is refused"
finds src/base/json.h '#include "store/store.h"' 'store comes after it'
finds src/base/json.h '#  include "cli/main.h"' 'cli comes after it'
finds src/base/json.h '#include "error.h"' 'does not begin with a room'
finds src/base/json.h '#include "../store/store.h"' 'does not begin with a room'
finds src/store/writer.cpp '#include <sqlite3.h>' 'src/store/sqlite.cpp too'
finds src/base/toml.h '#include <toml++/toml.h>' 'outside a .cpp'
finds src/store/writer.cpp '#include <dnnl.h>' 'belongs to backends/cpu/onednn'
finds src/store/sqlite.cpp '#include <CLI/CLI.hpp>' 'belongs to cli'
finds src/store/sqlite.cpp '#include <nlohmann/json.hpp>' 'base/json.h'
finds src/attic/old.h '' 'no room of the table'
finds backends/cpu/module.cpp '#include "measure/sampler.h"' 'a module may not include'
[ $failures = 0 ]
