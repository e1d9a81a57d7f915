// Datagrams, unicast and multicast, by boost::asio. Groups are those of `bench_peer::conn::groups`.

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/multicast.hpp>
#include <boost/asio/ip/udp.hpp>

#include "course.hpp"
#include "tls.hpp"

using udp = boost::asio::ip::udp;

inline udp::endpoint peer_of(const Command& command) {
    const auto colon = command.peer.rfind(':');
    if (colon == std::string::npos) {
        throw std::invalid_argument{"datagrams need --peer"};
    }
    const auto port = static_cast<unsigned short>(std::stoi(command.peer.substr(colon + 1)));
    return {asio::ip::make_address(command.peer.substr(0, colon)), port};
}

inline void exchange_datagrams(asio::io_context& context, const Command& command, Course& course) {
    const auto peer = peer_of(command);
    std::vector<char> buffer(65536);
    udp::socket socket{context, udp::v4()};
    if (command.is_multicast()) {
        const auto answers = asio::ip::make_address_v4("239.255.77.2");
        const auto loopback = asio::ip::address_v4::loopback();
        socket.bind({answers, 0});
        socket.set_option(asio::ip::multicast::join_group{answers, loopback});
        socket.set_option(asio::ip::multicast::outbound_interface{loopback});
        socket.set_option(asio::ip::multicast::hops{0});
        socket.set_option(asio::ip::multicast::enable_loopback{true});
    } else {
        socket.bind({asio::ip::address_v4::loopback(), 0});
        socket.connect(peer);
    }
    course.begin();
    while (course.goes_on()) {
        if (command.is_multicast()) {
            socket.send_to(asio::buffer(course.message()), peer);
        } else {
            socket.send(asio::buffer(course.message()));
        }
        const auto length = socket.receive(asio::buffer(buffer));
        course.accept(buffer.data(), length);
    }
}
