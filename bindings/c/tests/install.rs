//! What is installed is found by pkg-config and CMake, and is enough to compile with.

#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

mod support;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};
use support::{build::library, wishes::is_left_out};

/// Installs to a folder of the test's own.
fn installed(name: &str) -> PathBuf {
    let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&prefix);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("install.sh");
    done(Command::new("sh").arg(script).arg("--prefix").arg(&prefix).arg("--library").arg(library()));
    prefix
}

#[test]
fn pkg_config_says_how_to_compile() {
    if is_left_out("pkg-config") {
        return;
    }
    let prefix = installed("by-pkg-config");
    let mut asked = Command::new("pkg-config");
    asked.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let flags = done(asked.args(["--cflags", "--libs", "iolite_conn"]));
    let program = prefix.join("version");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/abi.c");
    let mut compiler = Command::new("cc");
    done(compiler.arg(source).args(flags.split_whitespace()).arg("-o").arg(&program));
    done(Command::new(program).env("LD_LIBRARY_PATH", prefix.join("lib")));
}

#[test]
fn cmake_finds_the_package() {
    if is_left_out("cmake") {
        return;
    }
    let prefix = installed("by-cmake");
    let project = prefix.join("project");
    std::fs::create_dir_all(&project).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/abi.c");
    let lists = format!(
        "cmake_minimum_required(VERSION 3.13)\nproject(example C)\nfind_package(iolite_conn 1 REQUIRED)\n\
         add_executable(version {})\ntarget_link_libraries(version iolite_conn::iolite_conn)\n",
        source.display()
    );
    std::fs::write(project.join("CMakeLists.txt"), lists).unwrap();
    let build = project.join("build");
    let path = format!("-DCMAKE_PREFIX_PATH={}", prefix.display());
    done(Command::new("cmake").arg("-S").arg(&project).arg("-B").arg(&build).arg(path));
    done(Command::new("cmake").arg("--build").arg(&build));
    done(&mut Command::new(build.join("version")));
}

/// Runs a command, which must end well, and returns what it printed.
fn done(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}
