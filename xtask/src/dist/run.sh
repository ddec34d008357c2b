#!/usr/bin/env bash
# Runs what `cargo xtask dist` gathered, on a machine with an NVIDIA GPU and no Rust. `./run.sh help` says how.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
results="${RESULTS:-$here/results}"

usage() {
    cat <<'END'
./run.sh                         devices, conformance, tests and bench, one after the other
./run.sh devices                 what dtwave finds on this machine
./run.sh conformance [OPTIONS]   the suite on --backend cuda; --dtype f32, --section NAME, --cases FILE.json
./run.sh tests [FILTER]          the tests that need the device
./run.sh bench [OPTIONS]         the benchmark command; `./run.sh bench --help`
./run.sh dtwave [ARGUMENTS]      the dtwave command
Output is kept in results/ (or in the folder RESULTS names). The exit status is not 0 if anything failed.
END
}

failed=()
# step NAME COMMAND...: runs the command, keeps what it prints, remembers whether it failed.
step() {
    local name=$1
    shift
    mkdir -p "$results"
    echo
    echo "=== $name"
    local began=$SECONDS
    "$@" 2>&1 | tee "$results/$name.txt"
    local status=${PIPESTATUS[0]}
    echo "=== $name: $((SECONDS - began)) s, exit $status"
    if [[ $status -ne 0 ]]; then
        failed+=("$name")
    fi
}

conformance() { step conformance "$here/bin/conformance" --backend cuda "$@"; }
tests() {
    local test found=0
    for test in "$here"/tests/*; do
        if [[ -f $test && -x $test && $test != *.zst ]]; then
            found=1
            step "$(basename "$test")" "$test" "$@"
        fi
    done
    if [[ $found -eq 0 ]]; then
        echo "no tests in $here/tests" >&2
        failed+=(tests)
    fi
}
# The program was compiled elsewhere: its definitions are here.
bench() { step bench env DTWAVE_BENCHMARKS="$here/benchmarks" "$here/bin/dtw-bench" "$@"; }

command="${1:-all}"
shift || true
case "$command" in
help | -h | --help) usage ;;
all)
    step devices "$here/bin/dtwave" devices
    conformance
    tests
    bench
    ;;
devices) step devices "$here/bin/dtwave" devices ;;
conformance) conformance "$@" ;;
tests) tests "$@" ;;
bench) bench "$@" ;;
dtwave) exec "$here/bin/dtwave" "$@" ;;
*)
    usage >&2
    exit 2
    ;;
esac
if [[ ${#failed[@]} -gt 0 ]]; then
    echo
    echo "failed: ${failed[*]}"
    exit 1
fi
