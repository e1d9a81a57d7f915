// The command line of a contender.

#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

struct Command {
    std::string scheme;
    std::size_t size = 0;
    bool tuned = false;
    std::string peer;
    std::string identity;
    std::chrono::milliseconds warmup{100};
    std::chrono::milliseconds time{1000};

    static Command parse(int argc, char** argv) {
        if (argc < 2 || std::string{argv[1]} != "client") {
            throw std::invalid_argument{"this contender is a client only"};
        }
        Command command;
        for (int at = 2; at + 1 < argc; at += 2) {
            command.take(argv[at], argv[at + 1]);
        }
        return command;
    }

    bool has_peer() const { return !peer.empty(); }
    bool is_secure() const { return scheme == "https" || scheme == "wss"; }
    bool is_web_socket() const { return scheme == "ws" || scheme == "wss"; }
    bool is_datagram() const { return scheme == "udp" || scheme == "udp_multicast"; }
    bool is_multicast() const { return scheme == "udp_multicast"; }

private:
    void take(const std::string& name, const std::string& value) {
        if (name == "--scheme") {
            scheme = value;
        } else if (name == "--size") {
            size = std::stoul(value);
        } else if (name == "--mode") {
            tuned = value == "tuned";
        } else if (name == "--peer") {
            peer = value;
        } else if (name == "--identity") {
            identity = value;
        } else if (name == "--warmup-ms") {
            warmup = std::chrono::milliseconds{std::stol(value)};
        } else if (name == "--time-ms") {
            time = std::chrono::milliseconds{std::stol(value)};
        } else {
            throw std::invalid_argument{"unknown option " + name};
        }
    }
};
