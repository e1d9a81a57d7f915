"""Options by name.

Each keyword is the name of one of the C interface's IC_OPT_*, in lower case and without the prefix. Times, which there
end with _NS, are seconds here, without that ending; None is "no limit". Options that may be set several times take a
list.
"""

from ._native import ffi, lib
from .errors import check

_NUMBERS = {
    name.removeprefix("IC_OPT_").lower(): number for number, name in ffi.typeof("enum ic_opt").elements.items()
}
_TIMES = {name.removesuffix("_ns"): number for name, number in _NUMBERS.items() if name.endswith("_ns")}
_MODES = {"park": lib.IC_RECEIVE_PARK, "poll": lib.IC_RECEIVE_POLL, "spin": lib.IC_RECEIVE_SPIN}

NAMES = {name for name in _NUMBERS if not name.endswith("_ns")} | set(_TIMES)


def nanoseconds(seconds):
    """Turns seconds into what the library understands; None is its default."""
    return -1 if seconds is None else max(0, int(seconds * 1_000_000_000))


class Options:
    """Options for the library, and the callbacks that they refer to."""

    def __init__(self, chosen):
        self.pointer = ffi.gc(lib.ic_options_new(), lib.ic_options_free)
        self.kept = []
        for name, value in chosen.items():
            self._set(name, value)

    def _set(self, name, value):
        if isinstance(value, (list, tuple)):
            for each in value:
                self._set(name, each)
            return
        if name == "receive_mode":
            value = self._mode(value)
        if name in _TIMES:
            number, value = _TIMES[name], nanoseconds(value)
        elif name in _NUMBERS and not name.endswith("_ns"):
            number = _NUMBERS[name]
        else:
            raise TypeError(f"there is no option {name!r}")
        if value is None:
            value = -1
        if isinstance(value, int):
            check(lib.ic_options_set_int(self.pointer, number, value))
        elif isinstance(value, str):
            check(lib.ic_options_set_str(self.pointer, number, value.encode()))
        elif callable(value):
            check(lib.ic_options_set_cb(self.pointer, number, self._callback(value), ffi.NULL))
        else:
            buffer = ffi.from_buffer("uint8_t[]", value)
            check(lib.ic_options_set_bytes(self.pointer, number, buffer, len(buffer)))

    def _mode(self, mode):
        """Understands `park`, `poll`, `spin` and `spin:50us`."""
        if not isinstance(mode, str):
            return mode
        name, _, budget = mode.partition(":")
        if name not in _MODES or (budget and not budget.endswith("us")):
            raise ValueError(f"{mode!r} is not a receive mode: park, poll, spin or spin:50us")
        if budget:
            check(lib.ic_options_set_int(self.pointer, lib.IC_OPT_SPIN_NS, int(budget.removesuffix("us")) * 1000))
        return _MODES[name]

    def _callback(self, function):
        @ffi.callback("void(void *, int32_t, const char *, size_t)")
        def call(_user, what, text, length):
            function(what, ffi.unpack(text, length).decode("latin-1") if length else "")

        self.kept.append(call)
        return call
