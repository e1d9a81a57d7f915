// Fetches and posts, without exceptions and without run-time type information.
//
//     c++ -std=c++17 -fno-exceptions -fno-rtti get.cpp $(pkg-config --cflags --libs iolite_conn) -o get

#include <cstdio>
#include <iolite_conn.hpp>
#include <vector>

namespace {

int failed(const char *what, const iolite::Error &error) {
    std::fprintf(stderr, "%s: %s (code %d)\n", what, error.what(), static_cast<int>(error.code()));
    return 1;
}

void print(const iolite::MessageView &message) {
    std::printf("status %d from %s\n", static_cast<int>(message.status()), message.peer().c_str());
    message.each_header([](std::string_view name, std::string_view value) {
        std::printf("%.*s: %.*s\n", static_cast<int>(name.size()), name.data(), static_cast<int>(value.size()),
                    value.data());
    });
    std::printf("%.*s\n", static_cast<int>(message.body().size()), message.text().data());
}

} // namespace

int main(int argc, char **argv) {
    using namespace std::chrono_literals;
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s URL\n", argv[0]);
        return 2;
    }
    iolite::Options options;
    options.set(IC_OPT_TOTAL_TIMEOUT_NS, 10s).set(IC_OPT_USER_AGENT, "example/1").set(IC_OPT_KEEP_ALIVE, 1);
    auto opened = iolite::Connection::open(argv[1], options);
    if (!opened) {
        return failed("open", opened.error());
    }
    iolite::Connection connection = std::move(opened).value();

    auto answer = connection.get(nullptr, 5s);
    if (!answer) {
        return failed("get", answer.error());
    }
    print(*answer);
    connection.recycle(std::move(answer).value());

    // The body moves into the message, and is not copied.
    auto request = iolite::Message::request("POST", "/echo");
    if (!request) {
        return failed("message", request.error());
    }
    std::vector<char> body(40000, 'b');
    if (auto set = request->set_body_owned(std::move(body)); !set) {
        return failed("body", set.error());
    }
    if (auto added = request->add_header("X-Echo", "split\r\nX-Other: 1"); added || added.code() != IC_E_BAD_HEADER) {
        std::fprintf(stderr, "a header that is two was not refused\n");
        return 1;
    }
    auto echoed = connection.request(*request);
    if (!echoed) {
        return failed("post", echoed.error());
    }
    std::printf("%zu bytes came back\n", echoed->body().size());

    // Into memory of one's own; what does not fit is kept.
    char small[4];
    std::size_t needed = 0;
    auto copied = connection.request_into("POST", "/echo", "hello", small, sizeof small, {}, &needed);
    if (copied || copied.code() != IC_E_TOO_SMALL || needed != 5) {
        std::fprintf(stderr, "what does not fit was not told\n");
        return 1;
    }
    char large[16];
    auto kept = connection.recv_into(large, sizeof large, 0ns);
    if (!kept) {
        return failed("receive", kept.error());
    }
    std::printf("%.*s with status %d\n", static_cast<int>(kept->size), large, static_cast<int>(kept->info.status));
    return connection.close() ? 0 : 1;
}
