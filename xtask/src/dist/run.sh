#!/usr/bin/env bash
# Runs what `cargo xtask dist` gathered, on a machine with an NVIDIA GPU and no Rust. `./run.sh help` says how.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
results="${RESULTS:-$here/results}"

usage() {
    cat <<'END'
./run.sh                         devices, conformance, tests and bench record, one after the other
./run.sh devices                 what dtwave finds on this machine
./run.sh conformance [OPTIONS]   the suite on --backend cuda; --dtype f32, --section NAME, --cases FILE.json
./run.sh tests [FILTER]          the tests of the CUDA backend, also those marked as needing a GPU; FILTER is part of
                                 a test's name. The archive in tests/, if there is one, is for cargo-nextest, which
                                 runs them all with --run-ignored all
./run.sh bench [OPTIONS]         the benchmark command on --backend cuda: `run [NAMES]`, `record`, `compare`;
                                 records go to benchmarks/record/ of this folder. `compare` needs a record to compare
                                 with: `record` first, or `compare --records OLD.csv [NEW.csv]`
./run.sh memory [N] [LIMIT]      writes the N x N distances (DTW, f32) of N generated series of 128 points to a file in
                                 TMPDIR and removes it, with --memory-limit LIMIT; then says how much device memory
                                 was in use at most, by nvidia-smi. N is 20000 and LIMIT 256MiB unless given; the
                                 file takes 4 N^2 bytes
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
            # Tests that need a GPU are ignored unless asked for: here they are the point.
            step "$(basename "$test")" "$test" --include-ignored "$@"
        fi
    done
    if [[ $found -eq 0 ]]; then
        echo "no tests in $here/tests" >&2
        failed+=(tests)
    fi
}
# The program was compiled elsewhere: its definitions are here, and the commit it was built from.
bench() {
    local command=run
    case "${1:-}" in
    run | record | compare)
        command=$1
        shift
        ;;
    esac
    local backend=(--backend cuda)
    if [[ " $* " == *" --backend"* || " $* " == *" --help "* ]]; then
        backend=()
    fi
    step bench env DTWAVE_BENCHMARKS="$here/benchmarks" DTWAVE_COMMIT="$(cat "$here/commit.txt")" \
        "$here/bin/dtw-bench" "$command" "${backend[@]}" "$@"
}

# Whether dtwave finds a GPU that it can use.
has_gpu() { "$here/bin/dtwave" devices | grep -qE '^cuda +yes'; }
needs_gpu() {
    if ! has_gpu; then
        echo "no usable NVIDIA GPU on this machine (\`./run.sh devices\` says why): $1 cannot be run here" >&2
        exit 3
    fi
}

# Bytes of device memory in use, largest seen, in MiB, until the file named by $1 is gone.
watch_memory() {
    local used most=0
    while [[ -e $1 ]]; do
        used=$(nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits --id=0) || break
        if ((used > most)); then most=$used; fi
        sleep 0.05
    done
    echo "$most" >"$2"
}
memory() {
    local count=${1:-20000} limit=${2:-256MiB} work
    if ! command -v nvidia-smi >/dev/null; then
        echo "nvidia-smi is missing: it comes with NVIDIA's driver, and says how much device memory is in use" >&2
        exit 3
    fi
    work=$(mktemp -d "${TMPDIR:-/tmp}/dtwave.XXXXXX")
    awk -v n="$count" 'BEGIN { srand(7); for (i = 0; i < n; i++) { line = "0"; for (k = 0; k < 128; k++)
        line = line "\t" sprintf("%.4f", 2 * rand() - 1); print line } }' >"$work/series.tsv"
    local before
    before=$(nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits --id=0)
    touch "$work/running"
    watch_memory "$work/running" "$work/most" &
    step memory "$here/bin/dtwave" pairwise "$work/series.tsv" -o "$work/distances.npy" --measure dtw --dtype f32 \
        --backend cuda --memory-limit "$limit"
    rm "$work/running"
    wait
    echo "=== memory: $count x $count, limit $limit: $(stat -c %s "$work/distances.npy") bytes written;" \
        "device memory before $before MiB, at most $(cat "$work/most") MiB"
    rm -r "$work"
}

command="${1:-all}"
shift || true
case "$command" in
help | -h | --help) usage ;;
all)
    step devices "$here/bin/dtwave" devices
    if has_gpu; then
        conformance
        tests
        bench record
    else
        echo
        echo "no usable NVIDIA GPU on this machine (see above). Not run, because they need one: conformance and bench on"
        echo "--backend cuda, the tests of the device. Run instead, to show that the programs work: the CPU's."
        step conformance-cpu "$here/bin/conformance" --backend cpu --dtype f32 --section golden
        bench run --backend cpu dtw_200x96 dtw_paths
        failed+=("everything that needs a GPU")
    fi
    ;;
devices) step devices "$here/bin/dtwave" devices ;;
conformance)
    needs_gpu "conformance on --backend cuda"
    conformance "$@"
    ;;
tests)
    needs_gpu "the tests of the device"
    tests "$@"
    ;;
bench) bench "$@" ;;
memory)
    needs_gpu "the memory test"
    memory "$@"
    ;;
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
