//! The config file of a new host.

/// What is written into the config file where there is none: the defaults, with a word on each, and interfaces to begin
/// with, none of which is enabled.
pub const DEFAULT_CONFIG: &str = r#"# The configuration of a Reticulum node, in the format of the reference.
# A line that starts with # has no effect.

[reticulum]

# Pass on packets, announces and path requests of others. Good for a node that
# is always on and stays in its place.
enable_transport = no

# Let the first program on this host open the interfaces, and the others use
# them through it.
share_instance = yes

# Several shared instances on one host need different names...
instance_name = default

# ...or, where they speak over TCP, different ports.
# shared_instance_type = tcp
# shared_instance_port = 37428
# instance_control_port = 37429

# Programs prove to the shared instance that they belong to it by a key that
# they find in its directory. Those that cannot read it need the same key here
# as the shared instance, in hexadecimal digits.
# rpc_key = e5c032d3ec4e64a6aca9927ba8ab7333

# Prove packets to this node's probe address, so that others can measure how
# far it is.
# respond_to_probes = no

# Let the owners of these identities look after this node from elsewhere.
# enable_remote_management = yes
# remote_management_allowed = 9fb6d773498fb3feda407ed8ef2c3229


[logging]

# From 0, critical only, to 8, everything.
loglevel = 4


[interfaces]

  # Connect to a node on the Internet or on the local network.
  [[TCP Client]]
    type = TCPClientInterface
    enabled = no
    target_host = 127.0.0.1
    target_port = 4242

  # Let others connect.
  [[TCP Server]]
    type = TCPServerInterface
    enabled = no
    listen_ip = 0.0.0.0
    listen_port = 4242

  # Speak to everybody on the local network.
  [[UDP]]
    type = UDPInterface
    enabled = no
    listen_ip = 0.0.0.0
    listen_port = 4242
    forward_ip = 255.255.255.255
    forward_port = 4242

  # Only those who know the name and the passphrase take part.
  [[Private]]
    type = BackboneInterface
    enabled = no
    listen_ip = 0.0.0.0
    listen_port = 4243
    network_name = our network
    passphrase = change this
"#;
