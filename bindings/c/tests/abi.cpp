// The header is C++, too.

#include <cstring>
#include <iolite_conn.h>
#include <type_traits>

static_assert(std::is_standard_layout_v<ic_error> && std::is_trivially_copyable_v<ic_error>);
static_assert(std::is_same_v<std::underlying_type_t<ic_opt>, int32_t>);
static_assert(std::is_same_v<decltype(&ic_check_abi), int32_t (*)(uint32_t)>);

int main() {
    return ic_check_abi(IC_ABI_VERSION) == IC_OK && std::strlen(ic_version_string()) > 0 ? 0 : 1;
}
