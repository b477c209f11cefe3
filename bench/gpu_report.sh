#!/usr/bin/env bash
# Everything worth knowing from a machine with a GPU, in one call of under 10 minutes, without a
# network: environment, the GPU tests, and the benchmark report. Run from anywhere:
#
#   bench/gpu_report.sh [OUT_DIR] [options of bench.gpu_report, e.g. --dry-run or --case NAME]
#
# Files in OUT_DIR (default: bench/results/<time>): environment.json, pytest.log, pytest.xml,
# report.json, report.txt, report.log. PYTHON names the interpreter (default: python3).
# Limits in seconds: 60 + TEST_SECONDS (210) + REPORT_SECONDS (260), and 60 to spare.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out="$root/bench/results/$(date -u +%Y%m%dT%H%M%SZ)"
if [[ $# -gt 0 && $1 != -* ]]; then
    out=$1
    shift
fi
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 2
cd "$root" || exit 2

python=${PYTHON:-python3}
test_seconds=${TEST_SECONDS:-210}
report_seconds=${REPORT_SECONDS:-260}
dry=""
for option in "$@"; do [[ $option == --dry-run ]] && dry=--dry-run; done
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONUNBUFFERED=1 XLA_PYTHON_CLIENT_PREALLOCATE=false
rm -f "$out"/{environment.json,pytest.log,pytest.xml,report.json,report.txt,report.log}
worst=0
note() {
    echo "gpu_report: $1: exit status $2"
    if (($2 > worst)); then worst=$2; fi
}

timeout -k 5 60 "$python" -m bench.environment "$out/environment.json" $dry
note environment $?

# The project's pytest settings pin versions and turn warnings into errors; a foreign machine has
# what it has, so only what the tests need is said here. A dry run collects the tests.
pytest=(-m pytest -c /dev/null --rootdir "$root" --import-mode=importlib -p no:cacheprovider
    -ra --durations=10 -m gpu -o faulthandler_timeout=120 --junitxml "$out/pytest.xml" tests/gpu)
if [[ -n $dry ]]; then
    pytest+=(--collect-only -q)
elif "$python" -c "import xdist" 2>/dev/null; then
    pytest+=(-n 4)
fi
timeout -k 5 "$test_seconds" "$python" "${pytest[@]}" >"$out/pytest.log" 2>&1
status=$?
tail -n 3 "$out/pytest.log"
note "GPU tests" $status

# Status 3: a kernel took the device with it. A new process goes on with the next case.
started=$SECONDS
resume=""
status=124
lost=0
for _ in 1 2 3; do
    left=$((report_seconds - (SECONDS - started)))
    ((left > 20)) || break
    # shellcheck disable=SC2086
    timeout -k 5 "$left" "$python" -m bench.gpu_report "$out" --seconds $((left - 15)) \
        $resume "$@" >>"$out/report.log" 2>&1
    status=$?
    resume=--resume
    [[ $status -eq 3 ]] || break
    lost=3
done
[[ -f $out/report.txt ]] && cat "$out/report.txt" || tail -n 20 "$out/report.log"
note report $status
((lost)) && note "a kernel took the device" $lost
echo "gpu_report: results are in $out"
exit "$worst"
