// A C++17 facade of libiolite_conn, header only: RAII, std::chrono deadlines, views, and Result<T> instead of codes.
//
// It works with -fno-exceptions -fno-rtti. With IOLITE_CONN_EXCEPTIONS defined, there are functions that throw as well:
// each is named as the one that returns a Result<T>, with _or_throw behind.
//
// A Connection is used by one thread at a time, but for wake() and cancel(). Views (std::string_view, iolite::bytes)
// live as long as the Message that they came from.

#ifndef IOLITE_CONN_HPP
#define IOLITE_CONN_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iolite_conn.h>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#if defined(__has_include) && __cplusplus >= 202002L
#if __has_include(<span>)
#include <span>
#endif
#endif
#ifdef IOLITE_CONN_EXCEPTIONS
#include <stdexcept>
#endif

namespace iolite {

// Bytes that belong to somebody else.
class bytes {
  public:
    constexpr bytes() noexcept = default;
    constexpr bytes(const std::uint8_t *data, std::size_t size) noexcept : data_(data), size_(size) {}
    bytes(const void *data, std::size_t size) noexcept : data_(static_cast<const std::uint8_t *>(data)), size_(size) {}
    bytes(std::string_view text) noexcept : bytes(static_cast<const void *>(text.data()), text.size()) {}
    bytes(const std::string &text) noexcept : bytes(std::string_view(text)) {}
    bytes(const char *text) noexcept : bytes(std::string_view(text)) {}
#ifdef __cpp_lib_span
    bytes(std::span<const std::byte> data) noexcept : bytes(static_cast<const void *>(data.data()), data.size()) {}
    operator std::span<const std::byte>() const noexcept {
        return {reinterpret_cast<const std::byte *>(data_), size_};
    }
#endif

    constexpr const std::uint8_t *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr const std::uint8_t *begin() const noexcept { return data_; }
    constexpr const std::uint8_t *end() const noexcept { return data_ + size_; }
    std::string_view text() const noexcept { return {reinterpret_cast<const char *>(data_), size_}; }

  private:
    const std::uint8_t *data_ = nullptr;
    std::size_t size_ = 0;
};

// What went wrong: a code (IC_E_*), the phase (IC_PHASE_*), and what else is known.
class Error {
  public:
    Error() noexcept = default;
    explicit Error(const ic_error &error) : error_(error) {}

    // The last error of a handle, or of this thread where there is none.
    static Error last(const ic_conn *conn, std::int32_t code) noexcept {
        Error error;
        if (ic_last_error(conn, &error.error_) != IC_OK || error.error_.code != code) {
            // The handle itself could not be used, so that the thread was told.
            error.error_.code = 0;
            ic_last_error(nullptr, &error.error_);
        }
        if (error.error_.code != code) {
            error = Error();
            error.error_.code = code;
        }
        return error;
    }

    std::int32_t code() const noexcept { return error_.code; }
    std::int32_t phase() const noexcept { return error_.phase; }
    std::int32_t os_errno() const noexcept { return error_.os_errno; }
    // -1 where the peer sent none.
    std::int32_t tls_alert() const noexcept { return error_.tls_alert; }
    // 0 where there was none.
    std::int32_t http_status() const noexcept { return error_.http_status; }
    bool is_transient() const noexcept { return ic_is_transient(error_.code) != 0; }
    const char *phase_name() const noexcept { return ic_phase_name(error_.phase); }
    // A sentence for a person.
    const char *what() const noexcept { return error_.msg[0] != '\0' ? error_.msg : ic_strerror(error_.code); }

  private:
    static ic_error none() noexcept {
        ic_error error{};
        error.struct_size = sizeof error;
        error.tls_alert = -1;
        return error;
    }

    ic_error error_ = none();
};

#ifdef IOLITE_CONN_EXCEPTIONS
// An Error that is thrown.
class Exception : public std::runtime_error {
  public:
    explicit Exception(const Error &error) : std::runtime_error(error.what()), error_(error) {}
    const Error &error() const noexcept { return error_; }

