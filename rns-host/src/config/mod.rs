//! The reference's config file: its syntax, its settings, and what is wrong with it.
//!
//! [`read_config`] never fails: whatever is good is used, whatever is not is told with its line, and one bad interface
//! never keeps the others from starting.
//!
//! ```
//! use rns_host::config::{SystemNetwork, read_config};
//!
//! let text = "[interfaces]\n[[Home]]\ntype = TCPClientInterface\nenabled = yes\ntarget_host = 127.0.0.1\n";
//! let (config, mistakes) = read_config(text, &SystemNetwork);
//! assert!(config.interfaces.is_empty());
//! assert_eq!(
//!     mistakes[0].to_string(),
//!     "line 2: [interfaces > Home] target_port: missing; it says where to connect; add a line target_port = .."
//! );
//! ```

mod default_text;
mod diagnostic;
mod interface;
mod medium;
mod nearest;
mod network;
mod parse;
mod places;
mod reader;
mod reticulum;

pub use default_text::DEFAULT_CONFIG;
pub use diagnostic::{Diagnostic, INTERFACE_TYPES, Problem, Severity};
pub use interface::ConfiguredInterface;
pub use network::{Device, Network, SystemNetwork};
pub use parse::{Entry, Section, SyntaxError, SyntaxMistake, Value, parse};
pub use places::{CONFIG_FILE, config_dir};
pub use reticulum::{
    BlackholeSettings, LogSettings, ManagementSettings, NodeSettings, SharedInstance, SharedInstanceType,
};

use interface::read_interface;
use reader::SectionReader;
use reticulum::{InterfaceDefaults, read_logging, read_reticulum};

/// The longest config file that is read, in bytes.
pub const MAX_LEN: usize = 1 << 20;

/// What a config file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostConfig {
    /// How the node behaves.
    pub node: NodeSettings,
    /// How programs on this host share the node.
    pub shared: SharedInstance,
    /// Who may look after the node from elsewhere.
    pub management: ManagementSettings,
    /// Whose lists of refused identities are used and published.
    pub blackhole: BlackholeSettings,
    /// What is logged.
    pub logging: LogSettings,
    /// The interfaces without mistakes, those that are not enabled included, in their order.
    pub interfaces: Vec<ConfiguredInterface>,
}

const SECTIONS: [&str; 3] = ["reticulum", "logging", "interfaces"];

/// Reads a config file. Names of hosts and devices are looked up in `network`.
///
/// Settings with mistakes have their defaults. Interfaces with mistakes are left out, for one that runs with another
/// access code, mode or address than was meant can do harm.
pub fn read_config(text: &str, network: &dyn Network) -> (HostConfig, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    if text.len() > MAX_LEN {
        let problem = Problem::TooLong;
        return (
            HostConfig::default(),
            vec![Diagnostic { line: 0, section: String::new(), key: None, problem }],
        );
    }
    let (file, mistakes) = parse(text);
    diagnostics.extend(mistakes.into_iter().map(|mistake| Diagnostic {
        line: mistake.line,
        section: mistake.within.join(" > "),
        key: None,
        problem: Problem::Syntax(mistake.error),
    }));
    let mut config = HostConfig::default();
    let mut defaults = InterfaceDefaults::default();
    report_strays(&file, &mut diagnostics);
    if let Some(section) = file.section("reticulum") {
        let mut reader = SectionReader::new(section, section.name.clone(), &mut diagnostics);
        defaults = read_reticulum(&mut reader, &mut config);
        reader.finish();
    }
    if let Some(section) = file.section("logging") {
        let mut reader = SectionReader::new(section, section.name.clone(), &mut diagnostics);
        config.logging = read_logging(&mut reader);
        reader.finish();
    }
    for section in file.section("interfaces").map_or(&[][..], |section| &section.sections) {
        config.interfaces.extend(read_interface(section, &defaults, network, &mut diagnostics));
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.line);
    (config, diagnostics)
}

/// Reports what stands where nothing belongs.
fn report_strays(file: &Section, diagnostics: &mut Vec<Diagnostic>) {
    SectionReader::new(file, String::new(), diagnostics).report_other_keys();
    for section in file.sections.iter().filter(|section| !SECTIONS.contains(&section.name.as_str())) {
        let nearest = nearest::nearest(&section.name, SECTIONS);
        let problem = Problem::UnknownSection { nearest };
        let section_name = section.name.clone();
        diagnostics.push(Diagnostic { line: section.line, section: section_name, key: None, problem });
    }
    if let Some(section) = file.section("interfaces") {
        SectionReader::new(section, section.name.clone(), diagnostics).report_other_keys();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_anything_has_the_defaults_and_no_mistakes() {
        assert_eq!(read_config("", &SystemNetwork), (HostConfig::default(), Vec::new()));
    }

    #[test]
    fn the_default_file_has_the_defaults_and_no_mistakes() {
        let (config, diagnostics) = read_config(DEFAULT_CONFIG, &SystemNetwork);
        assert_eq!(diagnostics, []);
        assert_eq!(HostConfig { interfaces: Vec::new(), ..config.clone() }, HostConfig::default());
        assert!(!config.interfaces.is_empty());
        assert!(config.interfaces.iter().all(|interface| !interface.enabled));
    }

    #[test]
    fn what_stands_in_the_wrong_place_is_told_with_its_line() {
        let text =
            "stray = 1\n[interface]\n[[x]]\n[interfaces]\nenable_transport = yes\n[reticulum]\n[[y]]\n";
        let (_, diagnostics) = read_config(text, &SystemNetwork);
        let told: Vec<_> = diagnostics
            .iter()
            .map(|mistake| (mistake.line, mistake.severity(), mistake.to_string()))
            .collect();
        assert_eq!(told.len(), 4, "{told:#?}");
        assert_eq!(told[0].2, "line 1: stray: there is no such key here; take the line away");
        assert_eq!(told[1].2, "line 2: [interface] there is no such section; did you mean [interfaces]?");
        assert_eq!((told[2].0, told[3].0), (5, 7));
        assert!(told.iter().all(|(_, severity, _)| *severity == Severity::Warning));
    }

    #[test]
    fn a_file_that_is_no_config_file_is_refused_as_a_whole() {
        let (config, diagnostics) = read_config(&"#".repeat(MAX_LEN + 1), &SystemNetwork);
        assert_eq!(config, HostConfig::default());
        assert_eq!(diagnostics[0].problem, Problem::TooLong);
    }
}
