//! The C++ facade compiles in both ways, and its examples do what they say and leave no memory behind.

mod support;

use support::{build::Tools, echo::Echo};

#[test]
fn get_works_without_exceptions_and_type_information() {
    let Some(tools) = Tools::find() else { return };
    tools.cpp("../cpp/examples/get.cpp", "get-cpp", &["-fno-exceptions", "-fno-rtti"]);
    let echo = Echo::start();
    let url = format!("http://{}/bytes/5", echo.stream);
    let said = tools.run("get-cpp", &[&url]);
    assert!(said.starts_with("status 200 from 127.0.0.1:") && said.contains("\nxxxxx\n"), "{said}");
    assert!(said.ends_with("40000 bytes came back\nhello with status 200\n"), "{said}");
    tools.run_checked("get-cpp", &[&url]);
    // With spans, too.
    tools.cpp("../cpp/examples/get.cpp", "get-cpp20", &["-std=c++20", "-fno-exceptions"]);
    assert!(tools.run("get-cpp20", &[&url]).ends_with("hello with status 200\n"));
}

#[test]
fn ws_echo_works_with_exceptions_and_is_cancelled_from_another_thread() {
    let Some(tools) = Tools::find() else { return };
    tools.cpp("../cpp/examples/ws_echo.cpp", "ws_echo-cpp", &["-pthread"]);
    let echo = Echo::start();
    let url = format!("ws://{}/", echo.stream);
    let said = tools.run("ws_echo-cpp", &[&url]);
    assert!(said.starts_with("one\ntwo\nthree\ncancelled\nclosed with 1000\n"), "{said}");
    assert!(said.contains("the handle is closed"), "{said}");
    tools.run_checked("ws_echo-cpp", &[&url]);
}
