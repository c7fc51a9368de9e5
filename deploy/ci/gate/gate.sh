#!/usr/bin/env bash
# Asks whether MODEL may go to TARGET, writes the job's summary, and ends as the answer asks for.
# Anything but a clear yes ends the job: a service that is away, too.
set -uo pipefail

if [ -n "${INSTALL:-}" ]; then
    # An environment of its own: what the job's own Python holds stays as it is.
    environment=$(mktemp -d)
    python3 -m venv "$environment" && "$environment/bin/pip" install --quiet "$INSTALL" || exit 1
    PATH="$environment/bin:$PATH"
fi

if [ -n "${GATE:-}" ]; then
    shipworthy gate evaluate "$MODEL" --gate "$GATE" --to "$TARGET" >/dev/null
    evaluated=$?
    case $evaluated in
        0 | 1 | 3 | 4) ;; # a decision, whatever it is
        *)
            echo "verdict=$([ $evaluated = 5 ] && echo unreachable || echo refused)" >>"${GITHUB_OUTPUT:-/dev/null}"
            exit $evaluated
            ;;
    esac
fi

summary=$(shipworthy check "$MODEL" --to "$TARGET" --summary md)
code=$?
printf '%s\n' "$summary" | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
case $code in
    0) verdict=ship ;;
    1) verdict=blocked ;;
    3) verdict=review ;;
    4) verdict=missing ;;
    5) verdict=unreachable ;;
    *) verdict=refused ;;
esac
echo "verdict=$verdict" >>"${GITHUB_OUTPUT:-/dev/null}"
exit $code
