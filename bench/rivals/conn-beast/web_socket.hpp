// Binary messages.

#pragma once

#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>

#include "course.hpp"
#include "http.hpp"
#include "tls.hpp"

namespace websocket = boost::beast::websocket;

template <class Stream>
void exchange_messages(Stream stream, const Command& command, Course& course) {
    websocket::stream<Stream> socket{std::move(stream)};
    beast::flat_buffer buffer;
    if (command.tuned) {
        socket.write_buffer_bytes(kRoom);
        buffer.reserve(kRoom);
    }
    socket.handshake(kHost, "/echo");
    socket.binary(true);
    course.begin();
    while (course.goes_on()) {
        socket.write(asio::buffer(course.message()));
        socket.read(buffer);
        course.accept(buffer.data().data(), buffer.size());
        buffer.consume(buffer.size());
    }
}
