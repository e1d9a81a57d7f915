//! The options' numbers.

/// How calls wait.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ic_receive_mode {
    /// Sleep in the operating system.
    IC_RECEIVE_PARK = 0,
    /// Calls whose deadline is less than 0 do not wait: they return IC_E_WOULD_BLOCK.
    IC_RECEIVE_POLL = 1,
    /// Ask again and again for a while (IC_OPT_SPIN_NS), then sleep. The same as parking on a single processor.
    IC_RECEIVE_SPIN = 2,
}

/// The options. `int`, `str`, `bytes` or `cb` says by which ic_options_set_ function each is set; names that end with
/// _NS are in nanoseconds. Numbers that are not here are free for later options, and refused with IC_E_BAD_OPTION.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ic_opt {
    /// int: threads of the library's own plus one. Only 1 is supported: the caller's thread does everything.
    IC_OPT_THREADS = 1,
    /// int: 1 uses a connection for several exchanges, 0 closes it after one. 1 by default; datagrams have no use for it.
    IC_OPT_KEEP_ALIVE = 2,
    /// int: one of IC_RECEIVE_*.
    IC_OPT_RECEIVE_MODE = 3,
    /// int: how long IC_RECEIVE_SPIN looks before it sleeps; 50 us by default.
    IC_OPT_SPIN_NS = 4,
    /// int: 1 lets ic_wake and ic_cancel end a wait from any thread, at the price of a system call for each wait.
    IC_OPT_WAKEABLE = 5,
    /// int: messages that wait for the connection or for their turn.
    IC_OPT_MAX_WAITING = 6,
    /// int: events that wait for the application.
    IC_OPT_MAX_EVENTS = 7,
    /// cb: told of the connection's state at the end of each call that changed it: `what` is one of IC_STATE_*.
    IC_OPT_STATE_CALLBACK = 8,

    /// int: how long finding a name's addresses may take.
    IC_OPT_RESOLVE_TIMEOUT_NS = 30,
    /// int: how long connecting may take, all addresses together.
    IC_OPT_CONNECT_TIMEOUT_NS = 31,
    /// int: how long one address is tried alone.
    IC_OPT_STAGGER_NS = 32,
    /// int: how long the TLS handshake may take.
    IC_OPT_TLS_TIMEOUT_NS = 33,
    /// int: how long opening a tunnel through a proxy may take.
    IC_OPT_PROXY_TIMEOUT_NS = 34,
    /// int: how long the WebSocket handshake may take.
    IC_OPT_UPGRADE_TIMEOUT_NS = 35,
    /// int: how long the peer may take nothing of what is sent.
    IC_OPT_SEND_TIMEOUT_NS = 36,
    /// int: from the end of a request to the first byte of its answer.
    IC_OPT_FIRST_BYTE_TIMEOUT_NS = 37,
    /// int: between bytes of an answer.
    IC_OPT_BETWEEN_BYTES_TIMEOUT_NS = 38,
    /// int: a whole exchange; less than 0, the default, is no limit.
    IC_OPT_TOTAL_TIMEOUT_NS = 39,
    /// int: how long closing may take.
    IC_OPT_CLOSE_TIMEOUT_NS = 40,
    /// int: how long to wait for 100 Continue.
    IC_OPT_CONTINUE_TIMEOUT_NS = 41,

    /// str: a file with certificates (PEM) that are believed, in place of the built-in ones. May be set several times.
    IC_OPT_CA_FILE = 60,
    /// bytes: the same, as PEM text.
    IC_OPT_CA_PEM = 61,
    /// bytes: our certificate and those of its issuers, as PEM text.
    IC_OPT_CLIENT_CERT_PEM = 62,
    /// bytes: our certificate's private key, as PEM text.
    IC_OPT_CLIENT_KEY_PEM = 63,
    /// bytes: the SHA-256 (32 bytes) of a key that the server's certificate may have. May be set several times.
    IC_OPT_PIN_SHA256 = 64,
    /// int: 1 has pins alone decide, whatever the certificate says of names and dates.
    IC_OPT_PIN_ONLY = 65,
    /// str: the name that the certificate must be for, in place of the URL's.
    IC_OPT_SERVER_NAME = 66,
    /// int: 1 believes any certificate. Everybody on the way can read and change everything then.
    IC_OPT_INSECURE_SKIP_VERIFY = 67,
    /// cb: told the keys of connections, as lines of SSLKEYLOGFILE: whoever has them can read the traffic.
    IC_OPT_KEY_LOG_CALLBACK = 68,

    /// str: a header field for each request that does not have it itself, such as "Accept: text/plain". May be set
    /// several times.
    IC_OPT_HEADER = 90,
    /// str: the header field User-Agent.
    IC_OPT_USER_AGENT = 91,
    /// str: an http URL of a forward proxy.
    IC_OPT_PROXY = 92,
    /// str: a host that is reached without the proxy. May be set several times.
    IC_OPT_PROXY_EXCEPT = 93,
    /// int: how many redirects are followed; 0 by default.
    IC_OPT_MAX_REDIRECTS = 94,
    /// int: 1 lets a redirect lead from https to http.
    IC_OPT_ALLOW_DOWNGRADE = 95,
    /// int: 1 asks for compressed bodies and unpacks them.
    IC_OPT_DECODE = 96,
    /// int: 1 hands the bodies of responses out in parts, as events.
    IC_OPT_STREAM_RESPONSES = 97,
    /// int: bodies of at least so many bytes wait for 100 Continue; less than 0, the default, never.
    IC_OPT_CONTINUE_FROM = 98,
    /// int: the longest body that is received whole, in bytes.
    IC_OPT_MAX_BODY = 99,
    /// int: bytes of all header fields of a response.
    IC_OPT_MAX_HEADER_BYTES = 100,
    /// int: requests sent before the first is answered; 1 by default.
    IC_OPT_PIPELINED = 101,
    /// int: how long an unused connection is kept.
    IC_OPT_IDLE_LIMIT_NS = 102,
    /// int: how long a connection is used altogether; less than 0, the default, is no limit.
    IC_OPT_MAX_AGE_NS = 103,
    /// int: for how many exchanges a connection is used.
    IC_OPT_MAX_EXCHANGES = 104,

    /// str: a subprotocol to offer, the preferred one first. May be set several times.
    IC_OPT_SUBPROTOCOL = 120,
    /// str: the origin to give.
    IC_OPT_ORIGIN = 121,
    /// int: how hard to compress messages (permessage-deflate), 1 to 9; 0, the default, offers no compression.
    IC_OPT_DEFLATE = 122,
    /// int: messages shorter than this are sent as they are.
    IC_OPT_DEFLATE_THRESHOLD = 123,
    /// int: the time from ping to ping; less than 0, the default, sends none.
    IC_OPT_PING_INTERVAL_NS = 124,
    /// int: how long nothing may arrive after a ping.
    IC_OPT_PONG_TIMEOUT_NS = 125,
    /// int: 0 leaves pings to be answered by the application.
    IC_OPT_AUTO_PONG = 126,
    /// int: 1 hands pings and pongs out as messages.
    IC_OPT_DELIVER_CONTROL = 127,
    /// int: the longest message that is taken, unpacked, in bytes.
    IC_OPT_MAX_MESSAGE = 128,
    /// int: the longest frame that is taken, in bytes.
    IC_OPT_MAX_FRAME = 129,
    /// int: bytes that may wait to be sent before more are refused with IC_E_WOULD_BLOCK.
    IC_OPT_HIGH_WATER = 130,
    /// int: the longest frame that is sent; less than 0, the default, is no limit.
    IC_OPT_FRAGMENT_ABOVE = 131,
    /// int: 1 makes a lost connection again.
    IC_OPT_RECONNECT = 132,
    /// int: the longest wait before the second attempt; it doubles with each.
    IC_OPT_RECONNECT_BASE_NS = 133,
    /// int: the longest wait of all.
    IC_OPT_RECONNECT_CAP_NS = 134,
    /// int: attempts in a row before giving up; less than 0, the default, is no limit.
    IC_OPT_RECONNECT_MAX_ATTEMPTS = 135,

    /// str: a network interface on which a group is joined and sent to, by name or index. May be set several times.
    IC_OPT_INTERFACE = 150,
    /// int: hops that a datagram may take, 0 to 255.
    IC_OPT_TTL = 151,
    /// int: 0 keeps what is sent to a group from its members on this host.
    IC_OPT_LOOPBACK = 152,
    /// str: the local address of a datagram socket, such as 0.0.0.0:5000.
    IC_OPT_BIND = 153,
    /// int: bytes that the operating system may hold for the application.
    IC_OPT_RECEIVE_BUFFER = 154,
    /// int: bytes that the operating system may hold for the network.
    IC_OPT_SEND_BUFFER = 155,
    /// int: the traffic class, 0 to 255: DSCP in the upper six bits.
    IC_OPT_TRAFFIC_CLASS = 156,
    /// int: 1 has datagrams refused that are too long for the path.
    IC_OPT_DONT_FRAGMENT = 157,
    /// int: 1 lets other sockets bind the same address.
    IC_OPT_REUSE_ADDRESS = 158,
    /// int: 1 lets other sockets share the address and its load.
    IC_OPT_REUSE_PORT = 159,
    /// str: the only network interface to use, by name.
    IC_OPT_DEVICE = 160,
}
