#!/usr/bin/env bash
# Fetches what the lab boots: a QEMU that has igb, one Debian kernel per line that behaves differently, and irqbalance.
# Of these only QEMU is installed: the image and the modules below, irqbalance and its libraries are unpacked into the
# cache.
# Run again it does nothing and asks the network nothing.
#
#   NETSTEER_CACHE         where to keep them            (default ~/.cache/netsteer)
#   NETSTEER_LAB_KERNELS   which kernels                 (default "6.1 6.12 6.18")
set -euo pipefail

kernels=${NETSTEER_LAB_KERNELS:-6.1 6.12 6.18}
cache=${NETSTEER_CACHE:-$HOME/.cache/netsteer}/lab
modules='dca i2c-algo-bit igb failover net_failover virtio_net e1000e vmxnet3 pktgen
  virtio virtio_ring virtio_pci virtio_pci_modern_dev virtio_pci_legacy_dev
  veth bonding tls 8021q mrp garp stp llc macvlan ifb dummy 9p 9pnet 9pnet_virtio netfs fscache'

say() { printf 'lab: %s\n' "$*"; }
die() { printf 'lab: %s\n' "$*" >&2; exit 1; }

[ "$(uname -m)" = x86_64 ] || die "the guests are x86-64 with its kernels and QEMU; this machine is $(uname -m)"

qemu_has_igb() { command -v qemu-system-x86_64 >/dev/null && qemu-system-x86_64 -device help 2>/dev/null | grep -q '"igb"'; }

# A kernel is complete when its version file is there: it is written last.
missing=
for k in $kernels; do
  [ -s "$cache/kernel-$k/version" ] || missing+=" $k"
done
need_qemu=
qemu_has_igb || need_qemu=1
need_irqbalance=
[ -x "$cache/irqbalance/usr/sbin/irqbalance" ] || need_irqbalance=1

