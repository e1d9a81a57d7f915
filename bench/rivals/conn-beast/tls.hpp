// TLS 1.3 by OpenSSL, with the identity of the benchmark's peers.

#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/ssl.hpp>

#include "command.hpp"

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace ssl = boost::asio::ssl;
using tcp = boost::asio::ip::tcp;
using Secured = beast::ssl_stream<tcp::socket>;

constexpr const char* kHost = "localhost";

inline ssl::context client_context(const Command& command) {
    ssl::context context{ssl::context::tlsv13_client};
    context.load_verify_file(command.identity + "/certificate.pem");
    context.set_verify_mode(ssl::verify_peer);
    return context;
}

inline ssl::context server_context(const Command& command) {
    ssl::context context{ssl::context::tlsv13_server};
    context.use_certificate_file(command.identity + "/certificate.pem", ssl::context::pem);
    context.use_private_key_file(command.identity + "/key.pem", ssl::context::pem);
    return context;
}

// Shakes hands as a client.
inline Secured secured(tcp::socket socket, ssl::context& context) {
    Secured stream{std::move(socket), context};
    SSL_set_tlsext_host_name(stream.native_handle(), kHost);
    stream.set_verify_callback(ssl::host_name_verification{kHost});
    stream.handshake(ssl::stream_base::client);
    return stream;
}
