//go:build e2e && image

package e2e

import (
	"debug/elf"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

// image is the final stage of the Dockerfile, around the binary that make build
// has built.
type image struct {
	root   string // its files, unpacked
	config struct {
		User         string
		Entrypoint   []string
		ExposedPorts map[string]struct{}
		Healthcheck  struct{ Test []string }
	}
}

// buildImage needs no daemon and no registry: what the stage `build` would leave
// is a folder, and the final stage starts from scratch.
func buildImage(t *testing.T) *image {
	t.Helper()
	testenv.Root(t)
	tool := testenv.Tool(t, "buildah")
	storage := t.TempDir()
	buildah := func(args ...string) string {
		t.Helper()
		args = append([]string{"--storage-driver", "vfs", "--root", filepath.Join(storage, "root"), "--runroot", filepath.Join(storage, "run")}, args...)
		cmd := exec.CommandContext(t.Context(), tool, args...)
		cmd.Dir = testenv.ModuleRoot(t)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("buildah %q: %v\n%s", args, err, stderr.String())
		}
		return strings.TrimSpace(string(out))
	}
	// The format with a health check: OCI's has none.
	buildah("build", "--quiet", "--isolation", "chroot", "--format", "docker", "--build-context", "build=./dist", "--tag", "netsteer", ".")
	var i image
	var inspected struct {
		Docker struct{ Config json.RawMessage }
	}
	if err := json.Unmarshal([]byte(buildah("inspect", "--type", "image", "netsteer")), &inspected); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(inspected.Docker.Config, &i.config); err != nil {
		t.Fatal(err)
	}
	container := buildah("from", "--pull-never", "netsteer")
	i.root = buildah("mount", container)
	return &i
}

