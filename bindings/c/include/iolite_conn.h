// libiolite_conn: connections of the six schemes http, https, ws, wss, udp and udp_multicast.
//
// This file is made from the library's source; a test says how when the two differ.
//
// RETURN VALUES. Functions return 0 or a negative ic_code, and ic_last_error tells more. Nothing here sets errno, and
// nothing ends the process: what goes wrong inside is IC_E_PANIC, after which the handle can only be freed.
//
// OWNERSHIP. What is passed in is only used during the call, but for ic_msg_set_body_borrowed. Messages that come out
// are the caller's, until ic_msg_free or ic_recycle. Pointers into a message live as long as it.
//
// THREADS. A handle is used by one thread at a time; only ic_wake and ic_cancel may be called from any. Different
// handles have nothing to do with each other. There is nothing to initialize and nothing to clean up. The library has
// no threads, except that looking up a name takes one while it lasts.
//
// TIME. Deadlines are in ns: less than 0 is the connection's own (each phase has one), 0 is not to wait.
//
// STRUCTURES that begin with struct_size must have it set to their size by the caller, so that they may grow.
//
// MEMORY is the C library's malloc; another allocator cannot be set.

#ifndef IOLITE_CONN_H
#define IOLITE_CONN_H

#include <stddef.h>
#include <stdint.h>

// What went wrong. Numbers from -1 to -199 that are not here are free for later ones.
enum ic_code
#ifdef __cplusplus
    : int32_t
#endif // __cplusplus
{
    // No error.
    IC_OK = 0,
    // Not a usable URL.
    IC_E_BAD_URL = -1,
    // An option cannot have this value.
    IC_E_BAD_OPTION = -2,
    // A header field that cannot be sent.
    IC_E_BAD_HEADER = -3,
    // A message that cannot be sent here.
    IC_E_BAD_MESSAGE = -4,
    // Not possible in this state.
    IC_E_BAD_STATE = -5,
    // Not ready.
    IC_E_WOULD_BLOCK = -6,
    // Too long.
    IC_E_TOO_LONG = -7,
    // Cancelled.
    IC_E_CANCELLED = -8,
    // The deadline passed.
    IC_E_TIMED_OUT = -9,
    // Took longer than allowed altogether.
    IC_E_TOTAL_TIMEOUT = -10,
    // The name has no address.
    IC_E_NO_ADDRESS = -20,
    // Resolving took too long.
    IC_E_RESOLVE_TIMEOUT = -21,
    // Connection refused.
    IC_E_CONNECT_REFUSED = -22,
    // Unreachable.
    IC_E_UNREACHABLE = -23,
    // Connecting took too long.
    IC_E_CONNECT_TIMEOUT = -24,
    // The operating system said no.
    IC_E_IO = -25,
    // Not supported by this driver.
    IC_E_UNSUPPORTED = -26,
    // Connection reset by the peer.
    IC_E_RESET = -27,
    // The peer closed the connection without an answer.
    IC_E_CLOSED_EARLY = -28,
    // Not sent.
    IC_E_NOT_SENT = -29,
    // The proxy refused.
    IC_E_PROXY_REFUSED = -40,
    // The proxy took too long.
    IC_E_PROXY_TIMEOUT = -41,
    // The proxy wants credentials.
    IC_E_PROXY_AUTH = -42,
    // The proxy does not speak HTTP.
    IC_E_PROXY_PROTOCOL = -43,
    // The TLS handshake took too long.
    IC_E_TLS_TIMEOUT = -60,
    // The peer does not speak TLS properly.
    IC_E_TLS_PROTOCOL = -61,
    // The peer refused with an alert.
    IC_E_TLS_ALERT = -62,
    // No TLS version or cipher in common.
    IC_E_TLS_INCOMPATIBLE = -63,
    // The certificate has expired.
    IC_E_CERT_EXPIRED = -64,
    // The certificate is not valid yet.
    IC_E_CERT_NOT_YET_VALID = -65,
    // The certificate's issuer is not trusted.
    IC_E_CERT_UNKNOWN_ISSUER = -66,
    // The certificate is for another name.
    IC_E_CERT_WRONG_NAME = -67,
    // The certificate was revoked.
    IC_E_CERT_REVOKED = -68,
    // A certificate's signature is wrong.
    IC_E_CERT_BAD_SIGNATURE = -69,
    // The certificate is not for this use.
    IC_E_CERT_WRONG_USE = -70,
    // The certificate is invalid.
    IC_E_CERT_INVALID = -71,
    // The certificate's key is not a pinned one.
    IC_E_PIN_MISMATCH = -72,
    // A client certificate is required.
    IC_E_CLIENT_CERT_REQUIRED = -73,
    // No application protocol in common.
    IC_E_NO_ALPN = -74,
    // The stream was cut off.
    IC_E_TLS_TRUNCATED = -75,
    // A key or certificate of ours cannot be used.
    IC_E_TLS_CONFIG = -76,
    // A certificate's signature is of a kind that is not accepted.
    IC_E_CERT_WEAK = -77,
    // The certificate is self-signed.
    IC_E_CERT_SELF_SIGNED = -78,
    // Malformed HTTP.
    IC_E_HTTP_SYNTAX = -80,
    // The message's length is ambiguous.
    IC_E_HTTP_FRAMING = -81,
    // A transfer coding that is not supported.
    IC_E_UNSUPPORTED_TE = -82,
    // Another HTTP version.
    IC_E_HTTP_VERSION = -83,
    // The start line is too long.
    IC_E_START_LINE_TOO_LONG = -84,
    // The header fields are too many or too long.
    IC_E_HEADERS_TOO_LONG = -85,
    // The body is too long.
    IC_E_BODY_TOO_LONG = -86,
    // The body was cut off.
    IC_E_INCOMPLETE_BODY = -87,
    // Too many interim responses.
    IC_E_TOO_MANY_INFORMATIONAL = -88,
    // The content coding is broken.
    IC_E_BAD_ENCODING = -89,
    // Unpacks to more than allowed.
    IC_E_BOMB = -90,
    // No answer in time.
    IC_E_FIRST_BYTE_TIMEOUT = -91,
    // The answer stopped.
    IC_E_BETWEEN_BYTES_TIMEOUT = -92,
    // The peer does not take what is sent.
    IC_E_SEND_TIMEOUT = -93,
    // Too many redirects.
    IC_E_TOO_MANY_REDIRECTS = -94,
    // A redirect that is not followed.
    IC_E_REDIRECT_REFUSED = -95,
    // The peer spoke unasked.
    IC_E_UNEXPECTED = -96,
    // The server did not switch to WebSocket.
    IC_E_UPGRADE_REFUSED = -110,
    // The WebSocket handshake is wrong.
    IC_E_UPGRADE_INVALID = -111,
    // A frame breaks the WebSocket protocol.
    IC_E_WS_PROTOCOL = -112,
    // Text that is not UTF-8.
    IC_E_WS_UTF8 = -113,
    // A message longer than allowed.
    IC_E_WS_TOO_BIG = -114,
    // Compressed data that is broken.
    IC_E_WS_DEFLATE = -115,
    // No pong in time.
    IC_E_PONG_TIMEOUT = -116,
    // Closing took too long.
    IC_E_CLOSE_TIMEOUT = -117,
    // Ended without a close frame.
    IC_E_ABNORMAL_CLOSURE = -118,
    // The WebSocket handshake took too long.
    IC_E_UPGRADE_TIMEOUT = -119,
    // No such network interface.
    IC_E_NO_INTERFACE = -130,
    // The group cannot be joined.
    IC_E_JOIN_FAILED = -131,
    // An internal error.
    IC_E_PANIC = -150,
    // Not enough memory.
    IC_E_NO_MEMORY = -151,
    // The buffer is too small.
    IC_E_TOO_SMALL = -152,
    // Another ABI version.
    IC_E_ABI_MISMATCH = -153,
    // Not a usable handle.
    IC_E_BAD_HANDLE = -154,
};
#ifndef __cplusplus
typedef int32_t ic_code;
#endif // __cplusplus


