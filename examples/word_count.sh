#!/bin/sh
# A program that knows nothing of Shipworthy, recorded from outside:
#
#   shipworthy exec --job examples/words --data text=LICENSE --artifact counts=out/words.txt \
#       -- sh examples/word_count.sh LICENSE out/words.txt
set -eu
mkdir -p "$(dirname "$2")"
tr -cs '[:alpha:]' '\n' < "$1" | tr '[:upper:]' '[:lower:]' | sort | uniq -c | sort -rn > "$2"
head -n 3 "$2"
