// boost::beast and boost::asio as a contender of `bench conn`: synchronous, on the caller's thread.
//
// `natural` is the code of Beast's own examples; `tuned` keeps what can be kept from one exchange to the next and gives
// Beast buffers of 64 KiB. Without --peer, HTTP and WebSocket are echoed by Beast in another thread (peer.hpp). The command
// line and the line of JSON at the end are those of `bench_peer::conn`.

#include <exception>
#include <iostream>

#include "command.hpp"
#include "datagram.hpp"
#include "http.hpp"
#include "peer.hpp"
#include "tls.hpp"
#include "web_socket.hpp"

namespace {

template <class Stream>
void exchange_over(Stream stream, const Command& command, Course& course) {
    if (command.is_web_socket()) {
        exchange_messages(std::move(stream), command, course);
    } else {
        exchange_requests(stream, command, course);
    }
}

void run(const Command& command, Course& course) {
    asio::io_context context;
    if (command.is_datagram()) {
        exchange_datagrams(context, command, course);
        return;
    }
    const auto peer = command.has_peer() ? command.peer : start_peer(command, course.gauge());
    const auto port = static_cast<unsigned short>(std::stoi(peer.substr(peer.rfind(':') + 1)));
    tcp::socket socket{context};
    socket.connect({asio::ip::address_v4::loopback(), port});
    socket.set_option(tcp::no_delay{true});
    if (command.is_secure()) {
        auto tls = client_context(command);
        exchange_over(secured(std::move(socket), tls), command, course);
    } else {
        exchange_over(std::move(socket), command, course);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const auto command = Command::parse(argc, argv);
        Course course{command};
        run(command, course);
        course.print_report();
        // The peer's thread ends with the process.
        std::cout.flush();
        std::_Exit(EXIT_SUCCESS);
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        std::_Exit(EXIT_FAILURE);
    }
}