// Bytes of the sentence in an ic_error, with the zero byte at its end.
#define IC_ERROR_TEXT 256

// Bit of ic_wants: watch the descriptor for reading.
#define IC_WANTS_READ 1

// Bit of ic_wants: watch the descriptor for writing.
#define IC_WANTS_WRITE 2

// Flag: the datagram was longer than the buffer; its end is missing.
#define IC_FLAG_TRUNCATED 1

// Flag: the last part of a message that was handed out in parts.
#define IC_FLAG_FIN 2

// Flag: the payload travelled compressed.
#define IC_FLAG_COMPRESSED 4

// Flag: the answer to a request that was sent a second time.
#define IC_FLAG_FROM_RETRY 8

// Flag: the body ended with the connection, for want of another mark.
#define IC_FLAG_BODY_BY_CLOSE 16

// Flag: the answer came from another place than the one asked, after at least one redirect.
#define IC_FLAG_REDIRECTED 32

// Flag: the body follows in parts. Set it on a request whose body is sent by ic_send_part.
#define IC_FLAG_STREAMED 64

// Flag: the body of the answer to this request is to come in parts, as events.
#define IC_FLAG_ANSWER_IN_PARTS 128

// The version of the interface: its major number in the upper 16 bits, which grows when something is taken away or
// changed, and its minor number in the lower 16, which grows when something is added.
#define IC_ABI_VERSION 65536

// The kinds of message. Numbers from 10 on are free for later ones.
enum ic_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Not a message.
    IC_KIND_NONE = 0,
    // An HTTP request.
    IC_KIND_REQUEST = 1,
    // A final HTTP response.
    IC_KIND_RESPONSE = 2,
    // An interim HTTP response (1xx).
    IC_KIND_INFORMATIONAL = 3,
    // A WebSocket text message: UTF-8.
    IC_KIND_TEXT = 4,
    // A WebSocket binary message.
    IC_KIND_BINARY = 5,
    // A WebSocket ping.
    IC_KIND_PING = 6,
    // A WebSocket pong.
    IC_KIND_PONG = 7,
    // The end of a WebSocket connection.
    IC_KIND_CLOSE = 8,
    // A UDP datagram.
    IC_KIND_DATAGRAM = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ic_kind ic_kind;
#else
typedef int32_t ic_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The phase in which something went wrong. Numbers from 12 on are free for later ones.
enum ic_phase
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // There is no error.
    IC_PHASE_NONE = 0,
    // Reading the URL, option or message that the application gave.
    IC_PHASE_ARGUMENTS = 1,
    // Finding the addresses of a name.
    IC_PHASE_RESOLVE = 2,
    // Connecting.
    IC_PHASE_CONNECT = 3,
    // Opening a tunnel through a proxy.
    IC_PHASE_PROXY = 4,
    // The TLS handshake.
    IC_PHASE_TLS = 5,
    // The WebSocket handshake.
    IC_PHASE_UPGRADE = 6,
    // Sending a message.
    IC_PHASE_SEND = 7,
    // Waiting for the first byte of an answer.
    IC_PHASE_FIRST_BYTE = 8,
    // Receiving a message.
    IC_PHASE_RECEIVE = 9,
    // Between messages.
    IC_PHASE_IDLE = 10,
    // Closing.
    IC_PHASE_CLOSE = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ic_phase ic_phase;
#else
typedef int32_t ic_phase;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The states of a connection. Numbers from 11 on are free for later ones.
enum ic_conn_state
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Nothing is open. The next message opens it.
    IC_STATE_IDLE = 0,
    // Asking for the addresses of a name.
    IC_STATE_RESOLVING = 1,
    // Connecting to addresses.
    IC_STATE_CONNECTING = 2,
    // Asking a proxy for a tunnel.
    IC_STATE_PROXY_TUNNEL = 3,
    // In the TLS handshake.
    IC_STATE_TLS_HANDSHAKE = 4,
    // Ready for HTTP exchanges.
    IC_STATE_HTTP_READY = 5,
    // In the WebSocket handshake.
    IC_STATE_WS_UPGRADING = 6,
    // Open for WebSocket messages or datagrams.
    IC_STATE_OPEN = 7,
    // Waiting before another attempt.
    IC_STATE_WAITING = 8,
    // Closing.
    IC_STATE_CLOSING = 9,
    // Closed for good.
    IC_STATE_CLOSED = 10,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ic_conn_state ic_conn_state;
