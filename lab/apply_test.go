//go:build lab

package lab_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/netsteer/netsteer/internal/testenv"
	"github.com/netsteer/netsteer/lab"
)

// On a machine whose NIC has all its vectors on one CPU of the wrong node,
// netsteer finds the cause, and one POST over the network mends it and another
// one takes it back.
func TestApply(t *testing.T) {
	r := boot(t, writer(t, lab.Steering("6.12")), writerFlags...)
	// What is written must differ from what is there, or a rollback shows
	// nothing: RPS on one queue beside the misplaced vectors.
	stack(t, r)
	write(t, r, "/sys/class/net/"+r.Devices[igb]+"/queues/rx-3/rps_cpus", "f000")

	// In this order: each part leaves the vectors stacked, as it found them,
	// and the last one takes away the user.
	t.Run("cause", func(t *testing.T) { testCause(t, r) })
	t.Run("capture", func(t *testing.T) { testCapture(t, r) })
	var applied map[string]string
	var script []byte
	t.Run("post", func(t *testing.T) { script, applied = testPost(t, r) })
	t.Run("shell", func(t *testing.T) { testShell(t, r, script, applied) })

	t.Run("refusals", func(t *testing.T) { testRefusals(t, r) })
}

const (
	webConfig = "/etc/netsteer/web.yml"
	wrongCPU  = 2 // of node 0; igb is on node 1
)

var operator = url.UserPassword("operator", "secret")

// manySources is 256 flows, each from an address of its own.
var manySources = lab.Flows{Count: 256, Seed: seed, Rate: 4000}

// writerFlags let netsteer be told to write, over the network, by the one user of
// a writer.
var writerFlags = []string{"--web.enable-apply", "--web.config.file=" + webConfig}

// writer adds what writerFlags need to a guest, and Debian's dash as its shell.
func writer(t *testing.T, g lab.Guest) lab.Guest {
	t.Helper()
	config := filepath.Join(t.TempDir(), "web.yml")
	// The hash of "secret", of the least cost: the guest's CPUs are emulated.
	users := "basic_auth_users:\n  operator: $2a$04$jcuztPhjPuqcqIp96PuDL.g38RHBWt89ktln0wBNLhjQrBX0fQb4G\n"
	if err := os.WriteFile(config, []byte(users), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if g.Files, err = lab.Program("/bin/sh", testenv.Tool(t, "dash"), ""); err != nil {
		t.Fatal(err)
	}
	g.Files[webConfig] = config
	g.User = operator
	return g
}

// stack puts all vectors of igb on one CPU of the wrong node, and sends what
// moves them.
func stack(t *testing.T, r *lab.Running) {
	t.Helper()
	rows := vectors(t, r, igb, queues)["rx"]
	for _, row := range rows {
		write(t, r, "/proc/irq/"+row.irq+"/smp_affinity_list", strconv.Itoa(wrongCPU))
	}
	send(t, r, igb, flows)
	for queue, row := range rows {
		if now := effective(t, r, row.irq); now != strconv.Itoa(wrongCPU) {
			t.Fatalf("queue %d of %s is on CPU %s, want %d", queue, r.Devices[igb], now, wrongCPU)
		}
	}
}

// testCause: while packets flow the cause is the placement.
func testCause(t *testing.T, r *lab.Running) {
	stop := r.Stream(t, igb, manySources)
	lab.Eventually(t, settle, func() error {
		a, err := advice(r)
		if err != nil {
			return err
		}
		d := a.device(r.Devices[igb])
		if d.Skew.RX.PacketsPerSecond < 1000 {
			return fmt.Errorf("%s receives %v packets/s: no rates of the traffic yet", d.Device, d.Skew.RX.PacketsPerSecond)
		}
		if d.Cause != "placement" {
			return fmt.Errorf("the cause of %s is %q (%q), want placement", d.Device, d.Cause, d.Skew.RX.Evidence)
		}
		return nil
	})
	stop()
}

// testCapture: what is planned from a capture is what the running server plans,
// and the same each time.
func testCapture(t *testing.T, r *lab.Running) {
	// With no traffic in the window: what /advice says then is what the
	// settings alone say.
	var live adviceBody
	lab.Eventually(t, settle, func() (err error) {
		live, err = advice(r)
		if rate := live.device(r.Devices[igb]).Skew.RX.PacketsPerSecond; err == nil && rate > 100 {
			err = fmt.Errorf("still %v packets/s in the window", rate)
		}
		return err
	})
	const inside = "/tmp/capture.tar.gz"
	ran, err := r.Run(lab.NetsteerPath, "capture", "--window=2s", "--output="+inside)
	if err != nil || ran.Code != 0 {
		t.Fatalf("capture: %v, exit %d: %s", err, ran.Code, ran.Stderr)
	}
	local := filepath.Join(t.TempDir(), "capture.tar.gz")
	if err := os.WriteFile(local, []byte(read(t, r, inside)), 0o600); err != nil {
		t.Fatal(err)
	}
	netsteer := lab.Netsteer(t)
	var outputs [2]string
	for i := range outputs {
		cmd := exec.Command(netsteer, "advise", "--from="+local, "--format=json")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("advise --from: %v: %s", err, stderr.String())
		}
		outputs[i] = string(out)
	}
	if outputs[0] != outputs[1] {
		t.Errorf("two runs of advise --from differ:\n%s\n%s", outputs[0], outputs[1])
	}
	var recorded adviceBody
	if err := json.Unmarshal([]byte(outputs[0]), &recorded); err != nil {
		t.Fatal(err)
	}
	want, got := live.affinities(), recorded.affinities()
	if len(want) == 0 {
		t.Fatal("/advice changes no irq_affinity")
	}
	if !slices.Equal(got, want) {
		t.Errorf("irq_affinity of the capture and of /advice differ:\n%q\n%q", got, want)
	}
	t.Logf("%d bytes of capture, %d changes of irq_affinity", len(read(t, r, inside)), len(got))
}

