//! The demo tells whether everything is right.

mod command;

use command::{Running, iolite};

#[test]
fn the_demo_succeeds_and_sums_up() {
    let demo = iolite(&["demo", "--quick"]);
    assert_eq!(demo.code, Some(0), "{demo:?}");
    assert!(demo.stdout.contains("all 23 sections are right"), "{demo:?}");
    assert!(!demo.stdout.contains('\u{1b}'), "colours where there is no terminal: {demo:?}");
}

#[test]
fn the_demo_tells_machines_the_same() {
    let demo = iolite(&["demo", "--quick", "--json"]);
    assert_eq!(demo.code, Some(0), "{demo:?}");
    let summary = &demo.json_lines()[0];
    assert_eq!(summary["ok"], true);
    let sections = summary["sections"].as_array().unwrap();
    assert!(sections.len() == 23 && sections.iter().all(|section| section["ok"] == true), "{summary}");
}

#[test]
fn ctrl_c_ends_the_demo_with_the_exit_code_for_it() {
    let demo = Running::start(&["demo"]);
    assert!(demo.line().contains("RakNet ping"));
    assert_eq!(demo.interrupt(), Some(130));
}
