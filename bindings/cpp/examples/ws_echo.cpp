// Talks to a WebSocket that echoes, with exceptions, and cancels a wait from another thread.
//
//     c++ -std=c++17 ws_echo.cpp $(pkg-config --cflags --libs iolite_conn) -o ws_echo

#define IOLITE_CONN_EXCEPTIONS
#include <cstdio>
#include <exception>
#include <iolite_conn.hpp>
#include <thread>

static void talk(const char *url) {
    using namespace std::chrono_literals;
    iolite::Options options;
    options.set(IC_OPT_WAKEABLE, true).set(IC_OPT_DEFLATE, 6);
    iolite::Connection connection = iolite::Connection::open_or_throw(url, options);
    connection.connect_or_throw(5s);
    for (const char *text : {"one", "two", "three"}) {
        connection.send_or_throw(IC_KIND_TEXT, text);
        const iolite::Message answer = connection.recv_or_throw(5s);
        std::printf("%.*s\n", static_cast<int>(answer.text().size()), answer.text().data());
    }

    std::thread other([&connection] {
        std::this_thread::sleep_for(50ms);
        connection.cancel();
    });
    const auto nothing = connection.recv(10s);
    other.join();
    std::printf("%s\n", nothing.code() == IC_E_CANCELLED ? "cancelled" : "not cancelled");

    connection.close_or_throw(1000, "done", 2s);
    std::printf("closed with %d\n", static_cast<int>(connection.close_code().value_or(0)));
    try {
        connection.send_or_throw(IC_KIND_TEXT, "too late");
    } catch (const iolite::Exception &late) {
        std::printf("%s\n", late.what());
    }
}

int main(int argc, char **argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s URL\n", argv[0]);
        return 2;
    }
    try {
        talk(argv[1]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