#else
typedef int32_t ic_conn_state;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What an event tells. Numbers from 9 on are free for later ones.
enum ic_event_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Nothing happened.
    IC_EVENT_NONE = 0,
    // The connection is in another state: `state`.
    IC_EVENT_STATE = 1,
    // A message came: `msg`, which is the caller's to free.
    IC_EVENT_MESSAGE = 2,
    // A part of a streamed body came: the body of `msg`, which is the caller's to free.
    IC_EVENT_PART = 3,
    // A streamed body ended: `msg`, which is the caller's to free, has the trailer fields.
    IC_EVENT_END = 4,
    // There is room for more after IC_E_WOULD_BLOCK.
    IC_EVENT_WRITABLE = 5,
    // An exchange failed: `exchange` and `error`; exchange 0 is what belongs to none, such as a datagram that nobody
    // took.
    IC_EVENT_FAILED = 6,
    // The connection is made again after `after_ns`, the `attempt`th time, because of `error`.
    IC_EVENT_RECONNECTING = 7,
    // The connection is closed for good: `close_code`, and `error`, whose code is 0 for a close in good order.
    IC_EVENT_CLOSED = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ic_event_kind ic_event_kind;
#else
typedef int32_t ic_event_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How calls wait.
enum ic_receive_mode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Sleep in the operating system.
    IC_RECEIVE_PARK = 0,
    // Calls whose deadline is less than 0 do not wait: they return IC_E_WOULD_BLOCK.
    IC_RECEIVE_POLL = 1,
    // Ask again and again for a while (IC_OPT_SPIN_NS), then sleep. The same as parking on a single processor.
    IC_RECEIVE_SPIN = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ic_receive_mode ic_receive_mode;
