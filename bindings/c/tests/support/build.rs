//! Compiles and runs programs in C and C++ against the library.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

use super::wishes::is_left_out;

/// Compilers, the library, and a place for what they make.
pub(crate) struct Tools {
    place: PathBuf,
}

impl Tools {
    /// Finds them; `None` where the compilers are left out.
    pub(crate) fn find() -> Option<Self> {
        if is_left_out("cc") || is_left_out("c++") {
            return None;
        }
        Some(Self { place: PLACE.get_or_init(prepared).clone() })
    }

    /// Writes a file, and returns its path.
    pub(crate) fn file(&self, name: &str, content: &str) -> String {
        let path = self.place.join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().into()
    }

    /// Compiles a C program.
    pub(crate) fn c(&self, source: &str, name: &str, flags: &[&str]) {
        self.compile("cc", "-std=c11", source, name, flags);
    }

    /// Compiles a C++ program.
    pub(crate) fn cpp(&self, source: &str, name: &str, flags: &[&str]) {
        self.compile("c++", "-std=c++17", source, name, flags);
    }

    /// Runs a program, and returns what it printed; it must end well.
    pub(crate) fn run(&self, name: &str, arguments: &[&str]) -> String {
        self.finish(name, Command::new(self.place.join(name)).args(arguments))
    }

    /// Runs a program under valgrind: no error, no leak.
    pub(crate) fn run_checked(&self, name: &str, arguments: &[&str]) {
        if is_left_out("valgrind") {
            return;
        }
        let flags = ["--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite", "-q"];
        let mut valgrind = Command::new("valgrind");
        valgrind.args(flags).arg(self.place.join(name)).args(arguments);
        let done = valgrind.env("LD_LIBRARY_PATH", &self.place).output().unwrap();
        if said(&done).contains("WARNING: unhandled amd64-linux syscall") {
            // Debian's valgrind is older than epoll_pwait2(2), which a driver with several links waits with.
            eprintln!("SKIPPED: this valgrind does not know a system call of {name}, which is not watched");
            return;
        }
        assert!(done.status.success(), "{name} ended with {}: {}", done.status, said(&done));
    }

    fn finish(&self, name: &str, command: &mut Command) -> String {
        let done = command.env("LD_LIBRARY_PATH", &self.place).output().unwrap();
        assert!(done.status.success(), "{name} ended with {}: {}", done.status, said(&done));
        String::from_utf8(done.stdout).unwrap()
    }

    fn compile(&self, compiler: &str, standard: &str, source: &str, name: &str, flags: &[&str]) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let strict = ["-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-g"];
        let mut command = Command::new(compiler);
        command
            .arg(standard)
            .args(strict)
            .args(flags)
            .arg("-I")
            .arg(root.join("include"))
            .arg("-I")
            .arg(root.join("../cpp/include"))
            .arg(root.join(source))
            .arg("-L")
            .arg(&self.place)
            .args(["-liolite_conn", "-o"])
            .arg(self.place.join(name));
        let done = command.output().unwrap();
        assert!(done.status.success() && done.stderr.is_empty(), "{source}: {}", said(&done));
    }
}

/// Where this test's programs and links to the library are.
static PLACE: OnceLock<PathBuf> = OnceLock::new();

fn prepared() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test.file_stem().unwrap());
    std::fs::create_dir_all(&place).unwrap();
    for name in ["libiolite_conn.so", "libiolite_conn.so.1"] {
        let link = place.join(name);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(library(), link).unwrap();
    }
    place
}

/// Returns the shared library that was built for this test.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let beside = test.parent().unwrap();
    let places = [beside.join("libiolite_conn.so"), beside.join("../libiolite_conn.so")];
    places.into_iter().find(|place| place.exists()).expect("the shared library is built with the tests")
}

/// Runs a tool, and returns what it printed; `None` where it is left out.
pub(crate) fn tool(name: &str, arguments: &[&OsStr]) -> Option<String> {
    if is_left_out(name) {
        return None;
    }
    let done = Command::new(name).args(arguments).output().unwrap();
    assert!(done.status.success(), "{name}: {}", said(&done));
    Some(String::from_utf8(done.stdout).unwrap())
}

fn said(done: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
}
