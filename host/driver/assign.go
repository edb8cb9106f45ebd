package driver

import "slices"

// Sharing is how a driver deals queues out to fewer vectors.
type Sharing uint8

// Sharings: vector v of n serves
const (
	OnePerQueue Sharing = iota // queue v alone; there are never fewer vectors
	RoundRobin                 // queues v, v+n, v+2n, ...
	Blocks                     // neighbours: DIV_ROUND_UP(queues left, vectors left) each
)

// Served are the queue numbers that one vector serves.
type Served struct{ RX, TX []int }

// Assign says which of a device's queues each of its vectors serves, by their
// numbers and by how many RX and TX queues there are. vectors are all that the
// device has; e may be nil for an unknown driver.
func (e *Entry) Assign(vectors []Vector, rx, tx int) []Served {
	served := make([]Served, len(vectors))
	sharing := OnePerQueue
	if e != nil {
		sharing = e.Sharing
	}
	for _, d := range []struct {
		role  Role
		count int
	}{{RX, rx}, {TX, tx}} {
		lists := assign(vectors, d.role, d.count, sharing)
		for i := range served {
			if d.role == RX {
				served[i].RX = lists[i]
			} else {
				served[i].TX = lists[i]
			}
		}
	}
	return served
}

func assign(vectors []Vector, dir Role, count int, sharing Sharing) [][]int {
	lists := make([][]int, len(vectors))
	var members []int // places in vectors, by number
	ranged := false
	first := make([]int, len(vectors))
	for i, v := range vectors {
		if v.Role != dir && v.Role != Combined || v.Queue < 0 || v.Pool {
			continue
		}
		base, ok := base(vectors, v)
		if !ok {
			continue
		}
		first[i] = v.Queue - base
		members = append(members, i)
		ranged = ranged || v.Last > v.Queue
	}
	slices.SortFunc(members, func(a, b int) int { return first[a] - first[b] })
	n := len(members)
	// Only if no vector is missing is it known how the queues were dealt out.
	complete := n > 0 && first[members[n-1]] == n-1 && first[members[0]] == 0 &&
		!slices.ContainsFunc(members, func(i int) bool { return members[first[i]] != i })
	next := 0
	for k, i := range members {
		q, last, step := first[i], first[i]+vectors[i].Last-vectors[i].Queue, 1
		switch {
		case ranged || !complete || n >= count:
		case sharing == RoundRobin:
			last, step = count-1, n
		case sharing == Blocks:
			size := (count - next + n - k - 1) / (n - k)
			q, last = next, next+size-1
			next += size
		}
		for ; q <= min(last, count-1); q += step {
			lists[i] = append(lists[i], q)
		}
	}
	return lists
}

// base is the number that queue 0 has among vectors like v. Numbers that count
// on follow those of the other direction (bnxt's TX, vmxnet3's RX), or the
// async vector's 0 (mlx5 on some builds of 6.5 and 6.6). Anything else means
// that vectors are missing: then nothing is known.
func base(vectors []Vector, v Vector) (int, bool) {
	if !v.CountsOn {
		return 0, true
	}
	lowest, before := v.Queue, 0
	for _, o := range vectors {
		switch {
		case o.Pool || o.Queue < 0:
		case o.Role == v.Role:
			lowest = min(lowest, o.Queue)
		default:
			before++
		}
	}
	if v.Role == Combined {
		before = 1
	}
	return lowest, lowest == 0 || lowest == before
}

// Place reads a whole list of statistics, as the driver wrote it (leading
// blanks and order kept): one Stat for each name, with Queue -1 for those that
// count no queue. Where it holds for one list of names it holds for the next
// reading of the same list.
func (e *Entry) Place(names []string, values []uint64) []Stat {
	if e.place != nil {
		return e.place(e, names, values)
	}
	stats := make([]Stat, len(names))
	countsOn := make([]bool, len(names))
	lowest, seen := -1, map[int]bool{}
	for i, name := range names {
		s, form, ok := e.stat(name)
		switch {
		case !ok:
			s.Queue = -1
		case !form.CountsOn:
			seen[s.Queue] = true
		default:
			countsOn[i] = true
			if lowest < 0 || s.Queue < lowest {
				lowest = s.Queue
			}
		}
		stats[i] = s
	}
	for i := range stats {
		switch {
		case !countsOn[i]:
		case lowest == 0 || lowest == len(seen):
			stats[i].Queue -= lowest
		default:
			stats[i].Queue = -1
		}
	}
	return stats
}