#else
typedef int32_t ic_receive_mode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The options. `int`, `str`, `bytes` or `cb` says by which ic_options_set_ function each is set; names that end with
// _NS are in nanoseconds. Numbers that are not here are free for later options, and refused with IC_E_BAD_OPTION.
enum ic_opt
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // int: threads of the library's own plus one. Only 1 is supported: the caller's thread does everything.
    IC_OPT_THREADS = 1,
    // int: 1 uses a connection for several exchanges, 0 closes it after one. 1 by default; datagrams have no use for it.
    IC_OPT_KEEP_ALIVE = 2,
    // int: one of IC_RECEIVE_*.
    IC_OPT_RECEIVE_MODE = 3,
    // int: how long IC_RECEIVE_SPIN looks before it sleeps; 50 us by default.
    IC_OPT_SPIN_NS = 4,
    // int: 1 lets ic_wake and ic_cancel end a wait from any thread, at the price of a system call for each wait.
    IC_OPT_WAKEABLE = 5,
    // int: messages that wait for the connection or for their turn.
    IC_OPT_MAX_WAITING = 6,
    // int: events that wait for the application.
    IC_OPT_MAX_EVENTS = 7,
    // cb: told of the connection's state at the end of each call that changed it: `what` is one of IC_STATE_*.
    IC_OPT_STATE_CALLBACK = 8,
    // int: how long finding a name's addresses may take.
    IC_OPT_RESOLVE_TIMEOUT_NS = 30,
    // int: how long connecting may take, all addresses together.
    IC_OPT_CONNECT_TIMEOUT_NS = 31,
    // int: how long one address is tried alone.
    IC_OPT_STAGGER_NS = 32,
    // int: how long the TLS handshake may take.
    IC_OPT_TLS_TIMEOUT_NS = 33,
    // int: how long opening a tunnel through a proxy may take.
    IC_OPT_PROXY_TIMEOUT_NS = 34,
    // int: how long the WebSocket handshake may take.
    IC_OPT_UPGRADE_TIMEOUT_NS = 35,
    // int: how long the peer may take nothing of what is sent.
    IC_OPT_SEND_TIMEOUT_NS = 36,
    // int: from the end of a request to the first byte of its answer.
    IC_OPT_FIRST_BYTE_TIMEOUT_NS = 37,
    // int: between bytes of an answer.
    IC_OPT_BETWEEN_BYTES_TIMEOUT_NS = 38,
    // int: a whole exchange; less than 0, the default, is no limit.
    IC_OPT_TOTAL_TIMEOUT_NS = 39,
    // int: how long closing may take.
    IC_OPT_CLOSE_TIMEOUT_NS = 40,
    // int: how long to wait for 100 Continue.
    IC_OPT_CONTINUE_TIMEOUT_NS = 41,
    // str: a file with certificates (PEM) that are believed, in place of the built-in ones. May be set several times.
    IC_OPT_CA_FILE = 60,
    // bytes: the same, as PEM text.
    IC_OPT_CA_PEM = 61,
    // bytes: our certificate and those of its issuers, as PEM text.
    IC_OPT_CLIENT_CERT_PEM = 62,
    // bytes: our certificate's private key, as PEM text.
    IC_OPT_CLIENT_KEY_PEM = 63,
    // bytes: the SHA-256 (32 bytes) of a key that the server's certificate may have. May be set several times.
    IC_OPT_PIN_SHA256 = 64,
    // int: 1 has pins alone decide, whatever the certificate says of names and dates.
    IC_OPT_PIN_ONLY = 65,
    // str: the name that the certificate must be for, in place of the URL's.
    IC_OPT_SERVER_NAME = 66,
    // int: 1 believes any certificate. Everybody on the way can read and change everything then.
    IC_OPT_INSECURE_SKIP_VERIFY = 67,
    // cb: told the keys of connections, as lines of SSLKEYLOGFILE: whoever has them can read the traffic.
    IC_OPT_KEY_LOG_CALLBACK = 68,
    // str: a header field for each request that does not have it itself, such as "Accept: text/plain". May be set
    // several times.
    IC_OPT_HEADER = 90,
    // str: the header field User-Agent.
    IC_OPT_USER_AGENT = 91,
    // str: an http URL of a forward proxy.
    IC_OPT_PROXY = 92,
    // str: a host that is reached without the proxy. May be set several times.
    IC_OPT_PROXY_EXCEPT = 93,
    // int: how many redirects are followed; 0 by default.
    IC_OPT_MAX_REDIRECTS = 94,
    // int: 1 lets a redirect lead from https to http.
    IC_OPT_ALLOW_DOWNGRADE = 95,
    // int: 1 asks for compressed bodies and unpacks them.
    IC_OPT_DECODE = 96,
    // int: 1 hands the bodies of responses out in parts, as events.
    IC_OPT_STREAM_RESPONSES = 97,
    // int: bodies of at least so many bytes wait for 100 Continue; less than 0, the default, never.
    IC_OPT_CONTINUE_FROM = 98,
    // int: the longest body that is received whole, in bytes.
    IC_OPT_MAX_BODY = 99,
    // int: bytes of all header fields of a response.
    IC_OPT_MAX_HEADER_BYTES = 100,
    // int: requests sent before the first is answered; 1 by default.
    IC_OPT_PIPELINED = 101,
    // int: how long an unused connection is kept.
    IC_OPT_IDLE_LIMIT_NS = 102,
    // int: how long a connection is used altogether; less than 0, the default, is no limit.
    IC_OPT_MAX_AGE_NS = 103,
    // int: for how many exchanges a connection is used.
    IC_OPT_MAX_EXCHANGES = 104,
    // str: a subprotocol to offer, the preferred one first. May be set several times.
    IC_OPT_SUBPROTOCOL = 120,
    // str: the origin to give.
    IC_OPT_ORIGIN = 121,
    // int: how hard to compress messages (permessage-deflate), 1 to 9; 0, the default, offers no compression.
    IC_OPT_DEFLATE = 122,
    // int: messages shorter than this are sent as they are.
    IC_OPT_DEFLATE_THRESHOLD = 123,
    // int: the time from ping to ping; less than 0, the default, sends none.
    IC_OPT_PING_INTERVAL_NS = 124,
    // int: how long nothing may arrive after a ping.
    IC_OPT_PONG_TIMEOUT_NS = 125,
    // int: 0 leaves pings to be answered by the application.
    IC_OPT_AUTO_PONG = 126,
    // int: 1 hands pings and pongs out as messages.
    IC_OPT_DELIVER_CONTROL = 127,
    // int: the longest message that is taken, unpacked, in bytes.
    IC_OPT_MAX_MESSAGE = 128,
    // int: the longest frame that is taken, in bytes.
    IC_OPT_MAX_FRAME = 129,
    // int: bytes that may wait to be sent before more are refused with IC_E_WOULD_BLOCK.
    IC_OPT_HIGH_WATER = 130,
    // int: the longest frame that is sent; less than 0, the default, is no limit.
    IC_OPT_FRAGMENT_ABOVE = 131,
    // int: 1 makes a lost connection again.
    IC_OPT_RECONNECT = 132,
    // int: the longest wait before the second attempt; it doubles with each.
    IC_OPT_RECONNECT_BASE_NS = 133,
    // int: the longest wait of all.
    IC_OPT_RECONNECT_CAP_NS = 134,
    // int: attempts in a row before giving up; less than 0, the default, is no limit.
    IC_OPT_RECONNECT_MAX_ATTEMPTS = 135,
    // str: a network interface on which a group is joined and sent to, by name or index. May be set several times.
    IC_OPT_INTERFACE = 150,
    // int: hops that a datagram may take, 0 to 255.
    IC_OPT_TTL = 151,
    // int: 0 keeps what is sent to a group from its members on this host.
    IC_OPT_LOOPBACK = 152,
    // str: the local address of a datagram socket, such as 0.0.0.0:5000.
    IC_OPT_BIND = 153,
    // int: bytes that the operating system may hold for the application.
    IC_OPT_RECEIVE_BUFFER = 154,
    // int: bytes that the operating system may hold for the network.
    IC_OPT_SEND_BUFFER = 155,
    // int: the traffic class, 0 to 255: DSCP in the upper six bits.
    IC_OPT_TRAFFIC_CLASS = 156,
    // int: 1 has datagrams refused that are too long for the path.
    IC_OPT_DONT_FRAGMENT = 157,
    // int: 1 lets other sockets bind the same address.
    IC_OPT_REUSE_ADDRESS = 158,
    // int: 1 lets other sockets share the address and its load.
    IC_OPT_REUSE_PORT = 159,
    // str: the only network interface to use, by name.
    IC_OPT_DEVICE = 160,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ic_opt ic_opt;
#else
typedef int32_t ic_opt;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A connection. It is used by one thread at a time; only ic_wake and ic_cancel may be called from any.
typedef struct ic_conn ic_conn;

// A message: a request or response, a WebSocket message, a datagram. It may have several holders, in several threads;
// only somebody who is alone with it may change it.
typedef struct ic_msg ic_msg;

// How connections are to behave. They are read by ic_open, and can be used for several connections.
typedef struct ic_options ic_options;

// What went wrong. Set `struct_size` to sizeof(ic_error) before it is given to a function.
typedef struct ic_error {
    // The size of this structure as the caller knows it.
    uint32_t struct_size;
    // What happened: 0 for nothing, or one of IC_E_*.
    int32_t code;
    // While doing what: one of IC_PHASE_*.
    int32_t phase;
    // The operating system's error number; 0 where there was none.
    int32_t os_errno;
    // The TLS alert that the peer sent (RFC 8446, section 6); -1 where there was none.
    int32_t tls_alert;
    // The HTTP status that said no; 0 where there was none.
    int32_t http_status;
    // A sentence for a person, which ends with a zero byte; cut off where it is too long.
    char msg[IC_ERROR_TEXT];
} ic_error;