// testPost: an empty POST /apply mends placement and XPS, and /rollback gives
// each file its bytes back. It gives the same plan as a script, and the files as
// they were applied. The script is taken at once: whether XPS is proposed where
// it is unset follows from what the host sent in the window, which begins anew
// with a transaction.
func testPost(t *testing.T, r *lab.Running) (script []byte, applied map[string]string) {
	device := r.Devices[igb]
	before := intents(t, r)
	script, err := r.Get("/advice?format=shell")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	done := post(t, r, "/apply", "committed")
	t.Logf("POST /apply took %.1f s for %d changes", time.Since(began).Seconds(), len(done.Changes))
	if !strings.HasPrefix(done.Actor, "http:operator@") {
		t.Errorf("the actor is %q, want http:operator@...", done.Actor)
	}
	planned := map[string]string{} // CPU by interrupt
	for _, c := range done.Changes {
		if c.Kind == "irq_affinity" && c.Device == device {
			irq := filepath.Base(filepath.Dir(c.Target))
			planned[irq] = c.Proposed
		}
	}
	f := manySources
	f.Packets = 8192
	send(t, r, igb, f)
	seen := map[string]int{}
	for queue, row := range vectors(t, r, igb, queues)["rx"] {
		cpu := effective(t, r, row.irq)
		if want, ok := planned[row.irq]; !ok || cpu != want {
			t.Errorf("queue %d is on CPU %s, planned was %q", queue, cpu, want)
		}
		if n := number(t, cpu); n < 8 || n > 15 {
			t.Errorf("queue %d is on CPU %s, which is not of node 1", queue, cpu)
		}
		if other, twice := seen[cpu]; twice {
			t.Errorf("queues %d and %d are on CPU %s", other, queue, cpu)
		}
		seen[cpu] = queue
	}
	lab.Eventually(t, settle, func() error {
		m, err := r.Metrics()
		if err != nil {
			return err
		}
		return want(m, 0, "netsteer_affinity_mismatch_ratio", "device", device)
	})
	applied = intents(t, r)
	if changed := differences(before, applied); len(changed) < queues {
		t.Errorf("only %v changed", changed)
	} else {
		t.Logf("%d of %d files changed", len(changed), len(before))
	}

	post(t, r, "/rollback", "committed")
	for _, file := range differences(before, intents(t, r)) {
		t.Errorf("%s is not as before: %q, was %q", file, read(t, r, file), before[file])
	}
	return script, applied
}

