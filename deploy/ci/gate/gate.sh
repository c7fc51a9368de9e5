#!/usr/bin/env bash
# Asks whether MODEL may go to TARGET, writes the job's summary, and ends as the answer asks for.
# Anything but a clear yes ends the job: a service that is away, too.
set -uo pipefail

finish() { # exit code, Markdown
    case $1 in
        0) verdict=ship ;;
        1) verdict=blocked ;;
        3) verdict=review ;;
        4) verdict=missing ;;
        5) verdict=unreachable ;;
        *) verdict=refused ;;
    esac
    printf '%s\n' "${2:-"### ✗ May not ship: $verdict, nobody could be asked; the job's log says why"}" |
        tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
    echo "verdict=$verdict" >>"${GITHUB_OUTPUT:-/dev/null}"
    exit "$1"
}

if [ -n "${INSTALL:-}" ]; then
    # An environment of its own: what the job's own Python holds stays as it is.
    environment=$(mktemp -d)
    python3 -m venv "$environment" && "$environment/bin/pip" install --quiet "$INSTALL" || finish 70 ""
    PATH="$environment/bin:$PATH"
fi

if [ -n "${GATE:-}" ]; then
    decided=$(shipworthy gate evaluate "$MODEL" --gate "$GATE" --to "$TARGET")
    code=$?
    # Without output there is no decision: a code of 1 is "no such model" then, and an older decision must not count.
    [ -n "$decided" ] || finish $((code == 0 ? 70 : code)) ""
fi

summary=$(shipworthy check "$MODEL" --to "$TARGET" --summary md)
finish $? "$summary"
