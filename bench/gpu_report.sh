#!/usr/bin/env bash
# Everything worth knowing from a machine with a GPU, in one call of under 10 minutes, without a
# network, the most important first. Run from anywhere:
#
#   bench/gpu_report.sh [OUT_DIR] [--dry-run] [options of gpubcast bench, e.g. --cases NAME,NAME]
#
# The parts, in this order, with the seconds that are planned for each (DEVICE_SECONDS and so on; all
# of them together have TOTAL_SECONDS). A part is a process of its own; what one leaves over is for
# those behind it, and none takes what is planned for another:
#
#   device       the device works, and what copies reach
#   hardware     tests of what a GPU alone has: streams, graphs, several GPUs, 64-bit offsets
#   tests        the GPU tests, split over processes; pytest-xdist is not needed
#   cases        every case, type and size of the benchmark
#   predictions  what was expected, beside it
#   peers        the cases beside CuPy, cupy.fuse, PyTorch, torch.compile, JAX and CUB
#   calls        what calls cost the host
#   memcheck     memory checks, where NVIDIA's compute-sanitizer is installed
#
# Files in OUT_DIR (default: bench/results/<time>), each written while its part runs, so that a kill
# leaves what was done: report.txt, everything to read; report.log, everything else that was said;
# tests.jsonl, a line for each test that ended, and tests.txt; report.json, peers.json, calls.json.
# --dry-run goes the same way on the CPU at small sizes. PYTHON names the interpreter (default:
# python3), which needs NumPy, numba, ml_dtypes, rich, pytest, CuPy and NVRTC.
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
dry="" options=()
for option in "$@"; do
    if [[ $option == --dry-run ]]; then dry=1; else options+=("$option"); fi
done
if [[ -n $dry ]]; then
    device=cpu check=(--bytes 8000000) tests=(-m "not gpu and not long")
    cases=(--sizes "small,cache" --samples 3 --dtype f32 --peers none)
    peers=(--sizes cache --samples 3 --dtype f32 --peers "NumPy,jax.jit")
    more_peers=(--sizes "small,cache" "${peers[@]:2}")
else
    device=cuda check=() tests=()
    cases=(--full --peers none)
    peers=(--sizes memory --peers "CuPy,cupy.fuse,cub,PyTorch,torch.compile,jax.jit")
    more_peers=(--sizes "cache,memory" "${peers[@]:2}")
fi
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONUNBUFFERED=1 XLA_PYTHON_CLIENT_PREALLOCATE=false
rm -f "$out"/{report,peers,calls}.{json,json.running} "$out"/report.{txt,log} "$out"/tests.{jsonl,txt}
[[ -n $dry ]] && echo "DRY RUN: no figure here says anything about a GPU." >"$out/report.txt"

worst=0 planned=0 allowed=0
say() { echo "$*" | tee -a "$out/report.txt"; }
# part NAME SECONDS FUNCTION: calls the function, which has so many seconds and what is left over,
# and says how it ended.
part() {
    local name=$1 began=$SECONDS status
    planned=$((planned + $2))
    allowed=$((planned < total_seconds ? planned - SECONDS : total_seconds - SECONDS))
    say "== $name: $2 s planned, $allowed s allowed"
    if ((allowed < 3)); then
        status=124
    else
        "$3"
        status=$?
    fi
    say "gpu_report: $name: exit status $status after $((SECONDS - began)) s"
    if ((status > worst)); then worst=$status; fi
}
# within SECONDS COMMAND...: its exit status; 124 where the time was over. What it prints is shown
# and kept, what it says on stderr is kept in the log.
within() {
    timeout -k 2 "$1" "${@:2}" 2>>"$out/report.log" | tee -a "$out/report.txt"
    return "${PIPESTATUS[0]}"
}

check_device() { within $((allowed - 2)) "$python" -m bench.measure.device_check --device $device "${check[@]}"; }

