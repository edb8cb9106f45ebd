#!/bin/sh
# Writes a netsteer plan. Each failing write is reported; the exit status is 1
# if any failed. ROOT, default empty, goes in front of every path.
# profile balanced, plan sha256:8b2ec0fac2dd3649d11a0dc3f57ccdc2c3edbcf6bbf5fb5ae7cc2f7a7ec21db4

set -u
ROOT=${ROOT:-}
failed=0

put() {
	if ! printf '%s\n' "$1" >"$ROOT$2"; then
		printf 'netsteer: %s not written to %s\n' "$1" "$ROOT$2" >&2
		failed=1
	fi
}

# c1 irq_affinity of eth0 rx-3: CPU 7 is isolated; CPU 3 is on the NIC's node 0 and has no other queue; virtio_net will undo it at CPU hot-plug and channel change
put '3' '/proc/irq/33/smp_affinity_list'

# c2 irq_affinity of eth0 tx-3: CPU 7 is isolated; CPU 3 is on the NIC's node 0 and has no other queue; virtio_net will undo it at CPU hot-plug and channel change
put '3' '/proc/irq/34/smp_affinity_list'

# c3 irq_affinity of eth1 queue 2: CPU 0 is on node 0, the NIC on node 1; CPU 5 is on the NIC's node 1 and has no other queue
put '5' '/proc/irq/38/smp_affinity_list'

# c4 irq_affinity of eth1 queue 3: CPU 4 takes 3 queues while CPU 5 takes none; CPU 6 is on the NIC's node 1 and has 1 other queue
put '6' '/proc/irq/39/smp_affinity_list'

# c5 rps_cpus of eth1 rx-0: each of the allowed CPUs 4-6 has an RX queue of its own: RPS only adds an interrupt between CPUs
put '00' '/sys/class/net/eth1/queues/rx-0/rps_cpus'

# c6 xps_cpus of eth0 tx-1: tx-1 completes on CPU 2; these CPUs have no TX queue nearer; virtio_net will undo it at CPU hot-plug and channel change
put '04' '/sys/class/net/eth0/queues/tx-1/xps_cpus'

# c7 xps_cpus of eth0 tx-2: tx-2 completes on CPU 4; these CPUs have no TX queue nearer; virtio_net will undo it at CPU hot-plug and channel change
put 'f0' '/sys/class/net/eth0/queues/tx-2/xps_cpus'

# c8 xps_cpus of eth0 tx-3: tx-3 completes on CPU 3; these CPUs have no TX queue nearer; virtio_net will undo it at CPU hot-plug and channel change
put '08' '/sys/class/net/eth0/queues/tx-3/xps_cpus'

# c9 xps_cpus of eth1 tx-0: tx-0 completes on CPU 4; these CPUs have no TX queue nearer
put '11' '/sys/class/net/eth1/queues/tx-0/xps_cpus'

# c10 xps_cpus of eth1 tx-1: tx-1 completes on CPU 6; these CPUs have no TX queue nearer
put '42' '/sys/class/net/eth1/queues/tx-1/xps_cpus'

# c11 xps_cpus of eth1 tx-2: tx-2 completes on CPU 5; these CPUs have no TX queue nearer
put '24' '/sys/class/net/eth1/queues/tx-2/xps_cpus'

# c12 xps_cpus of eth1 tx-3: tx-3 completes on CPU 6; these CPUs have no TX queue nearer
put '88' '/sys/class/net/eth1/queues/tx-3/xps_cpus'

exit "$failed"
