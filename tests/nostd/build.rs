//! Without the standard library nobody else asks for the C library, which brings the start-up code and `printf`.

fn main() {
    println!("cargo:rustc-link-lib=c");
}
