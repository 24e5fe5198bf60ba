#!/usr/bin/env bash
# A Ray head on this machine, guarded by its token, and one sweep sent to it as a Ray job:
#
#     cluster/local.sh jobs/demo__tiny-judge__cpu.toml runs/demo
#
# Waits for the sweep, prints how it stands, and stops the head. KEEP=1 leaves the head running, and a
# head that runs already is used and left. Run it again to resume: what has landed is not asked again.
# Cost: this machine alone; 10 to 20 s for Ray to start and its job to be set up.
#
#     JOB      what runs, jobs/sweep.py unless told         PORT, DASHBOARD_PORT   6379, 8265
#     AGENT_PORT   of the agent that starts jobs, any free one unless told
set -euo pipefail

if [[ $# -lt 2 ]]; then
    sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
here="$PWD"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
port="${PORT:-6379}" dashboard="${DASHBOARD_PORT:-8265}" job="${JOB:-jobs/sweep.py}"
sweep="$1" run="$2"
shift 2

# The job runs in a copy of this folder: a sweep inside it travels along, and anything else on this
# machine, the run directory above all, must be named by its whole path.
[[ -e "$sweep" ]] || sweep="$here/$sweep"
[[ "$run" == /* || "$run" == *://* ]] || run="$here/$run"

# The job finds `python` on the head's PATH, so the environment's goes first.
[[ -x .venv/bin/ray ]] && export PATH="$PWD/.venv/bin:$PATH"
command -v ray >/dev/null || { echo "ray is not installed. Try: make setup" >&2; exit 2; }

# One token in ~/.ray/auth_token (RAY_AUTH_TOKEN comes before it) for the head, its workers and its
# clients: without it nobody who reaches the ports can run code here.
export RAY_AUTH_MODE=token RAY_USAGE_STATS_ENABLED=0
# Ray lowers its workers' priority by 15; here they are the work, not its background.
export RAY_worker_niceness="${RAY_worker_niceness:-0}"
# Each command of Ray takes seconds to start, so none is asked what the shell knows.
[[ -n "${RAY_AUTH_TOKEN:-}" || -s ~/.ray/auth_token ]] || ray get-auth-token --generate >/dev/null
address="http://127.0.0.1:$dashboard"

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$dashboard") 2>/dev/null; }
answers() { listens && ray job list --address "$address" >/dev/null 2>&1; }

head=""
# shellcheck disable=SC2329 # the trap below calls it
finish() {
    [[ -n "$head" ]] && kill -0 "$head" 2>/dev/null || return 0
    if [[ "${KEEP:-}" == 1 ]]; then
        echo "The head stays at $address (RAY_AUTH_MODE=token); it ends with: kill $head"
    else
        kill -TERM "$head"
        wait "$head" || true # it was told to end: what counts is how the job did
    fi
}

if ! answers; then
    # --block keeps all of Ray below one process of ours: `ray stop` would end every Ray of this user.
    # Ray's agent, which starts the jobs, would wait on one fixed port that any other Ray here holds.
    agent="${AGENT_PORT:-$(python -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')}"
    mkdir -p runs
    log="runs/ray-head-$port.log"
    # Ray keeps the address of the head started last in its folder, and hands it to jobs. In the folder
    # that all heads share by default, that may be another head, and the job would run there.
    setsid ray start --head --block --port "$port" --dashboard-port "$dashboard" \
        --temp-dir "/tmp/ray-$(id -u)-$port" --dashboard-agent-listen-port "$agent" >"$log" 2>&1 &
    head=$!
    trap finish EXIT
    for ((i = 0; i < 60; i++)); do
        answers && break
        kill -0 "$head" 2>/dev/null || break
        sleep 1
    done
    if ! answers; then
        tail -n 20 "$log" >&2
        echo "Ray did not start on port $port. Try: PORT=6380 DASHBOARD_PORT=8266 $0 ..." >&2
        exit 3
    fi
fi

# The head answers before its agent takes jobs, so a job is offered until it is taken: under one id,
# which Ray takes once.
id="local-$(date +%s)-$$" tries=10
for ((i = 1; ; i++)); do
    said="$(ray job submit --address "$address" --submission-id "$id" --no-wait --working-dir . -- \
        python "$job" "$sweep" "$run" "$@" 2>&1)" && break
    if ((i == tries)) || [[ "$said" != *"No available agent"* ]]; then
        echo "$said" >&2
        exit 3
    fi
    echo "waiting for Ray's agent to take jobs ($i of $tries)" >&2
    sleep 3
done

# Both end with 1 when the job failed. Ray says in words how it ended, and the caller wants
# judgerel's own exit code.
ray job logs --address "$address" --follow "$id" || true
said="$(ray job status --address "$address" "$id" 2>&1)" || true
status=3
[[ "$said" == *"'$id' succeeded"* ]] && status=0
[[ "$said" =~ exit\ code\ ([0-9]+) ]] && status="${BASH_REMATCH[1]}"

[[ "$run" == *://* || -d "$run" ]] && judgerel status "$run"
exit "$status"
