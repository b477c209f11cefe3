#!/usr/bin/env bash
# Everything worth knowing from a machine with a GPU, in one call of under 10 minutes, without a
# network: the GPU tests, the benchmark report with all peers and what calls cost the host, and with
# NVIDIA's tools memory checks. Run from anywhere:
#
#   bench/gpu_report.sh [OUT_DIR] [--dry-run] [options of gpubcast bench, e.g. --cases NAME,NAME]
#
# Files in OUT_DIR (default: bench/results/<time>): pytest.log, pytest.xml, report.json, report.txt,
# report.log, calls.json, calls.txt, calls.log; where the tool is there, memcheck.log. --dry-run goes
# the same way on the CPU at small sizes. PYTHON names the interpreter (default: python3), which
# needs NumPy, numba, ml_dtypes, rich, pytest and CuPy. Each part is a process of its own with a
# limit in seconds (TEST_SECONDS and so on, below); all of them together have TOTAL_SECONDS, of which
# what one part leaves over is for the others.
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
total_seconds=${TOTAL_SECONDS:-585}
test_seconds=${TEST_SECONDS:-170}
report_seconds=${REPORT_SECONDS:-290}
calls_seconds=${CALLS_SECONDS:-40}
check_seconds=${CHECK_SECONDS:-60}
dry="" options=() words=()
for option in "$@"; do
    if [[ $option == --dry-run ]]; then dry=1; else options+=("$option"); fi
done
if [[ -n $dry ]]; then
    words=(--device cpu --sizes "small,cache" --peers NumPy --samples 3 --dtype f32)
else
    words=(--device cuda --full --peers "CuPy,cupy.fuse,PyTorch,jax.jit")
fi
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONUNBUFFERED=1 XLA_PYTHON_CLIENT_PREALLOCATE=false
rm -f "$out"/{report,calls}.{json,json.running,txt,log} "$out"/{pytest,memcheck}.log \
    "$out"/pytest.xml

worst=0
note() {
    echo "gpu_report: $1: exit status $2"
    if (($2 > worst)); then worst=$2; fi
}
# The seconds that a part may take: its own, or what is left of all.
allowed() {
    local left=$((total_seconds - SECONDS))
    echo $(($1 < left ? $1 : left))
}
# within SECONDS LOG COMMAND...: its exit status; 124 where its time, or that of all, was over.
within() {
    local seconds log=$2
    seconds=$(allowed "$1")
    ((seconds > 5)) || return 124
    timeout -k 5 "$seconds" "${@:3}" >>"$log" 2>&1
}
# The report goes on in a new process where a kernel took the device (status 3), or the process
# ended amid a unit, which report.json.running then names.
report() {
    local began=$SECONDS seconds left resume=() status=124 lost=0
    seconds=$(allowed "$report_seconds")
    for _ in 1 2 3 4; do
        left=$((seconds - (SECONDS - began)))
        ((left > 20)) || break
        timeout -k 5 "$left" "$python" -m bench "${words[@]}" --json "$out/report.json" --hang 75 \
            --seconds $((left - 15)) "${resume[@]}" "${options[@]}" >/dev/null 2>>"$out/report.log"
        status=$?
        resume=(--resume)
        [[ $status -eq 3 || -f $out/report.json.running ]] || break
        lost=3
    done
    [[ -n $dry ]] && echo "DRY RUN: no figure here says anything about a GPU." >"$out/report.txt"
    "$python" -m bench --no-color --from "$out/report.json" >>"$out/report.txt" 2>>"$out/report.log"
    cat "$out/report.txt"
    ((status)) && tail -n 20 "$out/report.log"
    note report $status
    if ((lost)); then note "report: a kernel took the device" $lost; fi
}

# The project's pytest settings pin versions and turn warnings into errors; a foreign machine has
# what it has, so only what the tests need is said here. A dry run collects the tests.
pytest=(-m pytest -c /dev/null --rootdir "$root" --import-mode=importlib -p no:cacheprovider
    -ra -m gpu -o faulthandler_timeout=120 tests/gpu)
more=(--durations=10 --junitxml "$out/pytest.xml")
if [[ -n $dry ]]; then
    more+=(--collect-only -q)
elif "$python" -c "import xdist" 2>/dev/null; then
    more+=(-n 4)
fi
within "$test_seconds" "$out/pytest.log" "$python" "${pytest[@]}" "${more[@]}"
status=$?
tail -n 3 "$out/pytest.log"
note "GPU tests" $status

report

within "$calls_seconds" "$out/calls.log" "$python" -m bench --targets bench/targets.json \
    --cases calls "${words[@]:0:2}" --json "$out/calls.json"
status=$?
"$python" -m bench --no-color --from "$out/calls.json" --targets bench/targets.json \
    >"$out/calls.txt" 2>>"$out/calls.log"
cat "$out/calls.txt"
((status == 1)) || note "what calls cost" $status # 1: a target is missed, which calls.txt says

# What a tool finds is in its log and counts; that its time was over does not.
tool() {
    local status=$2
    ((status == 124 || status == 137)) && echo "gpu_report: $1: its time was over" && return
    note "$1" "$status"
}
if [[ -z $dry ]] && command -v compute-sanitizer >/dev/null; then
    sanitizer=(compute-sanitizer --error-exitcode 9 --target-processes all)
    # Without CuPy's pool, which hides where one allocation ends.
    unpooled="import cupy, pytest, sys; cupy.cuda.set_allocator(None); \
sys.exit(pytest.main(sys.argv[1:]))"
    within "$check_seconds" "$out/memcheck.log" "${sanitizer[@]}" --tool memcheck \
        "$python" -c "$unpooled" "${pytest[@]:2}" -x -q -k "family or unaligned or padding or alone"
    tool memcheck $?
fi
echo "gpu_report: results are in $out after $SECONDS s"
exit "$worst"