  private:
    Error error_;
};
#endif

// A value, or why there is none. To ask for the one that is not there is undefined.
template <class T> class [[nodiscard]] Result {
  public:
    Result(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : is_ok_(true) {
        new (&value_) T(std::move(value));
    }
    Result(const Error &error) noexcept : is_ok_(false) { new (&error_) Error(error); }
    Result(Result &&other) noexcept(std::is_nothrow_move_constructible_v<T>) : is_ok_(other.is_ok_) {
        if (is_ok_) {
            new (&value_) T(std::move(other.value_));
        } else {
            new (&error_) Error(other.error_);
        }
    }
    Result(const Result &) = delete;
    Result &operator=(const Result &) = delete;
    Result &operator=(Result &&) = delete;
    ~Result() {
        if (is_ok_) {
            value_.~T();
        } else {
            error_.~Error();
        }
    }

    bool ok() const noexcept { return is_ok_; }
    explicit operator bool() const noexcept { return is_ok_; }
    std::int32_t code() const noexcept { return is_ok_ ? 0 : error_.code(); }
    T &value() & noexcept { return value_; }
    const T &value() const & noexcept { return value_; }
    T &&value() && noexcept { return std::move(value_); }
    T &operator*() & noexcept { return value_; }
    const T &operator*() const & noexcept { return value_; }
    T *operator->() noexcept { return &value_; }
    const T *operator->() const noexcept { return &value_; }
    const Error &error() const noexcept { return error_; }
    T value_or(T otherwise) && { return is_ok_ ? std::move(value_) : std::move(otherwise); }

#ifdef IOLITE_CONN_EXCEPTIONS
    T or_throw() && {
        if (!is_ok_) {
            throw Exception(error_);
        }
        return std::move(value_);
    }
#endif

  private:
    union {
        T value_;
        Error error_;
    };
    bool is_ok_;
};

// Success, or why not.
template <> class [[nodiscard]] Result<void> {
  public:
    Result() noexcept = default;
    Result(const Error &error) noexcept : error_(error) {}

    bool ok() const noexcept { return !error_.has_value(); }
    explicit operator bool() const noexcept { return ok(); }
    std::int32_t code() const noexcept { return error_ ? error_->code() : 0; }
    const Error &error() const noexcept { return *error_; }

#ifdef IOLITE_CONN_EXCEPTIONS
    void or_throw() && {
        if (error_) {
            throw Exception(*error_);
        }
    }
#endif

  private:
    std::optional<Error> error_;
};

// A deadline: nothing is the connection's own, zero is not to wait.
class Timeout {
  public:
    constexpr Timeout() noexcept = default;
    template <class Rep, class Period>
    constexpr Timeout(std::chrono::duration<Rep, Period> duration) noexcept
        : ns_(duration.count() < 0 ? 0 : std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count()) {}
    constexpr std::int64_t ns() const noexcept { return ns_; }

  private:
    std::int64_t ns_ = -1;
};

// A view of a message, which somebody else holds.
class MessageView {
  public:
    MessageView() noexcept = default;
    explicit MessageView(const ic_msg *msg) noexcept : msg_(msg) {}

    explicit operator bool() const noexcept { return msg_ != nullptr; }
    std::int32_t kind() const noexcept { return ic_msg_kind(msg_); }
    std::int32_t status() const noexcept { return ic_msg_status(msg_); }
    std::uint32_t flags() const noexcept { return ic_msg_flags(msg_); }
    bool has(std::uint32_t flag) const noexcept { return (flags() & flag) == flag; }
    std::uint64_t exchange() const noexcept { return ic_msg_exchange(msg_); }
    std::uint32_t interface_index() const noexcept { return ic_msg_interface(msg_); }
    std::string_view method() const noexcept { return view(ic_msg_method(msg_)); }
    std::string_view target() const noexcept { return view(ic_msg_target(msg_)); }
    bytes body() const noexcept {
        const ic_slice slice = ic_msg_body(msg_);
        return {slice.ptr, slice.len};
    }
    std::string_view text() const noexcept { return body().text(); }

    std::optional<std::string_view> header(const char *name) const noexcept { return found(ic_msg_header(msg_, name)); }
    std::optional<std::string_view> trailer(const char *name) const noexcept {
        return found(ic_msg_trailer(msg_, name));
    }
    // Calls `each` with the name and value of each header field, in order.
    template <class F> void each_header(F &&each) const {
        for (std::size_t place = 0, count = ic_msg_header_count(msg_); place < count; ++place) {
            ic_slice name{}, value{};
            if (ic_msg_header_at(msg_, place, &name, &value) != 0) {
                each(view(name), view(value));
            }
        }
    }

    // The other side's address, such as 192.0.2.7:80; empty where none is known.
    std::string peer() const { return address(ic_msg_peer_text); }
    std::string local() const { return address(ic_msg_local_text); }
    std::chrono::nanoseconds received() const noexcept { return std::chrono::nanoseconds(ic_msg_received_ns(msg_)); }

    const ic_msg *get() const noexcept { return msg_; }

  protected:
    static std::string_view view(ic_slice slice) noexcept {
        return {reinterpret_cast<const char *>(slice.ptr), slice.len};
    }
    static std::optional<std::string_view> found(ic_slice slice) noexcept {
        return slice.ptr == nullptr ? std::nullopt : std::optional(view(slice));
    }
    std::string address(std::int32_t (*tell)(const ic_msg *, char *, std::size_t, std::size_t *)) const {
        char text[64];
        std::size_t length = 0;
        return tell(msg_, text, sizeof text, &length) == IC_OK ? std::string(text, length) : std::string();
    }

    const ic_msg *msg_ = nullptr;
};

// A message of one's own. It can be moved; share() makes another holder of the same message.
class Message : public MessageView {
  public:
    Message() noexcept = default;
    // Takes over what a function of the C interface handed out.
    explicit Message(ic_msg *msg) noexcept : MessageView(msg) {}
    Message(Message &&other) noexcept : MessageView(std::exchange(other.msg_, nullptr)) {}
    Message &operator=(Message &&other) noexcept {
        if (this != &other) {
            ic_msg_free(release());
            msg_ = std::exchange(other.msg_, nullptr);
        }
        return *this;
    }
    Message(const Message &) = delete;
    Message &operator=(const Message &) = delete;
    ~Message() { ic_msg_free(release()); }

    static Result<Message> request(const char *method = nullptr, const char *target = nullptr) noexcept {
        ic_msg *msg = nullptr;
        const std::int32_t code = ic_msg_new_request(method, target, &msg);
        return made(code, msg);
    }
    static Result<Message> create(std::int32_t kind, bytes body) noexcept {
        ic_msg *msg = nullptr;
        std::int32_t code = ic_msg_new(kind, &msg);
        if (code == IC_OK) {
            code = ic_msg_set_body(msg, body.data(), body.size());
        }
        return made(code, msg);
    }
    static Result<Message> text(std::string_view text) noexcept { return create(IC_KIND_TEXT, text); }
    static Result<Message> binary(bytes body) noexcept { return create(IC_KIND_BINARY, body); }
    static Result<Message> datagram(bytes body) noexcept { return create(IC_KIND_DATAGRAM, body); }
    using MessageView::text;

    Result<void> add_header(const char *name, std::string_view value) noexcept {
        return done(ic_msg_add_header(mut(), name, reinterpret_cast<const std::uint8_t *>(value.data()), value.size()));
    }
    Result<void> set_body(bytes body) noexcept { return done(ic_msg_set_body(mut(), body.data(), body.size())); }
    // Has the message keep an owner of bytes, such as a std::string or std::vector, instead of copying them. The owner
    // is dropped in whatever thread lets go of the message last.
    template <class Owner> Result<void> set_body_owned(Owner &&owner) {
        using Kept = std::decay_t<Owner>;
        Kept *kept = new (std::nothrow) Kept(std::forward<Owner>(owner));
        if (kept == nullptr) {
            ic_error error{};
            error.struct_size = sizeof error;
            error.code = IC_E_NO_MEMORY;
            error.phase = IC_PHASE_ARGUMENTS;
            error.tls_alert = -1;
            return Error(error);
        }
        const auto drop = [](void *user, const std::uint8_t *, std::size_t) { delete static_cast<Kept *>(user); };
        const auto *data = reinterpret_cast<const std::uint8_t *>(kept->data());
        const std::size_t size = kept->size() * sizeof(*kept->data());
        return done(ic_msg_set_body_borrowed(mut(), data, size, drop, kept));
    }
    Result<void> set_flags(std::uint32_t flags) noexcept { return done(ic_msg_set_flags(mut(), flags)); }
    Result<void> set_interface(std::uint32_t index) noexcept { return done(ic_msg_set_interface(mut(), index)); }

    // Another holder of the same message, for another thread for example.
    Message share() const noexcept { return Message(ic_msg_retain(mut())); }
    // Gives the message away, to a function of the C interface.
    ic_msg *release() noexcept { return const_cast<ic_msg *>(std::exchange(msg_, nullptr)); }

  private:
    static Result<Message> made(std::int32_t code, ic_msg *msg) noexcept {
        Message message(msg);
        if (code != IC_OK) {
            return Error::last(nullptr, code);
        }
        return message;
    }
    static Result<void> done(std::int32_t code) noexcept {
        return code == IC_OK ? Result<void>() : Result<void>(Error::last(nullptr, code));
    }
    // What the C interface handed out is not const; a view of it is.
    ic_msg *mut() const noexcept { return const_cast<ic_msg *>(msg_); }
};

// How connections are to behave. Values that cannot be are told by set(), and the first of them by Connection::open.
class Options {
  public:
    Options() noexcept : options_(ic_options_new()) {}
    Options(Options &&other) noexcept
        : options_(std::exchange(other.options_, nullptr)), first_(std::move(other.first_)) {}
    Options &operator=(Options &&other) noexcept {
        std::swap(options_, other.options_);
        std::swap(first_, other.first_);
        return *this;
    }
    Options(const Options &) = delete;
    Options &operator=(const Options &) = delete;
    ~Options() { ic_options_free(options_); }

    template <class Number, std::enable_if_t<std::is_integral_v<Number> || std::is_enum_v<Number>, int> = 0>
    Options &set(ic_opt option, Number value) noexcept {
        return note(ic_options_set_int(options_, option, static_cast<std::int64_t>(value)));
    }
    template <class Rep, class Period>
    Options &set(ic_opt option, std::chrono::duration<Rep, Period> time) noexcept {
        return set(option, std::int64_t{std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()});
    }
    Options &set(ic_opt option, const char *text) noexcept { return note(ic_options_set_str(options_, option, text)); }
    Options &set_bytes(ic_opt option, bytes value) noexcept {
        return note(ic_options_set_bytes(options_, option, value.data(), value.size()));
    }
    Options &set(ic_opt option, ic_callback callback, void *user) noexcept {
        return note(ic_options_set_cb(options_, option, callback, user));
    }
    // The first value that was refused.
    const std::optional<Error> &error() const noexcept { return first_; }

    const ic_options *get() const noexcept { return options_; }

  private:
    Options &note(std::int32_t code) noexcept {
        if (code != IC_OK && !first_) {
            first_ = Error::last(nullptr, code);
        }
        return *this;
    }

    ic_options *options_;
    std::optional<Error> first_;
};

// What Connection::recv_into and request_into tell of a message whose body they copied.
struct Received {
    std::size_t size = 0;
    ic_info info{};
};

// A connection of any of the six schemes. It can be moved. Its end closes it without a word to the peer; close() is
// the polite way.
class Connection {
  public:
    Connection() noexcept = default;
    Connection(Connection &&other) noexcept : conn_(std::exchange(other.conn_, nullptr)) {}
    Connection &operator=(Connection &&other) noexcept {
        if (this != &other) {
            ic_free(conn_);
            conn_ = std::exchange(other.conn_, nullptr);
        }
        return *this;
    }
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;
    ~Connection() { ic_free(conn_); }

    // Makes a connection. Nothing is opened before connect() or the first message. A library with another interface
    // than this header's is refused.
    static Result<Connection> open(const char *url, const Options &options = {}) noexcept {
        if (const std::int32_t code = ic_check_abi(IC_ABI_VERSION); code != IC_OK) {
            return Error::last(nullptr, code);
        }
        if (options.error()) {
            return *options.error();
        }
        Connection connection;
        const std::int32_t code = ic_open(url, options.get(), &connection.conn_, nullptr);
        if (code != IC_OK) {
            return Error::last(nullptr, code);
        }
        return connection;
    }

    Result<void> connect(Timeout timeout = {}) noexcept { return done(ic_connect(conn_, timeout.ns())); }

    // Sends a message, and returns the number of a request's exchange.
    Result<std::uint64_t> send(const MessageView &message) noexcept {
        std::uint64_t exchange = 0;
        const std::int32_t code = ic_send(conn_, message.get(), &exchange);
        return with(code, std::move(exchange));
    }
    Result<void> send(std::int32_t kind, bytes body) noexcept {
        return done(ic_send_bytes(conn_, kind, body.data(), body.size()));
    }
    Result<void> send_text(std::string_view text) noexcept { return send(IC_KIND_TEXT, text); }
    Result<void> send_binary(bytes body) noexcept { return send(IC_KIND_BINARY, body); }
    Result<void> send_datagram(bytes body) noexcept { return send(IC_KIND_DATAGRAM, body); }

    Result<Message> recv(Timeout timeout = {}) noexcept {
        ic_msg *msg = nullptr;
        const std::int32_t code = ic_recv(conn_, timeout.ns(), &msg);
        return with(code, Message(msg));
    }
    // Copies the next message's body. With IC_E_TOO_SMALL the message is kept, and `needed` says its size.
    Result<Received> recv_into(void *buffer, std::size_t capacity, Timeout timeout = {},
                               std::size_t *needed = nullptr) noexcept {
        Received received;
        received.info.struct_size = sizeof received.info;
        const std::int32_t code = ic_recv_into(conn_, static_cast<std::uint8_t *>(buffer), capacity, &received.size,
                                               &received.info, timeout.ns());
        if (needed != nullptr) {
            *needed = received.size;
        }
        return with(code, std::move(received));
    }

    // Sends a message and receives what answers it.
    Result<Message> request(const MessageView &message, Timeout timeout = {}) noexcept {
        ic_msg *msg = nullptr;
        const std::int32_t code = ic_request(conn_, message.get(), timeout.ns(), &msg);
        return with(code, Message(msg));
    }
    Result<Message> get(const char *target = nullptr, Timeout timeout = {}) noexcept {
        Result<Message> message = Message::request("GET", target);
        return message ? request(*message, timeout) : Result<Message>(message.error());
    }
    Result<Message> post(const char *target, bytes body, Timeout timeout = {}) noexcept {
        Result<Message> message = Message::request("POST", target);
        if (message) {
            if (Result<void> set = message->set_body(body); !set) {
                return set.error();
            }
            return request(*message, timeout);
        }
        return message.error();
    }
    // Sends a request and copies its response's body, as recv_into() does.
    Result<Received> request_into(const char *method, const char *target, bytes body, void *buffer,
                                  std::size_t capacity, Timeout timeout = {}, std::size_t *needed = nullptr) noexcept {
        Received received;
        received.info.struct_size = sizeof received.info;
        const std::int32_t code =
            ic_request_into(conn_, method, target, body.data(), body.size(), static_cast<std::uint8_t *>(buffer),
                            capacity, &received.size, &received.info, timeout.ns());
        if (needed != nullptr) {
            *needed = received.size;
        }
        return with(code, std::move(received));
    }
    // Receives the response of an exchange that send() began.
    Result<Message> answer(std::uint64_t exchange, Timeout timeout = {}) noexcept {
        ic_msg *msg = nullptr;
        const std::int32_t code = ic_answer(conn_, exchange, timeout.ns(), &msg);
        return with(code, Message(msg));
    }
    Result<void> withdraw(std::uint64_t exchange) noexcept { return done(ic_withdraw(conn_, exchange)); }
    // Gives a message back, which makes the next one cheaper.
    void recycle(Message message) noexcept { ic_recycle(conn_, message.release()); }

    Result<void> send_part(bytes part, Timeout timeout = {}) noexcept {
        return done(ic_send_part(conn_, part.data(), part.size(), timeout.ns()));
    }
    Result<void> finish_body(const MessageView &trailers = MessageView(), Timeout timeout = {}) noexcept {
        return done(ic_finish_body(conn_, trailers.get(), timeout.ns()));
    }

    Result<void> close(std::int32_t code = 1000, const char *reason = nullptr, Timeout timeout = {}) noexcept {
        return done(ic_close(conn_, code, reason, timeout.ns()));
    }
    void abort() noexcept { ic_abort(conn_); }

    // Event loops: see ic_fd.
    int fd() noexcept { return ic_fd(conn_); }
    std::int32_t wants() noexcept { return ic_wants(conn_); }
    std::optional<std::chrono::nanoseconds> next_timeout() const noexcept {
        const std::int64_t ns = ic_next_timeout_ns(conn_);
        return ns < 0 ? std::nullopt : std::optional(std::chrono::nanoseconds(ns));
    }
    Result<void> process() noexcept { return done(ic_process(conn_)); }
    Result<void> begin() noexcept { return done(ic_begin(conn_)); }

    // From any thread, with IC_OPT_WAKEABLE.
    bool wake() const noexcept { return ic_wake(conn_) == IC_OK; }
    bool cancel() const noexcept { return ic_cancel(conn_) == IC_OK; }

    std::int32_t state() const noexcept { return ic_state(conn_); }
    std::optional<std::chrono::nanoseconds> rtt() const noexcept {
        const std::int64_t ns = ic_rtt_ns(conn_);
        return ns < 0 ? std::nullopt : std::optional(std::chrono::nanoseconds(ns));
    }
    // The WebSocket close code, once the connection has ended.
    std::optional<std::int32_t> close_code() const noexcept {
        std::int32_t code = 0;
        return ic_closed(conn_, &code, nullptr) != 0 ? std::optional(code) : std::nullopt;
    }

    ic_conn *get() const noexcept { return conn_; }

#ifdef IOLITE_CONN_EXCEPTIONS
    static Connection open_or_throw(const char *url, const Options &options = {}) {
        return open(url, options).or_throw();
    }
    void connect_or_throw(Timeout timeout = {}) { connect(timeout).or_throw(); }
    std::uint64_t send_or_throw(const MessageView &message) { return send(message).or_throw(); }
    void send_or_throw(std::int32_t kind, bytes body) { send(kind, body).or_throw(); }
    Message recv_or_throw(Timeout timeout = {}) { return recv(timeout).or_throw(); }
    Message request_or_throw(const MessageView &message, Timeout timeout = {}) {
        return request(message, timeout).or_throw();
    }
    Message get_or_throw(const char *target = nullptr, Timeout timeout = {}) { return get(target, timeout).or_throw(); }
    Message post_or_throw(const char *target, bytes body, Timeout timeout = {}) {
        return post(target, body, timeout).or_throw();
    }
    void close_or_throw(std::int32_t code = 1000, const char *reason = nullptr, Timeout timeout = {}) {
        close(code, reason, timeout).or_throw();
    }
#endif

  private:
    Result<void> done(std::int32_t code) const noexcept {
        return code == IC_OK ? Result<void>() : Result<void>(Error::last(conn_, code));
    }
    template <class T> Result<T> with(std::int32_t code, T &&value) const noexcept {
        if (code != IC_OK) {
            return Error::last(conn_, code);
        }
        return Result<T>(std::forward<T>(value));
    }

    ic_conn *conn_ = nullptr;
};

} // namespace iolite

#endif // IOLITE_CONN_HPP