if [ -n "$missing$need_qemu$need_irqbalance" ]; then
  mkdir -p "$cache"
  # Two runs at once would write into one another's directories; the second finds everything there.
  if [ -z "${NETSTEER_LAB_LOCKED:-}" ]; then NETSTEER_LAB_LOCKED=1 exec flock "$cache/.lock" "$0" "$@"; fi
  wants="QEMU 10 or newer with igb; Debian's linux-image packages of$missing, and irqbalance, under $cache"
  command -v apt-get >/dev/null || die "no apt-get here; needed by hand: $wants"
  # Installing QEMU needs root; unpacking kernels does not.
  [ -z "$need_qemu" ] || [ "$(id -u)" = 0 ] || die "no QEMU with igb here, and not root: run this once as root, or install QEMU 10 or newer"
  for tool in xz:xz-utils zstd:zstd; do
    command -v "${tool%:*}" >/dev/null || { [ "$(id -u)" = 0 ] && apt-get -qq update && apt-get -qq install -y "${tool#*:}" >/dev/null; } ||
      die "${tool%:*} is missing: apt-get install ${tool#*:}"
  done

  # The mirrors are this machine's own: the first archive that is not the security one, and the security one.
  uris=$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null | awk '/^URIs:/ {for (i = 2; i <= NF; i++) print $i}'
         cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | awk '$1 == "deb" {for (i = 2; i <= NF; i++) if ($i ~ "^[a-z+]+://") print $i}') || true
  main=$(grep -E '/debian/?$' <<<"$uris" | head -n 1 || true)
  security=$(grep -E '/debian-security/?$' <<<"$uris" | head -n 1 || true)
  [ -n "$main" ] || die "no Debian mirror among this machine's apt sources; needed by hand: $wants"
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")

  # The sources are private to this script, so that the machine's own choice of packages stays as it was.
  apt=$cache/apt
  mkdir -p "$apt/lists/partial" "$apt/archives/partial"
  {
    for s in "$codename" "$codename-updates" "$codename-backports" bookworm bookworm-backports trixie-backports; do
      echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $main $s main"
    done
    for s in "$codename-security" bookworm-security; do
      [ -z "$security" ] || echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $security $s main"
    done
  } | awk '!seen[$0]++' >"$apt/sources.list"
  options=(-qq -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$apt/lists"
    -o Dir::Cache::archives="$apt/archives" -o Acquire::Languages=none -o APT::Sandbox::User=root -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120)
  # A suite that this mirror lacks is no reason to stop: what is missing in the end is named below.
  apt-get "${options[@]}" update || say 'not every suite could be read, going on'

  install_qemu() {
    DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install -y --no-install-recommends -t "$codename-backports" qemu-system-x86 >"$apt/qemu.log" 2>&1 ||
      { tail -n 5 "$apt/qemu.log" >&2; die "QEMU was not installed, see $apt/qemu.log"; }
    qemu_has_igb || die "QEMU is installed but has no igb: 8.0 or newer is needed, $codename-backports has none"
  }

  # The newest package of that line: the metapackage moves on to newer lines, the packages stay.
  package_of() {
    apt-cache "${options[@]}" pkgnames "linux-image-$1." | grep -E "^linux-image-${1//./\\.}\.[0-9].*-amd64$" |
      grep -vE -- '-(cloud|rt|dbg|unsigned)' | sort -V | tail -n 1
  }

  # Gives the ELF image inside a bzImage (Documentation/arch/x86/boot.rst: setup_sects, payload_offset,
  # payload_length; the last 4 bytes are the unpacked size). QEMU boots it by its PVH note: an emulated CPU would
  # take 5 to 10 s to unpack it.
  unpack_image() {
    local sectors offset length
    set +o pipefail # head ends before tail does
    sectors=$(od -An -tu1 -j497 -N1 "$1")
    offset=$(od -An -tu4 -j584 -N4 "$1")
    length=$(od -An -tu4 -j588 -N4 "$1")
    payload() { tail -c +$(((sectors + 1) * 512 + offset + 1)) "$1" | head -c $((length - 4)); }
    case $(payload "$1" 2>/dev/null | head -c 4 | od -An -tx1 | tr -d ' ') in
      fd377a58) payload "$1" | xz -dc ;;
      28b52ffd) payload "$1" | zstd -dc ;;
      *) say "$1 is packed in a way not known here" >&2; return 1 ;;
    esac
  }

  fetch_kernel() {
    local line=$1 package work final=$cache/kernel-$1
    package=$(package_of "$line") || true
    [ -n "$package" ] || die "no linux-image package of $line in any suite; give NETSTEER_LAB_KERNELS what there is"
    # From 7.x on the image package is empty and names the ones that hold the image and the modules.
    local parts
    parts=$(apt-cache "${options[@]}" depends "$package" | awk '$1 == "Depends:" && $2 ~ /^linux-(binary|modules)-[0-9]/ {print $2}')
    work=$(mktemp -d "$cache/.kernel-$line.XXXXXX")
    # shellcheck disable=SC2086 # one word a package
    (cd "$work" && apt-get "${options[@]}" download "$package" $parts >/dev/null) || die "downloading $package failed"
    local patterns=('*/vmlinuz*')
    for m in $modules; do patterns+=("*/$m.ko" "*/$m.ko.*"); done
    # tar complains about each pattern that matches nothing: kernels differ in what is built in.
    local deb image
    for deb in "$work"/*.deb; do
      dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$work" --wildcards "${patterns[@]}" 2>/dev/null || true
    done
    image=$(find "$work" -type f -name 'vmlinuz*' | head -n 1)
    [ -s "$image" ] || die "$package holds no vmlinuz"
    mkdir -p "$work/out/modules"
    (unpack_image "$image") >"$work/out/vmlinux" && [ "$(head -c 4 "$work/out/vmlinux")" = $'\x7fELF' ] || die "the image of $package could not be unpacked"
    # Decompressed here once: the guest's own PID 1 then needs no decompressor.
    find "$work" -path "$work/out" -prune -o -name '*.ko.xz' -exec xz -dq {} +
    find "$work" -path "$work/out" -prune -o -name '*.ko' -exec mv -t "$work/out/modules" {} +
    [ -s "$work/out/modules/igb.ko" ] && [ -s "$work/out/modules/virtio_net.ko" ] || die "$package holds no igb or no virtio_net module"
    dpkg-deb -f "$work/${package}_"*.deb Package Version | paste -sd' ' | sed 's/Package: linux-image-//; s/Version: //' >"$work/out/version"
    rm -rf "$final"
    mv "$work/out" "$final"
    rm -rf "$work"
  }

  # Its libraries go with it, apart from the C library, which the guest has from this machine.
  fetch_irqbalance() {
    local work list=irqbalance package more
    for ((i = 0; i < $(wc -w <<<"$list"); i++)); do
      package=$(cut -d' ' -f$((i + 1)) <<<"$list")
      # Of alternatives, which "|" marks, the first.
      more=$(apt-cache "${options[@]}" depends -i "$package" |
        awk '$1 ~ /^\|?Depends:$/ {if (!other && $2 ~ /^lib/ && $2 != "libc6") print $2; other = $1 ~ /^\|/}')
      for package in $more; do
        [[ " $list " == *" $package "* ]] || list+=" $package"
      done
    done
    work=$(mktemp -d "$cache/.irqbalance.XXXXXX")
    # shellcheck disable=SC2086 # one word a package
    (cd "$work" && apt-get "${options[@]}" download $list >/dev/null) || die "downloading irqbalance failed"
    for package in "$work"/*.deb; do
      dpkg-deb --fsys-tarfile "$package" | tar -x -C "$work" --wildcards '*/sbin/irqbalance' '*/lib/x86_64-linux-gnu/lib*' 2>/dev/null || true
    done
    rm -f "$work"/*.deb
    [ -x "$work/usr/sbin/irqbalance" ] || die "the package irqbalance holds no /usr/sbin/irqbalance"
    rm -rf "$cache/irqbalance"
    mv "$work" "$cache/irqbalance"
  }

  # All at once: downloads wait for the network while another one unpacks.
  jobs=()
  if [ -n "$need_qemu" ]; then install_qemu & jobs+=($!); fi
  if [ -n "$need_irqbalance" ]; then fetch_irqbalance & jobs+=($!); fi
  for k in $missing; do fetch_kernel "$k" & jobs+=($!); done
  failed=
  for j in "${jobs[@]}"; do wait "$j" || failed=1; done
  rm -rf "$apt/archives" "$cache"/.kernel-* "$cache"/.irqbalance.*
  [ -z "$failed" ] || die 'not everything is there, see above'
fi

say "$(qemu-system-x86_64 --version | head -n 1)"
for k in $kernels; do say "kernel $k: $(cat "$cache/kernel-$k/version")"; done
