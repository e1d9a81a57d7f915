#!/bin/sh
# Installs library, headers, and what pkg-config and CMake need to find them.
#
#     bindings/c/install.sh [--prefix DIR] [--libdir DIR] [--library FILE]
#
# DESTDIR is put before every path. Without --library, cargo builds the release.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=/usr/local
libdir=
library=
while [ $# -gt 0 ]; do
    case $1 in
        --prefix) prefix=$2 ;;
        --libdir) libdir=$2 ;;
        --library) library=$2 ;;
        *) echo "usage: $0 [--prefix DIR] [--libdir DIR] [--library libiolite_conn.so]" >&2; exit 2 ;;
    esac
    shift 2
done
libdir=${libdir:-$prefix/lib}
includedir=$prefix/include
root=${DESTDIR:-}

if [ -z "$library" ]; then
    cd "$here/../.."
    cargo build --release --lib --package iolite-conn-c
    library=${CARGO_TARGET_DIR:-target}/release/libiolite_conn.so
fi

# The interface's version, which is not the library's: 1.0 for 0x00010000.
abi=$(sed -n 's/^#define IC_ABI_VERSION \([0-9]*\)$/\1/p' "$here/include/iolite_conn.h")
major=$((abi / 65536))
version=$major.$((abi % 65536)).0

mkdir -p "$root$libdir/pkgconfig" "$root$libdir/cmake/iolite_conn" "$root$includedir"
install -m 755 "$library" "$root$libdir/libiolite_conn.so.$version"
ln -sf "libiolite_conn.so.$version" "$root$libdir/libiolite_conn.so.$major"
ln -sf "libiolite_conn.so.$major" "$root$libdir/libiolite_conn.so"
static=${library%.so}.a
if [ -f "$static" ]; then
    install -m 644 "$static" "$root$libdir/"
fi
install -m 644 "$here/include/iolite_conn.h" "$here/../cpp/include/iolite_conn.hpp" "$root$includedir/"
fill() {
    sed -e "s|@PREFIX@|$prefix|" -e "s|@LIBDIR@|$libdir|" -e "s|@INCLUDEDIR@|$includedir|" -e "s|@VERSION@|$version|" "$1"
}
fill "$here/pkg/iolite_conn.pc.in" > "$root$libdir/pkgconfig/iolite_conn.pc"
fill "$here/pkg/iolite_connConfigVersion.cmake.in" > "$root$libdir/cmake/iolite_conn/iolite_connConfigVersion.cmake"
install -m 644 "$here/pkg/iolite_connConfig.cmake" "$root$libdir/cmake/iolite_conn/"
