#!/usr/bin/env bash
# On a machine with an AMD GPU: builds dtwave, judges the HIP backend and times it. `benchmarks/amd.sh help` says how.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'END'
benchmarks/amd.sh [FOLDER]

Needs Rust, clang 19 and lld 19, AMD's driver and the HIP runtime of ROCm 5, 6 or 7. One after the other:

    devices        what dtwave finds
    kernels        compiles the kernels; of one chip alone with CHIP=gfx942, which takes a sixth of the time
    conformance    the whole suite on --backend hip, in f32 and in f64
    bench          the published search (512 queries of 2,000 points in 100,000), its normalisation, and the other
                   works that benchmarks/amd.md predicts; values are checked before they are timed

What each prints is kept in FOLDER (amd-DATE unless given), timings as a CSV in FOLDER/benchmarks/record/DEVICE.
FOLDER.tar.gz is for sending back. A step that takes longer than LIMIT seconds (7200 unless set) is stopped and counts
as failed: a kernel that waits forever is one of the things to be found out.

The exit status is 3 if there is no AMD GPU to be used, 1 if a step failed, 0 if all went well.
END
}

case "${1:-}" in
help | -h | --help)
    usage
    exit 0
    ;;
esac
out=${1:-amd-$(date +%F)}
if [[ -e $out ]]; then
    echo "$out exists already: give another folder" >&2
    exit 2
fi
if ! command -v cargo >/dev/null; then
    echo "cargo is missing: install Rust, https://rustup.rs" >&2
    exit 2
fi
mkdir -p "$out/benchmarks"
out=$(cd "$out" && pwd)

failed=()
# step NAME COMMAND...: runs the command, keeps what it prints, remembers whether it failed.
step() {
    local name=$1
    shift
    echo
    echo "=== $name"
    local began=$SECONDS
    timeout --kill-after 60 "${LIMIT:-7200}" "$@" 2>&1 | tee "$out/$name.txt"
    local status=${PIPESTATUS[0]}
    echo "=== $name: $((SECONDS - began)) s, exit $status" | tee -a "$out/steps.txt"
    if [[ $status -ne 0 ]]; then
        failed+=("$name")
    fi
    return "$status"
}
# What goes on after this makes no sense.
needed() {
    step "$@" || {
        echo "stopped: $1 failed" >&2
        exit 1
    }
}
dtwave_devices=(cargo run --quiet --release -p dtwave-cli --features hip --bin dtwave -- devices)

{
    git log -1 --format='commit %H %cs'
    git status --short
    uname -srm
    sed -n 's/^model name[^:]*: /CPU /p' /proc/cpuinfo | head -n 1
    cat /opt/rocm/.info/version 2>/dev/null
    rocminfo 2>/dev/null
} >"$out/about.txt"

echo "=== devices, before anything is compiled for them"
if ! "${dtwave_devices[@]}" >"$out/devices.txt"; then
    echo "dtwave cannot be built or run: see above" >&2
    exit 1
fi
cat "$out/devices.txt"
if grep -qE '^hip +no .*no HIP device' "$out/devices.txt"; then
    echo "no AMD GPU that can be used on this machine (the line \"hip\" says why): nothing was run" >&2
    rm -r "$out"
    exit 3
fi
needed kernels cargo xtask kernels hip ${CHIP:+--arch "$CHIP"} --report "$out/registers.csv"
needed devices "${dtwave_devices[@]}"
if ! grep -qE '^hip +yes' "$out/devices.txt"; then
    echo "the AMD GPU cannot be used (the line \"hip\" says why)" >&2
    exit 3
fi
for dtype in f32 f64; do
    step "conformance-$dtype" cargo xtask conformance --backend hip --dtype "$dtype"
done
cp -r benchmarks/definitions "$out/benchmarks/"
step bench env DTWAVE_BENCHMARKS="$out/benchmarks" cargo xtask bench record --backend hip \
    search_512x2000x100000 normalize_1e9 \
    dtw_large_512x2048x127 dtw_large_128x2048x511 dtw_large_64x2048x1023 dtw_large_32x2048x2047 dtw_large_f64 \
    soft_dtw_large dtw_channels_3x512 cutwed_pair_65536 cutwed_pair_1048576
rm -r "$out/benchmarks/definitions"

tar -C "$(dirname "$out")" -czf "$out.tar.gz" "$(basename "$out")"
echo
echo "$out.tar.gz has it all"
if [[ ${#failed[@]} -gt 0 ]]; then
    echo "failed: ${failed[*]}"
    exit 1
fi