// An event. Set `struct_size` to sizeof(ic_event), and that of `error` to sizeof(ic_error), before it is given to
// ic_next_event.
typedef struct ic_event {
    // The size of this structure as the caller knows it.
    uint32_t struct_size;
    // What it tells: one of IC_EVENT_*. The fields that it does not name have no meaning.
    int32_t kind;
    // The connection's state: one of IC_STATE_*.
    int32_t state;
    // The WebSocket close code: 1005 for none, 1006 for an end without one.
    int32_t close_code;
    // A message, to be freed.
    struct ic_msg *msg;
    // An exchange.
    uint64_t exchange;
    // A time.
    int64_t after_ns;
    // A number of attempts.
    uint32_t attempt;
    // Room for later fields.
    uint32_t reserved;
    // What went wrong.
    struct ic_error error;
} ic_event;

// What is to be known of a message whose body was copied. Set `struct_size` to sizeof(ic_info).
typedef struct ic_info {
    // The size of this structure as the caller knows it.
    uint32_t struct_size;
    // One of IC_KIND_*.
    int32_t kind;
    // A response's status, or a close's code.
    int32_t status;
    // IC_FLAG_*.
    uint32_t flags;
    // The index of the network interface by which a datagram came; 0 where it is not known.
    uint32_t interface_index;
    // Room for later fields.
    uint32_t reserved;
    // When it was complete, in ns on the clock of ic_now_ns.
    int64_t received_ns;
} ic_info;

// A function that is told that nobody uses memory any more.
typedef void (*ic_release)(void *user, const uint8_t *body, size_t len);

// Bytes that belong to somebody else. What has none at all, such as a field that is not there, has a null pointer.
// There is no zero byte behind them.
typedef struct ic_slice {
    // The first byte.
    const uint8_t *ptr;
    // How many.
    size_t len;
} ic_slice;

// A function that is told something: `user` is the pointer that it was given with, `what` a number and `text` of `len`
// bytes, which depend on the option. It is called by the thread that is in a call of the handle, and must not call
// functions on that handle.
typedef void (*ic_callback)(void *user, int32_t what, const char *text, size_t len);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Makes a connection to a URL of one of the schemes http, https, ws, wss, udp and udp_multicast. Nothing is opened
// before ic_connect or the first message. Null `options` are the defaults; they are not needed any more afterwards.
//
// Returns 0 and the handle in `out`, which ic_free ends; or a code, and more in `error`, which may be null.
//
// What the caller vouches for:
// `url` ends with a zero byte; `options` is null or from ic_options_new; `out` points to a pointer; `error` is null or
// points to an ic_error with its size.
int32_t ic_open(const char *url, const struct ic_options *options, struct ic_conn **out, struct ic_error *error);

// Opens the connection and waits until it is ready for messages. The first message opens it as well.
//
// Returns 0, or what went wrong; IC_E_TIMED_OUT at the deadline, after which opening goes on.
//
// What the caller vouches for:
// `conn` is a handle.
int32_t ic_connect(struct ic_conn *conn, int64_t timeout_ns);

// Sends a message, or takes it to be sent as soon as the connection is open. The message stays the caller's, and can
// be sent again. `exchange`, unless it is null, is told the number of a request's exchange, for ic_answer.
//
// Returns 0; IC_E_WOULD_BLOCK where too many wait; or why the message cannot be sent.
//
// What the caller vouches for:
// `conn` is a handle, `msg` a message; `exchange` is null or points to a number.
int32_t ic_send(struct ic_conn *conn, const struct ic_msg *msg, uint64_t *exchange);

// Receives the next message: a response, a WebSocket message, a datagram.
//
// Returns 0 and the message in `out`, which ic_msg_free or ic_recycle ends; IC_E_TIMED_OUT at the deadline;
// IC_E_WOULD_BLOCK where nothing is there and the deadline is 0; IC_E_BAD_STATE after a close in good order; or what
// went wrong.
//
// What the caller vouches for:
// `conn` is a handle; `out` points to a pointer.
int32_t ic_recv(struct ic_conn *conn, int64_t timeout_ns, struct ic_msg **out);

// Sends a message and receives what answers it: a request's response, or the next WebSocket message or datagram. The
// request stays the caller's, and can be sent again. It is withdrawn at the deadline.
//
// Returns as ic_send and ic_recv do.
//
// What the caller vouches for:
// `conn` is a handle, `msg` a message; `out` points to a pointer.
int32_t ic_request(struct ic_conn *conn, const struct ic_msg *msg, int64_t timeout_ns, struct ic_msg **out);

// Receives the response of an exchange that ic_send began, or with exchange 0 the next WebSocket message or datagram.
// The exchange goes on at the deadline, and can be waited for again.
//
// Returns as ic_recv does.
//
// What the caller vouches for:
// `conn` is a handle; `out` points to a pointer.
int32_t ic_answer(struct ic_conn *conn, uint64_t exchange, int64_t timeout_ns, struct ic_msg **out);

// Withdraws an exchange that ic_send began: nobody wants its response any more.
//
// What the caller vouches for:
// `conn` is a handle.
int32_t ic_withdraw(struct ic_conn *conn, uint64_t exchange);

// Frees a message and leaves its memory to the connection, which makes the next one cheaper. Null is fine.
//
// What the caller vouches for:
// `conn` is a handle, `msg` null or a message that its caller does not use again.
int32_t ic_recycle(struct ic_conn *conn, struct ic_msg *msg);

// Closes the connection and waits for the end, at most until the deadline: a WebSocket until the peer has agreed.
// `code` is the WebSocket close code, such as 1000; `reason` may be null.
//
// Returns 0; IC_E_TIMED_OUT at the deadline, after which ic_abort or ic_free ends it; or how it ended.
//
// What the caller vouches for:
// `conn` is a handle; `reason` is null or ends with a zero byte.
int32_t ic_close(struct ic_conn *conn, int32_t code, const char *reason, int64_t timeout_ns);

// Ends the connection at once, without a word to the peer. The handle remains, to be freed.
//
// What the caller vouches for:
// `conn` is a handle.
int32_t ic_abort(struct ic_conn *conn);

