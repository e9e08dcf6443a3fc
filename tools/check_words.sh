#!/usr/bin/env bash
# check_words.sh: no tracked text holds a path of somebody's machine, or a word that marks unfinished work.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

unfinished='\b(TODO|FIXME|HACK|[Pp]laceholder|[Ss]tub(bed|s)?)\b'
machine_path='(^|[^[:alnum:]_.}/*)-])/(root|work|home/[a-z]{3,}|Users/[a-z]{3,})/'
# This script, and a text that is not ours.
elsewhere=(':!tools/check_words.sh' ':!LICENSE')
if git grep -nIE "$unfinished|$machine_path" -- . "${elsewhere[@]}"; then
    echo "these lines hold an absolute path of a machine, or a word for unfinished work"
    exit 1
fi