run_tests() {
    within $((allowed - 1)) "$python" -m tests.support.gpu_tests "$out" --part "$1" \
        --seconds $((allowed > 8 ? allowed - 6 : 2)) -- "${tests[@]}"
}
hardware_tests() { run_tests hardware; }
other_tests() { run_tests others; }

# measure FILE SECONDS WORD...: the benchmark goes on in a new process where a kernel took the device
# (status 3), or the process ended amid a unit, which FILE.running then names.
measure() {
    local json="$out/$1" until=$((SECONDS + $2)) left resume=() status=124 lost=0
    [[ -f $json ]] && resume=(--resume)
    for _ in 1 2 3 4; do
        left=$((until - SECONDS))
        ((left > 12)) || break
        timeout -k 2 $((left - 2)) "$python" -m bench --device $device "${@:3}" --json "$json" \
            --hang 60 --seconds $((left - 10)) "${resume[@]}" "${options[@]}" \
            >/dev/null 2>>"$out/report.log"
        status=$?
        resume=(--resume)
        [[ $status -eq 3 || -f $json.running ]] || break
        lost=3
    done
    ((status && status != 124)) && tail -n 20 "$out/report.log"
    if ((lost)); then say "gpu_report: ${1%.json}: a kernel took the device: exit status $lost"; fi
    return $((status > lost ? status : lost))
}
show() { "$python" -m bench --no-color --from "$out/$1" "${@:2}" 2>>"$out/report.log" | tee -a "$out/report.txt"; }

measure_cases() {
    measure report.json "$allowed" "${cases[@]}"
    local status=$?
    show report.json
    return $status
}
predictions() { within "$allowed" "$python" -m bench.predictions "$out/report.json"; }
# The large sizes first; what time is left is for those in the cache.
measure_peers() {
    local until=$((SECONDS + allowed)) status
    measure peers.json "$allowed" "${peers[@]}"
    status=$?
    if ((status <= 1 && until - SECONDS > 25)); then
        measure peers.json $((until - SECONDS)) "${more_peers[@]}" --resume
        status=$?
    fi
    show peers.json
    return $status
}
measure_calls() {
    timeout -k 2 "$((allowed - 5))" "$python" -m bench --targets bench/targets.json --cases calls \
        --device $device --json "$out/calls.json" >/dev/null 2>>"$out/report.log"
    local status=$?
    show calls.json --targets bench/targets.json
    return $((status == 1 ? 0 : status)) # 1: a target is missed, which the table says
}
# What a tool finds is in its log and counts; that its time was over does not.
memcheck() {
    # Without CuPy's pool, which hides where one allocation ends.
    local status unpooled="import cupy, pytest, sys; cupy.cuda.set_allocator(None); \
sys.exit(pytest.main(sys.argv[1:]))"
    timeout -k 2 "$((allowed - 2))" compute-sanitizer --error-exitcode 9 --target-processes all \
        --tool memcheck "$python" -c "$unpooled" -c /dev/null --rootdir "$root" \
        --import-mode=importlib -p no:cacheprovider -m gpu -x -q \
        -k "family or unaligned or padding or alone" tests/gpu >>"$out/report.log" 2>&1
    status=$?
    ((status == 124 || status == 137)) && say "memcheck: its time was over" && return 0
    return $status
}

part device "${DEVICE_SECONDS:-30}" check_device
part hardware "${HARDWARE_SECONDS:-70}" hardware_tests
part tests "${TEST_SECONDS:-130}" other_tests
part cases "${CASES_SECONDS:-130}" measure_cases
part predictions "${PREDICTION_SECONDS:-5}" predictions
part peers "${PEERS_SECONDS:-150}" measure_peers
part calls "${CALLS_SECONDS:-30}" measure_calls
if [[ -z $dry ]] && command -v compute-sanitizer >/dev/null; then
    part memcheck "${CHECK_SECONDS:-40}" memcheck
fi
say "gpu_report: results are in $out after $SECONDS s"
exit "$worst"
