#!/usr/bin/env bash
# check_includes.sh [ROOT]: what may include what, in src/ and backends/.
#   A room includes its own files and those of rooms before it in the list below.
#   A module includes its own files and the rooms that are its contract with the core.
#   A heavy header is included by one .cpp, so that it costs one compilation.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

rooms='base stats work record store catalog crew device ops measure model nn probes train infer load
    plan judge exchange suite report web cli'
contract='base work record device ops'

find src backends -type f -regex '.*\.\(h\|cpp\|cuh?\)' | sort | xargs awk -v rooms="$rooms" -v contract="$contract" '
    function complain(reason) {
        printf "%s:%d: %s\n", FILENAME, FNR, reason
        bad = 1
    }
    function exists(path,  line, found) {
        found = (getline line < path) >= 0
        close(path)
        return found
    }
    BEGIN {
        count = split(rooms, room_list)
        for (i = 1; i <= count; i++) rank[room_list[i]] = i
        count = split(contract, contract_list)
        for (i = 1; i <= count; i++) in_contract[contract_list[i]] = 1
    }
    FNR == 1 {
        split(FILENAME, part, "/")
        module = part[1] == "backends" ? part[2] : ""
        room = part[2]
        if (module == "" && !(room in rank)) complain("src/" room " is no room of the table")
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, piece, "\"")
        header = piece[2]
        split(header, step, "/")
        if (module != "") {
            own = exists("backends/" module "/" header) || exists("backends/" header)
            if (!own && !(step[1] in in_contract))
                complain("a module may not include \"" header "\": only " contract)
        } else if (!(step[1] in rank))
            complain("\"" header "\" does not begin with a room")
        else if (rank[step[1]] > rank[room])
            complain(room " may not include \"" header "\": " step[1] " comes after it")
    }
    /^[ \t]*#[ \t]*include[ \t]*</ {
        split($0, piece, /[<>]/)
        header = piece[2]
        if (header ~ /^(oneapi\/dnnl\/|dnnl)/ && FILENAME !~ /^backends\/cpu\/onednn[a-z0-9_]*\./)
            complain("<" header "> belongs to backends/cpu/onednn*")
        if (header ~ /^CLI\// && room != "cli") complain("<" header "> belongs to cli")
        if (header == "nlohmann/json.hpp" && FILENAME != "src/base/json.h")
            complain("<" header "> comes through \"base/json.h\"")
        library = ""
        if (header == "sqlite3.h" || header == "hwloc.h") library = header
        if (header ~ /^toml\+\+\//) library = "toml++"
        if (library == "") next
        if (FILENAME !~ /\.cpp$/) complain("heavy header <" header "> outside a .cpp")
        else if (library in user && user[library] != FILENAME)
            complain("heavy header <" header "> is in " user[library] " too")
        else user[library] = FILENAME
    }
    END { exit bad }'
