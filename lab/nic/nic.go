// Package nic sets up network devices by ioctl, on the host's taps and inside
// guests alike: the few calls that `ip` and `ethtool` would be needed for, and
// nothing of the product's own reading of the kernel.
package nic

import (
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Up brings the device up.
func Up(name string) error {
	request, err := unix.NewIfreq(name)
	if err != nil {
		return fmt.Errorf("device %q: %w", name, err)
	}
	return control(func(fd int) error {
		if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, request); err != nil {
			return fmt.Errorf("flags of %s: %w", name, err)
		}
		request.SetUint16(request.Uint16() | unix.IFF_UP)
		if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
			return fmt.Errorf("bringing %s up: %w", name, err)
		}
		return nil
	})
}

// renameRequest is the struct ifreq of SIOCSIFNAME.
type renameRequest struct {
	name, to [unix.IFNAMSIZ]byte
	_        [8]byte
}

// Rename gives a device that is down another name.
func Rename(name, to string) error {
	if len(to) >= unix.IFNAMSIZ {
		return fmt.Errorf("device name %q is longer than %d bytes", to, unix.IFNAMSIZ-1)
	}
	request := renameRequest{}
	copy(request.name[:], name)
	copy(request.to[:], to)
	return control(func(fd int) error {
		if err := ioctl(fd, unix.SIOCSIFNAME, unsafe.Pointer(&request)); err != nil {
			return fmt.Errorf("renaming %s to %s: %w", name, to, err)
		}
		return nil
	})
}

// Address gives the device its one IPv4 address and the route that goes with
// it.
func Address(name string, prefix netip.Prefix) error {
	request, err := unix.NewIfreq(name)
	if err != nil {
		return fmt.Errorf("device %q: %w", name, err)
	}
	return control(func(fd int) error {
		if err := request.SetInet4Addr(prefix.Addr().AsSlice()); err != nil {
			return fmt.Errorf("address %s of %s: %w", prefix, name, err)
		}
		if err := unix.IoctlIfreq(fd, unix.SIOCSIFADDR, request); err != nil {
			return fmt.Errorf("address %s of %s: %w", prefix, name, err)
		}
		if err := request.SetInet4Addr(mask(prefix)); err != nil {
			return fmt.Errorf("mask of %s of %s: %w", prefix, name, err)
		}
		if err := unix.IoctlIfreq(fd, unix.SIOCSIFNETMASK, request); err != nil {
			return fmt.Errorf("mask of %s of %s: %w", prefix, name, err)
		}
		return nil
	})
}

// arpreq is struct arpreq of include/uapi/linux/if_arp.h.
type arpreq struct {
	protocol unix.RawSockaddrInet4
	hardware unix.RawSockaddr
	flags    int32
	netmask  unix.RawSockaddr
	device   [unix.IFNAMSIZ]byte
}

// Neighbour makes a permanent ARP entry on the device.
func Neighbour(name string, address netip.Addr, mac [6]byte) error {
	const complete, permanent = 0x02, 0x04 // ATF_COM, ATF_PERM
	request := arpreq{protocol: inet4(address), flags: complete | permanent}
	request.hardware.Family = unix.ARPHRD_ETHER
	for i, b := range mac {
		request.hardware.Data[i] = int8(b)
	}
	copy(request.device[:], name)
	return control(func(fd int) error {
		if err := ioctl(fd, unix.SIOCSARP, unsafe.Pointer(&request)); err != nil {
			return fmt.Errorf("neighbour %s on %s: %w", address, name, err)
		}
		return nil
	})
}

// rtentry is struct rtentry of include/uapi/linux/route.h on 64-bit machines.
type rtentry struct {
	_                  uint64
	to, gateway, netmk unix.RawSockaddrInet4
	flags              uint16
	_                  [3]uint16
	_                  [2]uint64
	metric             int16
	_                  [3]int16
	device             unsafe.Pointer
	mtu, window        uint64
	irtt               uint16
	_                  [3]uint16
}

// Route sends prefix through the gateway, which must be on a link already.
func Route(prefix netip.Prefix, gateway netip.Addr) error {
	const up, viaGateway = 0x1, 0x2 // RTF_UP, RTF_GATEWAY
	netmask := netip.AddrFrom4([4]byte(mask(prefix)))
	request := rtentry{to: inet4(prefix.Addr()), gateway: inet4(gateway), netmk: inet4(netmask), flags: up | viaGateway}
	return control(func(fd int) error {
		if err := ioctl(fd, unix.SIOCADDRT, unsafe.Pointer(&request)); err != nil {
			return fmt.Errorf("route to %s by %s: %w", prefix, gateway, err)
		}
		return nil
	})
}

// channels is struct ethtool_channels of include/uapi/linux/ethtool.h.
type channels struct {
	command                             uint32
	maxRX, maxTX, maxOther, maxCombined uint32
	rx, tx, other, combined             uint32
}

// ethtoolRequest is the struct ifreq of SIOCETHTOOL.
type ethtoolRequest struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [16]byte
}

// Combined sets the number of combined channels, unless it is that already:
// setting it anew would take the vectors down and up for nothing.
func Combined(name string, count int) error {
	const getChannels, setChannels = 0x3c, 0x3d // ETHTOOL_GCHANNELS, ETHTOOL_SCHANNELS
	now := channels{command: getChannels}
	request := ethtoolRequest{data: unsafe.Pointer(&now)}
	copy(request.name[:], name)
	return control(func(fd int) error {
		if err := ioctl(fd, unix.SIOCETHTOOL, unsafe.Pointer(&request)); err != nil {
			return fmt.Errorf("channels of %s: %w", name, err)
		}
		if now.combined == uint32(count) {
			return nil
		}
		now.command, now.combined = setChannels, uint32(count)
		if err := ioctl(fd, unix.SIOCETHTOOL, unsafe.Pointer(&request)); err != nil {
			return fmt.Errorf("setting %s to %d combined channels (of %d): %w", name, count, now.maxCombined, err)
		}
		return nil
	})
}

// control runs f with a socket of the present network namespace: which one an
// ioctl is put to decides where its device names are looked up.
func control(f func(fd int) error) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket for ioctl: %w", err)
	}
	defer unix.Close(fd)
	return f(fd)
}

func ioctl(fd int, request uintptr, argument unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}

func inet4(address netip.Addr) unix.RawSockaddrInet4 {
	return unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: address.As4()}
}

func mask(prefix netip.Prefix) []byte {
	bits := ^uint32(0) << (32 - prefix.Bits())
	if prefix.Bits() == 0 {
		bits = 0
	}
	return []byte{byte(bits >> 24), byte(bits >> 16), byte(bits >> 8), byte(bits)}
}