// Ends a handle, and its connection at once. Messages that came from it stay. Null is fine.
//
// A second call, or another call with a handle that was freed lately, does no harm: it is IC_E_BAD_HANDLE.
//
// What the caller vouches for:
// `conn` is null or a handle that no other thread uses.
void ic_free(struct ic_conn *conn);

// Sets how calls wait: `mode` is one of IC_RECEIVE_*; less than 0 for `spin_ns` is 50 us.
//
// What the caller vouches for:
// `conn` is a handle.
int32_t ic_set_receive_mode(struct ic_conn *conn, int32_t mode, int64_t spin_ns);

// Returns how long the last ping of a WebSocket took to be answered, in ns; -1 where none was.
//
// What the caller vouches for:
// `conn` is null or a handle.
int64_t ic_rtt_ns(const struct ic_conn *conn);

// Returns how many datagrams were dropped because the application did not take them.
//
// What the caller vouches for:
// `conn` is null or a handle.
uint64_t ic_dropped_datagrams(const struct ic_conn *conn);

// Tells the last error of a handle; with a null pointer, the last error of a call in this thread that had no handle,
// such as those on options and messages. What succeeds leaves the last error as it is.
//
// Returns 0, also where there was no error: its code is 0 then.
//
// What the caller vouches for:
// `conn` is null, or a handle that is not used by another thread meanwhile; `out` points to an ic_error with its size.
int32_t ic_last_error(const struct ic_conn *conn, struct ic_error *out);

// Returns a code in words, as text that lives as long as the program. 0 is "no error".
const char *ic_strerror(int32_t code);

// Returns a phase in words, as text that lives as long as the program.
const char *ic_phase_name(int32_t phase);

// Says whether trying again later may help: 1 or 0. What is wrong with a URL, a certificate or a message stays wrong.
int32_t ic_is_transient(int32_t code);

// Tells the next event of any kind. Whoever takes events this way takes messages this way, too.
//
// Returns 0, and IC_EVENT_NONE where none came by the deadline.
//
// What the caller vouches for:
// `conn` is a handle; `out` points to an ic_event with its size.
int32_t ic_next_event(struct ic_conn *conn, int64_t timeout_ns, struct ic_event *out);

// Sends a part of the body of the request with IC_FLAG_STREAMED that was sent last. The bytes are copied.
//
// Returns 0, or IC_E_TIMED_OUT where the peer did not take what was sent before: the part was not sent then.
//
// What the caller vouches for:
// `conn` is a handle; `part` points to `len` bytes.
int32_t ic_send_part(struct ic_conn *conn, const uint8_t *part, size_t len, int64_t timeout_ns);

// Ends the body of a streamed request. The header fields of `trailers` follow it; null is none.
//
// What the caller vouches for:
// `conn` is a handle; `trailers` is null or a message.
int32_t ic_finish_body(struct ic_conn *conn, const struct ic_msg *trailers, int64_t timeout_ns);

// Returns the state: one of IC_STATE_*; IC_STATE_CLOSED for what is not a handle.
//
// What the caller vouches for:
// `conn` is null or a handle.
int32_t ic_state(const struct ic_conn *conn);

// Tells how the connection ended: the WebSocket close code, and in `reason` the peer's words or ours as a message
// whose body they are, which is the caller's to free; `reason` may be null.
//
// Returns 1, or 0 where it has not ended.
//
// What the caller vouches for:
// `conn` is a handle; `close_code` points to a number; `reason` is null or points to a pointer.
int32_t ic_closed(const struct ic_conn *conn, int32_t *close_code, struct ic_msg **reason);

// Sends a WebSocket message or datagram: `kind` is IC_KIND_TEXT, IC_KIND_BINARY, IC_KIND_PING or IC_KIND_DATAGRAM. The
// bytes are copied.
//
// Returns as ic_send does.
//
// What the caller vouches for:
// `conn` is a handle; `body` points to `len` bytes.
int32_t ic_send_bytes(struct ic_conn *conn, int32_t kind, const uint8_t *body, size_t len);

// Receives the next message and copies its body to `buf`, which has `cap` bytes. `len` is told how long the body is;
// `info`, unless it is null, what else is known.
//
// Returns as ic_recv does, and IC_E_TOO_SMALL: the message is kept, `len` says how much it needs.
//
// What the caller vouches for:
// `conn` is a handle; `buf` points to `cap` bytes, `len` to a number; `info` is null or points to an ic_info with its
// size.
int32_t ic_recv_into(struct ic_conn *conn,
                     uint8_t *buf,
                     size_t cap,
                     size_t *len,
                     struct ic_info *info,
                     int64_t timeout_ns);

// Sends an HTTP request and copies the body of its response to `buf`, as ic_recv_into does. A null `method` is GET, and
// a null `target` the URL's. The request is withdrawn at the deadline.
//
// Returns as ic_request does, and IC_E_TOO_SMALL: the response is kept for ic_recv or ic_recv_into, `len` says how much
// it needs.
//
// What the caller vouches for:
// `conn` is a handle; `method` and `target` are null or end with a zero byte; `body` points to `body_len` bytes; the
// rest is as for ic_recv_into.
int32_t ic_request_into(struct ic_conn *conn,
                        const char *method,
                        const char *target,
                        const uint8_t *body,
                        size_t body_len,
                        uint8_t *buf,
                        size_t cap,
                        size_t *len,
                        struct ic_info *info,
                        int64_t timeout_ns);

// Returns the descriptor to watch: when it is ready for what ic_wants says, or after ic_next_timeout_ns, call
// ic_process, and then take what there is with ic_recv or ic_next_event and a deadline of 0. The descriptor may become
// another with any call: ask for all three again.
//
// Returns a descriptor, which stays the library's, or a negative code.
//
// What the caller vouches for:
// `conn` is a handle.
int32_t ic_fd(struct ic_conn *conn);

// Returns what ic_fd is to be watched for: IC_WANTS_READ and IC_WANTS_WRITE; or a negative code.
//
// What the caller vouches for:
// `conn` is a handle.
int32_t ic_wants(struct ic_conn *conn);

