// Package record is the Tree and the NICs of a machine that was written down: an
// unpacked sosreport, a netsteer capture, bare files of /proc, or an archive of
// one of these. scan reads it as it reads the live machine.
//
// Nothing outside the recording is ever opened: a directory is read below its
// own root, and an archive is never unpacked but kept in memory.
package record
