// Requests with the message as their body.

#pragma once

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "course.hpp"
#include "tls.hpp"

namespace http = boost::beast::http;

// The room for received bytes of whoever is tuned.
constexpr std::size_t kRoom = 64 * 1024;

inline http::request<http::string_body> request_of(const std::string& message) {
    http::request<http::string_body> request{http::verb::post, "/echo", 11};
    request.set(http::field::host, kHost);
    request.body() = message;
    request.prepare_payload();
    return request;
}

template <class Stream>
void exchange_naturally(Stream& stream, Course& course) {
    beast::flat_buffer buffer;
    while (course.goes_on()) {
        auto request = request_of(course.message());
        http::write(stream, request);
        http::response<http::string_body> response;
        http::read(stream, buffer, response);
        course.accept(response.body().data(), response.body().size());
    }
}

template <class Stream>
void exchange_tuned(Stream& stream, Course& course) {
    beast::flat_buffer buffer;
    buffer.reserve(kRoom);
    const auto request = request_of(course.message());
    std::string body;
    while (course.goes_on()) {
        http::write(stream, request);
        // The body of the last response lends its memory to this one.
        http::response_parser<http::string_body> parser;
        parser.get().body() = std::move(body);
        parser.get().body().clear();
        http::read(stream, buffer, parser);
        body = std::move(parser.get().body());
        course.accept(body.data(), body.size());
    }
}

template <class Stream>
void exchange_requests(Stream& stream, const Command& command, Course& course) {
    course.begin();
    if (command.tuned) {
        exchange_tuned(stream, course);
    } else {
        exchange_naturally(stream, course);
    }
}