// Returns after how many ns ic_process is due even if the descriptor stays silent: 0 for now, -1 for never.
//
// What the caller vouches for:
// `conn` is null or a handle.
int64_t ic_next_timeout_ns(const struct ic_conn *conn);

// Does what can be done without waiting.
//
// What the caller vouches for:
// `conn` is a handle.
int32_t ic_process(struct ic_conn *conn);

// Begins opening the connection, without waiting: for event loops. A message opens it as well.
//
// What the caller vouches for:
// `conn` is a handle.
int32_t ic_begin(struct ic_conn *conn);

// Begins closing, without waiting: for event loops. The event IC_EVENT_CLOSED tells the end.
//
// What the caller vouches for:
// `conn` is a handle; `reason` is null or ends with a zero byte.
int32_t ic_begin_close(struct ic_conn *conn, int32_t code, const char *reason);

// Has the call that waits on the handle, or the next one that would, return IC_E_WOULD_BLOCK as if its deadline had
// come. Any thread may call it, as long as the handle is not freed. The handle needs IC_OPT_WAKEABLE.
//
// What the caller vouches for:
// `conn` is a handle.
int32_t ic_wake(const struct ic_conn *conn);

// Has the call that waits on the handle, or the next one that would, return IC_E_CANCELLED. Any thread may call it, as
// long as the handle is not freed. The handle needs IC_OPT_WAKEABLE.
//
// What the caller vouches for:
// `conn` is a handle.
int32_t ic_cancel(const struct ic_conn *conn);

// Returns the time on the connection's own clock, in ns since it was made; -1 for what is not a handle.
//
// What the caller vouches for:
// `conn` is a handle.
int64_t ic_now_ns(struct ic_conn *conn);

// Takes part in holding a message: it lives until each holder has freed it.
//
// Returns the message, or a null pointer where `msg` is not one.
//
// What the caller vouches for:
// `msg` is null or a message.
struct ic_msg *ic_msg_retain(struct ic_msg *msg);

// Ends holding a message. What its accessors returned is gone with the last holder. Null is fine.
//
// What the caller vouches for:
// `msg` is null or a message, and its caller does not use it again.
void ic_msg_free(struct ic_msg *msg);

// Writes the other side's address as text, such as 192.0.2.7:80 or [fe80::1%2]:80, with a zero byte behind it. `len`
// is told how long the text is, without that byte.
//
// Returns 0; 1 where no address is known; or IC_E_TOO_SMALL, and `len` says how much it would have been.
//
// What the caller vouches for:
// `msg` is a message; `buf` points to `cap` bytes, `len` to a number or is null.
int32_t ic_msg_peer_text(const struct ic_msg *msg, char *buf, size_t cap, size_t *len);

// Writes our address as text: for a datagram the one that it was sent to, such as a group's. See ic_msg_peer_text.
//
// What the caller vouches for:
// As for ic_msg_peer_text.
int32_t ic_msg_local_text(const struct ic_msg *msg, char *buf, size_t cap, size_t *len);

// Writes the other side's address as a sockaddr_in or sockaddr_in6; a sockaddr_storage has room for both. `len` is
// told how long it is.
//
// Returns 0; 1 where no address is known; or IC_E_TOO_SMALL, and `len` says how much it would have been.
//
// What the caller vouches for:
// `msg` is a message; `buf` points to `cap` bytes, `len` to a number or is null.
int32_t ic_msg_peer_sockaddr(const struct ic_msg *msg, void *buf, size_t cap, size_t *len);

// Writes our address as a sockaddr_in or sockaddr_in6. See ic_msg_peer_sockaddr.
//
// What the caller vouches for:
// As for ic_msg_peer_sockaddr.
int32_t ic_msg_local_sockaddr(const struct ic_msg *msg, void *buf, size_t cap, size_t *len);

// Makes an HTTP request. A null `method` is GET, and a null or empty `target` is the URL's path and query.
//
// Returns 0 and the message in `out`, which ic_msg_free ends.
//
// What the caller vouches for:
// The texts end with a zero byte or are null; `out` points to a pointer.
int32_t ic_msg_new_request(const char *method, const char *target, struct ic_msg **out);

// Makes a message of another kind: IC_KIND_TEXT, IC_KIND_BINARY, IC_KIND_PING, IC_KIND_DATAGRAM.
//
// Returns 0 and the message in `out`, which ic_msg_free ends; or IC_E_BAD_MESSAGE.
//
// What the caller vouches for:
// `out` points to a pointer.
int32_t ic_msg_new(int32_t kind, struct ic_msg **out);

// Adds a header field.
//
// Returns 0, or IC_E_BAD_HEADER where its name or value would change the message's meaning.
//
// What the caller vouches for:
// `msg` is a message; `name` ends with a zero byte; `value` points to `len` bytes.
int32_t ic_msg_add_header(struct ic_msg *msg, const char *name, const uint8_t *value, size_t len);

// Sets the body to a copy of `len` bytes.
//
// Returns 0, or IC_E_NO_MEMORY.
//
// What the caller vouches for:
// `msg` is a message; `body` points to `len` bytes.
int32_t ic_msg_set_body(struct ic_msg *msg, const uint8_t *body, size_t len);

// Sets the body to `len` bytes of the caller's, which are not copied. They must not change before `release` is called
// with `user`; that happens once, in whatever thread lets go of them last, also where this call fails. A null
// `release` is for bytes that live as long as the program.
//
// `release` must not call functions of this library.
//
// What the caller vouches for:
// `msg` is a message; `body` points to `len` bytes; `release` may be called from any thread.
int32_t ic_msg_set_body_borrowed(struct ic_msg *msg, const uint8_t *body, size_t len, ic_release release, void *user);

// Sets flags: IC_FLAG_STREAMED and IC_FLAG_ANSWER_IN_PARTS can be.
//
// Returns 0, or IC_E_BAD_MESSAGE for others.
//
// What the caller vouches for:
// `msg` is a message.
int32_t ic_msg_set_flags(struct ic_msg *msg, uint32_t flags);

