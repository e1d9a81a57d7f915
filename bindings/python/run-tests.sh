#!/bin/sh
# Installs the package into an environment of its own, and runs its tests there against an echo peer.
#
#     bindings/python/run-tests.sh [arguments of pytest]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cd "$root"
cargo build --release --lib --package iolite-conn-c
cargo build --release --example iolite-conn-echo --package iolite-conn-c
target=$(cargo metadata --format-version=1 --no-deps | python3 -c 'import json,sys; print(json.load(sys.stdin)["target_directory"])')
export IOLITE_CONN_LIBRARY="$target/release/libiolite_conn.so"
export IOLITE_CONN_ECHO="$target/release/examples/iolite-conn-echo"

python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check "$here[test]"
# From elsewhere, so that what was installed is what is tested.
cp -r "$here/tests" "$scratch/tests"
cd "$scratch"
"$scratch/venv/bin/python" -X dev -m pytest -q -p no:cacheprovider tests "$@"
