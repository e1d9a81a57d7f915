// A peer as people write it with Beast: a thread that echoes what it reads.

#pragma once

#include <memory>
#include <string>
#include <thread>

#include "course.hpp"
#include "http.hpp"
#include "tls.hpp"
#include "web_socket.hpp"

template <class Stream>
void echo_requests(Stream& stream, Gauge& gauge) {
    beast::flat_buffer buffer;
    for (;;) {
        http::request_parser<http::string_body> parser;
        parser.body_limit(boost::none);
        http::read(stream, buffer, parser);
        const auto arrived = Clock::now();
        const auto request = parser.release();
        http::response<http::string_body> response{http::status::ok, request.version()};
        response.set(http::field::content_type, "application/octet-stream");
        response.keep_alive(request.keep_alive());
        response.body() = request.body();
        response.prepare_payload();
        gauge.add(Clock::now() - arrived);
        http::write(stream, response);
    }
}

template <class Stream>
void echo_messages(Stream stream, Gauge& gauge) {
    websocket::stream<Stream> socket{std::move(stream)};
    socket.accept();
    beast::flat_buffer buffer;
    for (;;) {
        socket.read(buffer);
        const auto arrived = Clock::now();
        socket.text(socket.got_text());
        gauge.add(Clock::now() - arrived);
        socket.write(buffer.data());
        buffer.consume(buffer.size());
    }
}

template <class Stream>
void echo_over(Stream stream, const Command& command, Gauge& gauge) {
    if (command.is_web_socket()) {
        echo_messages(std::move(stream), gauge);
    } else {
        echo_requests(stream, gauge);
    }
}

// Starts the peer and returns its address. It lives as long as the process.
inline std::string start_peer(const Command& command, Gauge& gauge) {
    auto context = std::make_shared<asio::io_context>();
    auto acceptor =
        std::make_shared<tcp::acceptor>(*context, tcp::endpoint{asio::ip::address_v4::loopback(), 0});
    const auto port = acceptor->local_endpoint().port();
    std::thread{[context, acceptor, command, &gauge] {
        try {
            auto socket = acceptor->accept();
            socket.set_option(tcp::no_delay{true});
            if (!command.is_secure()) {
                echo_over(std::move(socket), command, gauge);
                return;
            }
            auto tls = server_context(command);
            Secured stream{std::move(socket), tls};
            stream.handshake(ssl::stream_base::server);
            echo_over(std::move(stream), command, gauge);
        } catch (const std::exception&) {
            // The end of the connection, which the client notices.
        }
    }}.detach();
    return "127.0.0.1:" + std::to_string(port);
}
