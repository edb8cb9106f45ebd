package driver

import (
	"fmt"
	"slices"
	"testing"
)

// What the numbers in names mean: which queues each vector serves.
func TestAssign(t *testing.T) {
	for _, c := range []struct {
		name, driver string
		actions      []string
		rx, tx       int
		want         []string
	}{
		{"as many vectors as pairs", "ixgbe", []string{"e-TxRx-0", "e-TxRx-1", "e"}, 2, 2, []string{"[0] [0]", "[1] [1]", "[] []"}},
		{"fewer vectors, dealt out in turn", "ixgbe", []string{"e-TxRx-0", "e-TxRx-1", "e"}, 5, 4, []string{"[0 2 4] [0 2]", "[1 3] [1 3]", "[] []"}},
		{"in turn, whatever the order of rows", "iavf", []string{"iavf-e-TxRx-1", "iavf-e-TxRx-0"}, 3, 3, []string{"[1] [1]", "[0 2] [0 2]"}},
		{"fewer vectors, in blocks", "i40e", []string{"i40e-0000:01:00.0:misc", "i40e-e-TxRx-0", "i40e-e-TxRx-1", "i40e-e-TxRx-2"}, 7, 7, []string{"[] []", "[0 1 2] [0 1 2]", "[3 4] [3 4]", "[5 6] [5 6]"}},
		{"blocks of each direction", "ice", []string{"ice-e-TxRx-0", "ice-e-TxRx-1"}, 3, 2, []string{"[0 1] [0]", "[2] [1]"}},
		{"ranges by name", "ice", []string{"ice-e-TxRx-0-1", "ice-e-TxRx-2-3"}, 4, 3, []string{"[0 1] [0 1]", "[2 3] [2]"}},
		{"a vector is missing: no sharing is known", "i40e", []string{"i40e-e-TxRx-0", "i40e-e-TxRx-2"}, 8, 8, []string{"[0] [0]", "[2] [2]"}},
		{"more vectors than queues", "virtio_net", []string{"virtio1-input.0", "virtio1-output.0", "virtio1-input.1"}, 1, 1, []string{"[0] []", "[] [0]", "[] []"}},
		{"more TX than RX", "ixgbe", []string{"e-TxRx-0", "e-tx-1"}, 1, 2, []string{"[0] [0]", "[] [1]"}},
		{"bnxt shared", "bnxt_en", []string{"e-TxRx-0", "e-TxRx-1"}, 2, 2, []string{"[0] [0]", "[1] [1]"}},
		{"bnxt separate", "bnxt_en", []string{"e-rx-0", "e-rx-1", "e-tx-2", "e-tx-3"}, 2, 2, []string{"[0] []", "[1] []", "[] [0]", "[] [1]"}},
		{"bnxt, some rows unseen", "bnxt_en", []string{"e-rx-0", "e-tx-3"}, 2, 2, []string{"[0] []", "[] []"}},
		{"vmxnet3 pairs", "vmxnet3", []string{"e-rxtx-0", "e-rxtx-1", "e-event-2"}, 2, 2, []string{"[0] [0]", "[1] [1]", "[] []"}},
		{"vmxnet3 apart", "vmxnet3", []string{"e-tx-0", "e-tx-1", "e-rx-2", "e-rx-3", "e-event-4"}, 2, 2, []string{"[] [0]", "[] [1]", "[0] []", "[1] []", "[] []"}},
		{"vmxnet3 with one TX vector", "vmxnet3", []string{"e-tx-0", "e-rx-1", "e-event-2"}, 1, 4, []string{"[] [0 1 2 3]", "[0] []", "[] []"}},
		{"mlx5", "mlx5_core", []string{"mlx5_async0@pci:0000:01:00.0", "mlx5_comp0@pci:0000:01:00.0", "mlx5_comp1@pci:0000:01:00.0"}, 2, 2, []string{"[] []", "[0] [0]", "[1] [1]"}},
		{"mlx5 from 1", "mlx5_core", []string{"mlx5_async0@pci:0000:01:00.0", "mlx5_comp1@pci:0000:01:00.0", "mlx5_comp2@pci:0000:01:00.0"}, 2, 2, []string{"[] []", "[0] [0]", "[1] [1]"}},
		{"mlx5, TX queues of two classes", "mlx5_core", []string{"mlx5_comp0@pci:0000:01:00.0", "mlx5_comp1@pci:0000:01:00.0"}, 2, 4, []string{"[0] [0]", "[1] [1]"}},
		{"mlx5 with sub-functions", "mlx5_core", []string{"mlx5_comp0@pci:0000:01:00.0", "mlx5_sf_comp0@pci:0000:01:00.0", "mlx5_sf_comp1@pci:0000:01:00.0"}, 2, 2, []string{"[0] [0]", "[] []", "[] []"}},
		{"mlx5's only vector", "mlx5_core", []string{"mlx5_combined0@pci:0000:01:00.0"}, 1, 1, []string{"[0] [0]"}},
		{"no queues", "ena", []string{"e-Tx-Rx-0"}, 0, 0, []string{"[] []"}},
	} {
		e := Lookup(c.driver)
		var vectors []Vector
		for _, action := range c.actions {
			v, ok := e.Vector(action)
			if !ok {
				t.Fatalf("%s: %q is not read", c.name, action)
			}
			vectors = append(vectors, v)
		}
		var got []string
		for _, s := range e.Assign(vectors, c.rx, c.tx) {
			got = append(got, fmt.Sprint(s.RX, s.TX))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q serve %q; want %q", c.name, c.actions, got, c.want)
		}
	}
	var unknown *Entry
	if got := unknown.Assign([]Vector{{Role: RX, Queue: 1, Last: 1}}, 2, 2); !slices.Equal(got[0].RX, []int{1}) || got[0].TX != nil {
		t.Errorf("unknown driver: %+v", got)
	}
}

// However vectors and queues are, no queue has two vectors of those that are
// numbered apart, and with sharing every queue has one.
func TestSharingReachesEveryQueueOnce(t *testing.T) {
	for _, sharing := range []Sharing{RoundRobin, Blocks} {
		for n := 1; n <= 9; n++ {
			var vectors []Vector
			for i := range n {
				vectors = append(vectors, Vector{Role: Combined, Queue: i, Last: i})
			}
			for count := n; count <= 20; count++ {
				seen := make([]int, count)
				for _, s := range (&Entry{Sharing: sharing}).Assign(vectors, count, count) {
					for _, q := range s.RX {
						seen[q]++
					}
					if !slices.Equal(s.RX, s.TX) {
						t.Fatalf("pairs are torn: %+v", s)
					}
				}
				if slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) {
					t.Errorf("sharing %d, %d vectors, %d queues: %v", sharing, n, count, seen)
				}
			}
		}
	}
}