// Sets the network interface by which a multicast datagram leaves, by index; 0 is all that the group was joined on.
//
// What the caller vouches for:
// `msg` is a message.
int32_t ic_msg_set_interface(struct ic_msg *msg, uint32_t index);

// Returns a message's kind: one of IC_KIND_*; IC_KIND_NONE for what is not a message.
//
// What the caller vouches for:
// `msg` is null or a message.
int32_t ic_msg_kind(const struct ic_msg *msg);

// Returns a response's status code, or a close's code; 0 for others.
//
// What the caller vouches for:
// `msg` is null or a message.
int32_t ic_msg_status(const struct ic_msg *msg);

// Returns a message's flags: IC_FLAG_*.
//
// What the caller vouches for:
// `msg` is null or a message.
uint32_t ic_msg_flags(const struct ic_msg *msg);

// Returns the number of the exchange that a response answers; 0 for others.
//
// What the caller vouches for:
// `msg` is null or a message.
uint64_t ic_msg_exchange(const struct ic_msg *msg);

// Returns the index of the network interface by which a datagram came; 0 where it is not known.
//
// What the caller vouches for:
// `msg` is null or a message.
uint32_t ic_msg_interface(const struct ic_msg *msg);

// Returns when a message was complete, in ns on the clock of ic_now_ns; -1 for a message of one's own.
//
// What the caller vouches for:
// `msg` is null or a message.
int64_t ic_msg_received_ns(const struct ic_msg *msg);

// Returns a request's method, such as GET. It lives until the message is changed or freed.
//
// What the caller vouches for:
// `msg` is null or a message.
struct ic_slice ic_msg_method(const struct ic_msg *msg);

// Returns a request's target. It lives until the message is changed or freed.
//
// What the caller vouches for:
// `msg` is null or a message.
struct ic_slice ic_msg_target(const struct ic_msg *msg);

// Returns the body. It lives until the message is changed or freed; retain the message to keep it longer.
//
// What the caller vouches for:
// `msg` is null or a message.
struct ic_slice ic_msg_body(const struct ic_msg *msg);

// Returns the value of the first header field of a name, in any case of letters. Its pointer is null where there is
// none. It lives until the message is changed or freed.
//
// What the caller vouches for:
// `msg` is null or a message; `name` ends with a zero byte.
struct ic_slice ic_msg_header(const struct ic_msg *msg, const char *name);

// Returns how many header fields there are.
//
// What the caller vouches for:
// `msg` is null or a message.
size_t ic_msg_header_count(const struct ic_msg *msg);

// Tells a header field's name and value by its place, from 0. They live until the message is changed or freed.
//
// Returns 1, or 0 where there are not so many.
//
// What the caller vouches for:
// `msg` is null or a message; `name` and `value` point to slices.
int32_t ic_msg_header_at(const struct ic_msg *msg, size_t place, struct ic_slice *name, struct ic_slice *value);

// Returns the value of the first trailer field of a name, as ic_msg_header does.
//
// What the caller vouches for:
// `msg` is null or a message; `name` ends with a zero byte.
struct ic_slice ic_msg_trailer(const struct ic_msg *msg, const char *name);

// Returns how many trailer fields there are.
//
// What the caller vouches for:
// `msg` is null or a message.
size_t ic_msg_trailer_count(const struct ic_msg *msg);

// Tells a trailer field's name and value, as ic_msg_header_at does.
//
// What the caller vouches for:
// `msg` is null or a message; `name` and `value` point to slices.
int32_t ic_msg_trailer_at(const struct ic_msg *msg, size_t place, struct ic_slice *name, struct ic_slice *value);

// Makes another message with the same content, which can be changed. Its body is shared.
//
// Returns 0 and the message in `out`.
//
// What the caller vouches for:
// `msg` is a message; `out` points to a pointer.
int32_t ic_msg_copy(const struct ic_msg *msg, struct ic_msg **out);

// Makes options with their defaults; null where there is no memory. ic_options_free ends them.
struct ic_options *ic_options_new(void);

// Ends options. Connections that were opened with them are not affected. Null is fine.
//
// What the caller vouches for:
// `options` is null, or from ic_options_new and not freed before.
void ic_options_free(struct ic_options *options);

// Sets an option that is a number; see ic_opt.
//
// Returns 0, or IC_E_BAD_OPTION: there is no such option, or it cannot have this value.
//
// What the caller vouches for:
// `options` is from ic_options_new, and used by one thread at a time.
int32_t ic_options_set_int(struct ic_options *options, int32_t option, int64_t value);

// Sets an option that is text; see ic_opt. The text is copied.
//
// Returns 0, or IC_E_BAD_OPTION: there is no such option, or it cannot have this value.
//
// What the caller vouches for:
// As for ic_options_set_int; `value` ends with a zero byte.
int32_t ic_options_set_str(struct ic_options *options, int32_t option, const char *value);

// Sets an option that is bytes; see ic_opt. They are copied.
//
// Returns 0, or IC_E_BAD_OPTION: there is no such option, or it cannot have this value.
//
// What the caller vouches for:
// As for ic_options_set_int; `value` points to `len` bytes.
int32_t ic_options_set_bytes(struct ic_options *options, int32_t option, const uint8_t *value, size_t len);

// Sets an option that is a function, which is called with `user`; see ic_opt. A null function unsets it.
//
// Returns 0, or IC_E_BAD_OPTION: there is no such option.
//
// What the caller vouches for:
// As for ic_options_set_int; `callback` and `user` can be used as long as a connection that was opened with the
// options.
int32_t ic_options_set_cb(struct ic_options *options, int32_t option, ic_callback callback, void *user);

// Returns the interface's version that the library has: (major << 16) | minor. It is another number than the
// library's own version.
uint32_t ic_abi_version(void);

// Says whether a program that was compiled with the header of version `wanted` can use this library. Call it first,
// with IC_ABI_VERSION.
//
// Returns 0, or IC_E_ABI_MISMATCH: another major version, or a library that is older than the header.
int32_t ic_check_abi(uint32_t wanted);

// Returns the library's name and version as text that lives as long as the program.
const char *ic_version_string(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* IOLITE_CONN_H */
