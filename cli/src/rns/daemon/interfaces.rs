//! Interfaces that are started and stopped while the daemon runs.

use proto_rns::iface::InterfaceId;
use rns_host::config::{CONFIG_FILE, SystemNetwork, read_config};
use std::fs;

use super::{answers::tell_change, instance::Instance, log::Level};

/// Starts an interface of the config file. `None` where there is none or nobody may; false when it runs already.
pub(super) fn attach(instance: &Instance, name: &str) -> Option<bool> {
    if !instance.config().management.interfaces {
        return None;
    }
    let text = fs::read_to_string(instance.directory().join(CONFIG_FILE)).ok()?;
    let (config, _) = read_config(&text, &SystemNetwork);
    let wanted = config.interfaces.into_iter().find(|interface| interface.config.name == name)?;
    if running(instance, name).is_some() {
        return Some(false);
    }
    match instance.node().add_interface(wanted.config) {
        Ok(_) => {
            tell_change(instance, format_args!("the interface \"{name}\" is started"));
            Some(true)
        }
        Err(error) => {
            instance
                .log()
                .tell(Level::Error, format_args!("the interface \"{name}\" does not start: {error}"));
            Some(false)
        }
    }
}

/// Stops an interface. `None` where there is none, or nobody may.
pub(super) fn detach(instance: &Instance, name: &str) -> Option<bool> {
    if !instance.config().management.interfaces {
        return None;
    }
    let id = running(instance, name)?;
    let removed = instance.node().remove_interface(id);
    tell_change(instance, format_args!("the interface \"{name}\" is stopped"));
    Some(removed)
}

/// Stops an interface and starts it with what the config file says by now. `None` where there is none, or nobody may.
pub(super) fn reload(instance: &Instance, name: &str) -> Option<bool> {
    detach(instance, name)?;
    attach(instance, name)
}

/// Finds an interface of the config file that runs. The shared instance's own is none.
fn running(instance: &Instance, name: &str) -> Option<InterfaceId> {
    instance.node().with_node(|node, _| {
        let mut own = node.interfaces().filter(|(_, interface)| {
            interface.parent().is_none()
                && !matches!(interface.config().medium, proto_rns::iface::Medium::LocalServer { .. })
        });
        own.find(|(_, interface)| interface.config().name == name).map(|(id, _)| id)
    })
}
