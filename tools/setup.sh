# Sourced by ./run and ./test. `setup build` or `setup build test` installs the packages of those
# groups that are missing, and costs one dpkg-query when none is.

build_packages=(
    g++ cmake ninja-build ccache pkg-config
    libfmt-dev nlohmann-json3-dev libtomlplusplus-dev libcli11-dev
    libsqlite3-dev libssl-dev
    libdnnl-dev libhwloc-dev
    libgtest-dev libgmock-dev # small, and one build folder serves ./run and ./test
)

# The system decides which clang its packages offer. Formatting and lint rules differ from version to
# version, so those checks are pinned to 16 and are skipped with another.
. /etc/os-release
case "$ID-${VERSION_ID:-}" in
    debian-12 | ubuntu-24.04) clang=16 ;;
    debian-13) clang=19 ;;
    *) for clang in 16 19 18 17; do command -v "clang++-$clang" >/dev/null && break; done ;;
esac
test_packages=(
    git sqlite3 locales python3-jsonschema
    "clang-$clang" "libclang-rt-$clang-dev" "clang-format-$clang" "clang-tidy-$clang"
    python3-numpy libopenblas0-pthread # peers, to be compared with; and torch, which Ubuntu 24.04 lacks
)
if [ "$ID" != ubuntu ]; then test_packages+=(python3-torch); fi

say() { printf '%s\n' "$*" >&2; }

# The arguments that aren't installed packages, one a line.
missing_packages() {
    comm -23 <(printf '%s\n' "$@" | sort) \
        <(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null |
            sed -n 's/^ii  *//p' | sort)
}

setup() {
    local group wanted=() missing=() as_root=()
    for group in "$@"; do
        local -n packages="${group}_packages"
        wanted+=("${packages[@]}")
    done
    case "$ID-${VERSION_ID:-}" in
        debian-12 | debian-13 | ubuntu-24.04) ;;
        *)
            say "set-up knows Debian 12, Debian 13 and Ubuntu 24.04, not ${PRETTY_NAME:-$ID}: going on with" \
                "what is here. Needed, by Debian's names: ${wanted[*]}"
            return
            ;;
    esac
    mapfile -t missing < <(missing_packages "${wanted[@]}")
    [ ${#missing[@]} = 0 ] && return

    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || give_up "${missing[@]}"
        as_root=(sudo)
    fi
    say "installing ${missing[*]}"
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
    # One source that can't be reached must not stop the others: the install itself decides.
    "${as_root[@]}" update >&2 || true
    "${as_root[@]}" install --no-install-recommends "${missing[@]}" >&2 </dev/null || give_up "${missing[@]}"
}

give_up() {
    say "packages are missing and could not be installed from here"
    say "run as root: apt-get update && apt-get install --no-install-recommends $*"
    exit 1
}