// TestImage starts what the image's configuration names, as its user, and asks it
// by its own health check.
func TestImage(t *testing.T) {
	i := buildImage(t)
	t.Run("holds one file", i.testFiles)
	t.Run("configuration", i.testConfig)
	for _, dir := range mountPoints {
		if err := os.MkdirAll(filepath.Join(i.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("in the host's network namespace", i.testHostNetwork)
	t.Run("in a network namespace of its own", i.testOtherNamespace)
	t.Run("with interrupts masked", i.testMasked)
}

func (i *image) testFiles(t *testing.T) {
	var files []string
	var size int64
	err := filepath.WalkDir(i.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == i.root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files, size = append(files, strings.TrimPrefix(path, i.root)), size+info.Size()
		if info.Mode() != 0o755 {
			t.Errorf("%s has mode %v: whoever runs it, it can be started and not replaced", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(files, []string{"/netsteer"}) {
		t.Fatalf("the image holds %q, want /netsteer alone", files)
	}
	t.Logf("%.1f MiB", float64(size)/(1<<20))
	file, err := elf.Open(filepath.Join(i.root, "netsteer"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("its binary asks for a dynamic linker, and there is none")
		}
	}
}

func (i *image) testConfig(t *testing.T) {
	c := i.config
	// Kubernetes' runAsNonRoot takes numbers only.
	if c.User != "65534:65534" {
		t.Errorf("user %q, want 65534:65534", c.User)
	}
	if want := []string{"/netsteer", "--path.procfs=/host/proc", "--path.sysfs=/host/sys"}; !slices.Equal(c.Entrypoint, want) {
		t.Errorf("entrypoint %q, want %q", c.Entrypoint, want)
	}
	if want := []string{"CMD", "/netsteer", "healthcheck"}; !slices.Equal(c.Healthcheck.Test, want) {
		t.Errorf("health check %q, want %q", c.Healthcheck.Test, want)
	}
	if _, ok := c.ExposedPorts["10420/tcp"]; !ok || len(c.ExposedPorts) != 1 {
		t.Errorf("exposed ports %v, want 10420/tcp", c.ExposedPorts)
	}
}

func (i *image) testHostNetwork(t *testing.T) {
	nic := hardware(t)
	address := freeAddress(t)
	c := i.start(t, nil, "", "--web.listen-address="+address)
	waitReady(t, c.process, "http://"+address+"/-/ready")
	text := get(t, "http://"+address+"/metrics")
	checkMetrics(t, text)
	for _, want := range []string{
		`netsteer_queue_rps_cpus{device="` + nic + `",queue="0"} `,
		`netsteer_queue_usable{device="` + nic + `",direction="rx",queue="0"} 1`,
		`netsteer_device_info{`,
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("no %s", want)
		}
	}
	_, bare := serve(t)
	same(t, "in the container", families(text), "bare, as root", families(get(t, "http://"+bare+"/metrics")))

	if r := c.exec(t, "healthcheck", "--web.listen-address="+address); r.exit != 0 {
		t.Errorf("healthcheck: exit %d, %s", r.exit, r.stderr)
	}
	if r := c.exec(t, "healthcheck", "--web.listen-address="+freeAddress(t)); r.exit != 1 {
		t.Errorf("healthcheck where nothing listens: exit %d, want 1", r.exit)
	}
	if exit := c.stop(t); exit != 0 {
		t.Errorf("exit %d on SIGTERM, want 0", exit)
	}
}

// The container's own eth0 has the name of the host's, and the answers of netlink
// are about it: queues of the one must never be shown as those of the other.
func (i *image) testOtherNamespace(t *testing.T) {
	nic := hardware(t)
	ns := testenv.Netns(t)
	ns.Run(t, "ip", "link", "add", nic, "numtxqueues", "4", "numrxqueues", "4", "type", "veth",
		"peer", "name", "nst-peer", "numtxqueues", "4", "numrxqueues", "4")
	ns.Run(t, "ip", "link", "set", nic, "up")
	ns.Run(t, "ip", "link", "set", "nst-peer", "up")

	c := i.start(t, ns, "")
	text := c.metrics(t, ns)
	checkMetrics(t, text)
	if want := `netsteer_source_degraded{device="` + nic + `",reason="other-namespace",source="netlink"} 1`; !strings.Contains(text, "\n"+want) {
		t.Errorf("no %s", want)
	}
	queues, err := filepath.Glob("/sys/class/net/" + nic + "/queues/rx-*")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text, "\nnetsteer_queue_rps_cpus{device=\""+nic+"\""); n != len(queues) {
		t.Errorf("%d queues of %s, want the host's %d", n, nic, len(queues))
	}
	for _, counter := range []string{"packets", "bytes", "drops"} {
		if strings.Contains(text, "\nnetsteer_queue_"+counter+"_total{") {
			t.Errorf("netsteer_queue_%s_total is there, and can only be the other device's", counter)
		}
	}
	// As the image has it, on the default address.
	if r := c.exec(t, i.config.Healthcheck.Test[2:]...); r.exit != 0 {
		t.Errorf("healthcheck: exit %d, %s", r.exit, r.stderr)
	}
}

func (i *image) testMasked(t *testing.T) {
	ns := testenv.Netns(t)
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(empty, 0o444); err != nil {
		t.Fatal(err)
	}
	c := i.start(t, ns, empty)
	text := c.metrics(t, ns)
	checkMetrics(t, text)
	if want := `netsteer_source_degraded{device="",reason="masked",source="interrupts"} 1`; !strings.Contains(text, "\n"+want) {
		t.Errorf("no %s", want)
	}
	// Interrupts may still be counted: /sys/kernel/irq has them as well.
	if !has(text, "netsteer_softnet_processed_total") || !has(text, "netsteer_cpu_softirqs_total") {
		t.Error("the rest is not there")
	}
}

// hardware names a device of this machine that has a parent.
func hardware(t *testing.T) string {
	t.Helper()
	parents, err := filepath.Glob("/sys/class/net/*/device")
	if err != nil {
		t.Fatal(err)
	}
	if len(parents) == 0 {
		t.Skip("no network device with hardware here")
	}
	return filepath.Base(filepath.Dir(parents[0]))
}

// metrics asks the container's default address from inside of its namespace.
func (c *container) metrics(t *testing.T, ns *testenv.NS) string {
	t.Helper()
	// A refused connection and 503 are tried again, nothing else.
	ask := []string{"--silent", "--show-error", "--fail", "--max-time", "10"}
	ns.Run(t, "curl", append(ask, "--retry", "20", "--retry-connrefused", "--retry-delay", "1", "--retry-max-time", "20", "http://127.0.0.1:10420/-/ready")...)
	return ns.Run(t, "curl", append(ask, "http://127.0.0.1:10420/metrics")...)
}

// exec runs the image's binary in the running container, as `docker exec` does.
func (c *container) exec(t *testing.T, args ...string) result {
	t.Helper()
	if len(args) > 0 && args[0] == "/netsteer" {
		args = args[1:]
	}
	enter := []string{"--target", strconv.Itoa(c.cmd.Process.Pid), "--mount", "--pid", "--net", "--ipc", "--uts", "--root",
		"--setuid", "65534", "--setgid", "65534", "/netsteer"}
	return run(t, "", testenv.Tool(t, "nsenter"), append(enter, args...)...)
}