// testShell: the script does what the POST did, in a shell without any of bash.
func testShell(t *testing.T, r *lab.Running, script []byte, applied map[string]string) {
	if applied == nil {
		t.Fatal("nothing was applied to compare with")
	}
	before := intents(t, r)
	local := filepath.Join(t.TempDir(), "plan.sh")
	if err := os.WriteFile(local, script, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(testenv.Tool(t, "shellcheck"), local).CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
	ran, err := r.Run("/bin/sh", "-c", string(script))
	if err != nil || ran.Code != 0 {
		t.Fatalf("the script: %v, exit %d: %s%s", err, ran.Code, ran.Stdout, ran.Stderr)
	}
	now := intents(t, r)
	for _, file := range differences(applied, now) {
		t.Errorf("%s is %q, POST /apply made it %q", file, now[file], applied[file])
	}
	for file, text := range before {
		if now[file] != text {
			write(t, r, file, text)
		}
	}
}

// testRefusals: GET changes nothing, nobody writes without a password, and none
// at all when the server stops asking for it.
func testRefusals(t *testing.T, r *lab.Running) {
	stack(t, r) // something to apply
	before := intents(t, r)
	nobody := "http://" + r.Target()
	refuse := func(method, to string, status int, word string) {
		t.Helper()
		got, answer, err := r.Ask(method, to, "")
		if err != nil {
			t.Fatal(err)
		}
		if got != status || !strings.Contains(string(answer), word) {
			t.Errorf("%s %s: %d %s, want %d %s", method, to, got, answer, status, word)
		}
	}
	refuse(http.MethodGet, r.URL("/apply"), http.StatusMethodNotAllowed, "")
	refuse(http.MethodPost, nobody+"/apply", http.StatusUnauthorized, "")
	refuse(http.MethodPost, nobody+"/rollback", http.StatusUnauthorized, "")
	// The file is read at each POST: one that asks for no user leaves a
	// listener that the whole network reaches.
	write(t, r, webConfig, "#"+strings.Repeat(" ", len(read(t, r, webConfig))-2)+"\n")
	refuse(http.MethodPost, nobody+"/apply", http.StatusForbidden, "urn:netsteer:problem:apply-disabled")
	refuse(http.MethodPost, nobody+"/rollback", http.StatusForbidden, "urn:netsteer:problem:apply-disabled")
	for _, file := range differences(before, intents(t, r)) {
		t.Errorf("%s has changed", file)
	}
}

// intents are the files that say where vectors and packets should go, of both
// NICs, with their bytes.
func intents(t *testing.T, r *lab.Running) map[string]string {
	t.Helper()
	files := map[string]string{}
	for nic, device := range r.Devices {
		for _, rows := range vectors(t, r, nic, queues) {
			for _, row := range rows {
				file := "/proc/irq/" + row.irq + "/smp_affinity"
				files[file] = read(t, r, file)
			}
		}
		for queue := range queues {
			for _, name := range []string{"rx-%d/rps_cpus", "tx-%d/xps_cpus"} {
				file := "/sys/class/net/" + device + "/queues/" + fmt.Sprintf(name, queue)
				files[file] = read(t, r, file)
			}
		}
	}
	return files
}

// differences are the files whose bytes differ.
func differences(a, b map[string]string) (files []string) {
	for _, file := range slices.Sorted(maps.Keys(a)) {
		if a[file] != b[file] {
			files = append(files, file)
		}
	}
	return files
}

// post wants 200 and a transaction in that state.
func post(t *testing.T, r *lab.Running, path, state string) (done transactionBody) {
	t.Helper()
	status, answer, err := r.Post(path, "")
	if err != nil {
		t.Fatal(err)
	}
	if status != http.StatusOK {
		t.Fatalf("POST %s: %d %s", path, status, answer)
	}
	if err := json.Unmarshal(answer, &done); err != nil {
		t.Fatal(err)
	}
	if done.State != state {
		t.Fatalf("POST %s: %s, want %s: %s", path, done.State, state, answer)
	}
	return done
}
