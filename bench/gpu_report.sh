#!/usr/bin/env bash
# Everything worth knowing from a machine with a GPU, in one call of under 10 minutes, without a
# network: environment, the GPU tests, the benchmark report, the sweep of schedule parameters, what
# calls cost the host, and with NVIDIA's tools memory checks and the traffic of each kernel.
# Run from anywhere:
#
#   bench/gpu_report.sh [OUT_DIR] [options of bench.gpu_report, e.g. --dry-run or --case NAME]
#
# Files in OUT_DIR (default: bench/results/<time>): environment.json, pytest.log, pytest.xml,
# report.json, report.txt, report.log, sweep.json, sweep.txt, sweep.log, host_cost.json,
# host_cost.log; where the tools are there, memcheck.log, racecheck.log, traffic.csv, traffic.json,
# traffic.txt, traffic.log. PYTHON names the interpreter (default: python3). Each part is a process of its own
# with a limit in seconds (TEST_SECONDS and so on, below); all of them together have TOTAL_SECONDS,
# of which what one part leaves over is for the others.
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
report_seconds=${REPORT_SECONDS:-200}
sweep_seconds=${SWEEP_SECONDS:-110}
host_seconds=${HOST_SECONDS:-30}
check_seconds=${CHECK_SECONDS:-45}
traffic_seconds=${TRAFFIC_SECONDS:-40}
dry=""
for option in "$@"; do [[ $option == --dry-run ]] && dry=--dry-run; done
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONUNBUFFERED=1 XLA_PYTHON_CLIENT_PREALLOCATE=false
rm -f "$out"/{environment,report,sweep,host_cost,traffic}.json "$out"/{report,sweep,traffic}.txt \
    "$out"/{pytest,report,sweep,host_cost,memcheck,racecheck,traffic}.log \
    "$out"/{report,sweep}.running "$out"/pytest.xml "$out"/traffic.csv

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
# resumed NAME SECONDS MODULE [OPTIONS]: a report that goes on in a new process where a kernel took
# the device (status 3), or the process ended amid a unit, which NAME.running then names.
resumed() {
    local name=$1 module=$3 began=$SECONDS seconds left resume="" status=124 lost=0
    seconds=$(allowed "$2")
    for _ in 1 2 3 4; do
        left=$((seconds - (SECONDS - began)))
        ((left > 20)) || break
        # shellcheck disable=SC2086
        timeout -k 5 "$left" "$python" -m "$module" "$out" --seconds $((left - 15)) \
            $resume "${@:4}" >>"$out/$name.log" 2>&1
        status=$?
        resume=--resume
        [[ $status -eq 3 || -f $out/$name.running ]] || break
        lost=3
    done
    if [[ -f $out/$name.txt ]]; then cat "$out/$name.txt"; else tail -n 20 "$out/$name.log"; fi
    note "$name" $status
    if ((lost)); then note "$name: a kernel took the device" $lost; fi
}

timeout -k 5 60 "$python" -m bench.environment "$out/environment.json" $dry
note environment $?

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

resumed report "$report_seconds" bench.gpu_report "$@"
resumed sweep "$sweep_seconds" bench.sweep $dry

within "$host_seconds" "$out/host_cost.log" "$python" -m bench.host_cost \
    --json "$out/host_cost.json"
status=$?
cat "$out/host_cost.log"
note "host cost" $status

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
    mkdir -p "$out/racecheck"
    within "$check_seconds" "$out/racecheck.log" "${sanitizer[@]}" --tool racecheck \
        "$python" -m bench.sweep "$out/racecheck" --seconds 30 --quick --question transpose
    tool racecheck $?
    rm -rf "$out/racecheck"
fi
counted=$dry
if [[ -z $dry ]] && command -v ncu >/dev/null; then
    lines="l1tex__t_sectors_pipe_lsu_mem_global_op"
    requests="l1tex__t_requests_pipe_lsu_mem_global_op"
    metrics="dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum"
    metrics+=",${lines}_ld.sum,${lines}_st.sum,${requests}_ld.sum,${requests}_st.sum"
    within "$traffic_seconds" "$out/traffic.log" ncu --csv --page raw --print-units base \
        --clock-control none --kernel-name 'regex:^gb_' --log-file "$out/traffic.csv" \
        --metrics "$metrics" "$python" -m bench.traffic run "$out"
    tool ncu $?
    counted=yes
fi
if [[ -n $counted ]]; then
    within 60 "$out/traffic.log" "$python" -m bench.traffic tell "$out" $dry
    tool traffic $?
    [[ -f $out/traffic.txt ]] && cat "$out/traffic.txt"
fi
echo "gpu_report: results are in $out after $SECONDS s"
exit "$worst"
