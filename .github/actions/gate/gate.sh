#!/usr/bin/env bash
# Judge judgments, and tell the verdict where a job of GitHub looks for it: the log, the summary of
# the job, its outputs, a JUnit file. Inputs come as variables, so that no text of them is run.
set -uo pipefail

asked=("$GATE_PATH")
while IFS= read -r rule; do
  [[ -z "${rule//[[:space:]]/}" ]] || asked+=(--require "$rule")
done <<<"${GATE_REQUIRE:-}"
[[ -z "${GATE_RULES:-}" ]] || asked+=(--rules "$GATE_RULES")
[[ -z "${GATE_LEDGER:-}" ]] || asked+=(--ledger "$GATE_LEDGER")

gate() { "${PYTHON:-python}" -m judgerel_ray gate "${asked[@]}" --format "$1"; }

said=$(gate markdown)
code=$?
case $code in
  0) verdict=PASS ;;
  4) verdict=FAIL ;;
  5) verdict=INCONCLUSIVE ;;
  *) exit "$code" ;; # the line that says what is wrong is in the log already
esac

printf '%s\n' "$said" | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
printf 'verdict=%s\n' "$verdict" >>"${GITHUB_OUTPUT:-/dev/null}"
# The same judgments are the same look: a second format spends nothing of a ledger.
[[ -z "${GATE_JUNIT:-}" ]] || gate junit >"$GATE_JUNIT"
[[ $code == 5 && "${GATE_INCONCLUSIVE:-fail}" == pass ]] && exit 0
exit "$code"
