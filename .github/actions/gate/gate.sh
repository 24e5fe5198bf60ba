#!/usr/bin/env bash
# Judge judgments, and tell the verdict where a job of GitHub looks for it: the log, the summary of
# the job, its outputs, a JUnit file. Inputs come as variables, so that no text of them is run.
set -uo pipefail

case ${GATE_INCONCLUSIVE:-fail} in
  fail | pass) ;;
  *)
    printf 'inconclusive must be fail or pass, got %q\n' "$GATE_INCONCLUSIVE" >&2
    exit 2
    ;;
esac
# Before any look is spent: a report that cannot be written is no verdict.
[[ -z "${GATE_JUNIT:-}" ]] || : >"$GATE_JUNIT" || exit 2

asked=()
while IFS= read -r rule; do
  [[ -z "${rule//[[:space:]]/}" ]] || asked+=("--require=$rule")
done <<<"${GATE_REQUIRE:-}"
[[ -z "${GATE_RULES:-}" ]] || asked+=("--rules=$GATE_RULES")
[[ -z "${GATE_LEDGER:-}" ]] || asked+=("--ledger=$GATE_LEDGER")

# A path that begins with a dash is a path, and no option that leaves with 0.
gate() { "${PYTHON:-python}" -m judgerel_ray gate --format "$1" "${asked[@]}" -- "$GATE_PATH"; }

# Judgments may hold "##[", which a runner obeys wherever it stands in a line.
errors=$(mktemp)
said=$(gate markdown 2>"$errors")
code=$?
sed 's/##\[/#\\[/g' "$errors" >&2
rm -f "$errors"
case $code in
  0) verdict=PASS ;;
  4) verdict=FAIL ;;
  5) verdict=INCONCLUSIVE ;;
  *) exit "$code" ;; # the line that says what is wrong is in the log already
esac

printf '%s\n' "$said" | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
printf 'verdict=%s\n' "$verdict" >>"${GITHUB_OUTPUT:-/dev/null}"
# The same judgments are the same look: a second format spends nothing of a ledger.
[[ -z "${GATE_JUNIT:-}" ]] || gate junit >"$GATE_JUNIT" 2>/dev/null
[[ $code == 5 && "${GATE_INCONCLUSIVE:-fail}" == pass ]] && exit 0
exit "$code"
