// Package live is this machine: its files with kept descriptors (Tree), what
// netlink and ioctl say of its devices (NICs) and its NAPI threads (Threads).
// It converts and keeps; what the answers mean is decided in scan.
package live
