// The course of a client: one exchange after the other, first to warm up, then measured. The counterpart of
// `bench_peer::conn::Course`.

#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "command.hpp"

using Clock = std::chrono::steady_clock;

// The times between a request that has fully arrived and the start of its answer.
class Gauge {
public:
    void add(Clock::duration time) {
        nanos_ += static_cast<std::uint64_t>(std::chrono::nanoseconds{time}.count());
        ++answers_;
    }

    std::uint64_t nanos() const { return nanos_; }
    std::uint64_t answers() const { return answers_; }

private:
    std::atomic<std::uint64_t> nanos_{0};
    std::atomic<std::uint64_t> answers_{0};
};

class Course {
public:
    explicit Course(const Command& command)
        : message_{message_of(command.size)}, warmup_{command.warmup}, time_{command.time} {
        // Round trips of a small message come to a million in some seconds.
        samples_.reserve(1 << 20);
    }

    const std::string& message() const { return message_; }
    Gauge& gauge() { return gauge_; }

    // Begins to warm up.
    void begin() { warm_at_ = Clock::now() + warmup_; }

    // Whether there is another exchange.
    bool goes_on() {
        if (measures_) {
            return last_ < deadline_;
        }
        const auto now = Clock::now();
        if (now >= warm_at_) {
            measures_ = true;
            start_ = last_ = now;
            deadline_ = now + time_;
            nanos_before_ = gauge_.nanos();
            answers_before_ = gauge_.answers();
        }
        return true;
    }

    // Takes the echo that ends an exchange.
    void accept(const void* echo, std::size_t length) {
        std::size_t checked = 0;
        if (measures_) {
            const auto now = Clock::now();
            samples_.push_back(std::chrono::duration<float, std::micro>{now - last_}.count());
            last_ = now;
            checked = message_.size() - std::min(message_.size(), kLastBytes);
        }
        const auto* bytes = static_cast<const char*>(echo);
        if (length != message_.size() ||
            std::memcmp(bytes + checked, message_.data() + checked, length - checked) != 0) {
            throw std::runtime_error{"something else than the message came back"};
        }
    }

    void print_report() {
        const auto seconds = std::chrono::duration<double>{last_ - start_}.count();
        std::sort(samples_.begin(), samples_.end());
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        const auto answers = gauge_.answers() - answers_before_;
        std::cout << "{\"exchanges\":" << samples_.size() << ",\"seconds\":" << seconds
                  << ",\"mean\":" << seconds * 1e6 / static_cast<double>(samples_.size())
                  << ",\"rtt\":{\"p50\":" << quantile(0.5) << ",\"p95\":" << quantile(0.95)
                  << ",\"p99\":" << quantile(0.99) << ",\"max\":" << quantile(1.0) << "},\"server_cost\":";
        if (answers > 0) {
            std::cout << static_cast<double>(gauge_.nanos() - nanos_before_) / static_cast<double>(answers) / 1e3;
        } else {
            std::cout << "null";
        }
        std::cout << ",\"usage\":{\"peak_rss\":" << usage.ru_maxrss * 1024
                  << ",\"user_seconds\":" << seconds_of(usage.ru_utime)
                  << ",\"system_seconds\":" << seconds_of(usage.ru_stime) << "}}" << std::endl;
    }

private:
    static std::string message_of(std::size_t size) {
        std::uint64_t state = 0x9E3779B97F4A7C15;
        std::string bytes;
        bytes.reserve(size + sizeof state);
        while (bytes.size() < size) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.append(reinterpret_cast<const char*>(&state), sizeof state);
        }
        bytes.resize(size);
        return bytes;
    }

    double quantile(double share) const {
        if (samples_.empty()) {
            return 0;
        }
        const auto last = static_cast<double>(samples_.size() - 1);
        return static_cast<double>(samples_[static_cast<std::size_t>(share * last)]);
    }

    static double seconds_of(const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    }

    // How many bytes are compared in an echo that is measured.
    static constexpr std::size_t kLastBytes = 8;

    std::string message_;
    std::chrono::milliseconds warmup_;
    std::chrono::milliseconds time_;
    Gauge gauge_;
    bool measures_ = false;
    Clock::time_point warm_at_, start_, deadline_, last_;
    std::uint64_t nanos_before_ = 0, answers_before_ = 0;
    std::vector<float> samples_;
};
