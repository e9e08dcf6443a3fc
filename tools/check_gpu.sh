#!/usr/bin/env bash
# check_gpu.sh [ROOT]: backends/gpu holds kernels for more than one maker's GPUs, so nothing there may
#   take a warp for 32 lanes or a lane mask for 32 bits (AMD's wavefronts have 64),
#   hold PTX,
#   or include a maker's header, but for runtime.h, which maps the names.
# Comments are passed over. No such folder is fine.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
[ -d backends/gpu ] || exit 0

find backends/gpu -type f -regex '.*\.\(h\|cpp\|cuh?\)' -print0 | sort -z | xargs -0r awk '
    function complain(reason) {
        printf "%s:%d: %s\n", FILENAME, FNR, reason
        bad = 1
    }
    # The line without comments; a block comment may go on over lines.
    function code(line,  at, end, kept) {
        kept = ""
        while (line != "") {
            if (in_comment) {
                end = index(line, "*/")
                if (end == 0) return kept
                line = substr(line, end + 2)
                in_comment = 0
                continue
            }
            at = match(line, /\/[\/*]/)
            if (at == 0) return kept line
            kept = kept substr(line, 1, at - 1)
            if (substr(line, at + 1, 1) == "/") return kept
            line = substr(line, at + 2)
            in_comment = 1
        }
        return kept
    }
    BEGIN {
        before = "(^|[^a-z0-9_.])"
        after = "(u|ul|ull)?([^a-z0-9_.]|$)"
        narrow = before "(unsigned|unsigned int|int|(std::)?u?int32_t) +"
    }
    FNR == 1 { in_comment = 0 }
    {
        line = tolower(code($0))
        if (line ~ /(lane|warp|wave)/ && line ~ (before "32" after))
            complain("32 beside a lane or warp: ask the device for its width")
        else if (line ~ ("[^&]& *(31|0x1f)" after) || line ~ (">> *5" after) || line ~ ("[%] *32" after))
            complain("arithmetic of a warp of 32: ask the device for its width")
        if (line ~ (before "0xffffffff" after))
            complain("a mask of 32 lanes")
        else if (line ~ (narrow "[a-z_]*mask[a-z0-9_]*([^a-z0-9_(]|$)"))
            complain("a lane mask of 32 bits")
        else if (line ~ (narrow "[a-z0-9_]+ *[={(].*__(ballot|activemask|match)"))
            complain("lanes kept in 32 bits")
        if (line ~ /(^|[^a-z0-9_])(__)?asm(__)?([^a-z0-9_]|$)/)
            complain("PTX: write it for every GPU, or put the file into a vendor folder")
        if (line ~ /^[ \t]*#[ \t]*include[ \t]*[<"](cuda|hip\/|hip_|cooperative_groups|mma\.h)/ && FILENAME != "backends/gpu/runtime.h")
            complain("a maker'\''s header: include \"gpu/runtime.h\"")
    }
    END { exit bad }'
