//go:build e2e

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/netsteer/netsteer/internal/testenv"
)

const (
	password = "of-this-test-only"
	// bcrypt of the password, with the least cost, for tests.
	passwordHash = "$2a$04$2CTmII2VBKd39TP8U7rpyece4kEynv9dDfHxJkod5VFP6nKv55WVe"
)

// Every scrape configuration that is delivered or shown is one to Prometheus.
func TestScrapeConfigurations(t *testing.T) {
	promtool := testenv.Tool(t, "promtool")
	configs := map[string]string{}
	files, err := filepath.Glob(filepath.Join(testenv.ModuleRoot(t), "deploy", "prometheus", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files in deploy/prometheus, error %v", len(files), err)
	}
	for _, file := range files {
		configs[filepath.Base(file)] = document(t, "deploy", "prometheus", filepath.Base(file))
	}
	for _, name := range documents {
		for i, block := range blocks(document(t, name...), "yaml") {
			if strings.Contains(block, "scrape_configs:") {
				configs[fmt.Sprintf("%s %d", filepath.Join(name...), i)] = block
			}
		}
	}
	for name, config := range configs {
		t.Run(name, func(t *testing.T) {
			file := surround(t, t.TempDir(), config)
			// The rules are checked with it: a lint would be a failure.
			if r := run(t, "", promtool, "check", "config", file); r.exit != 0 || r.stderr != "" || !strings.Contains(r.stdout, "is valid prometheus config file") {
				t.Errorf("promtool check config: exit %d\n%s%s", r.exit, r.stdout, r.stderr)
			}
		})
	}
}

// surround writes a configuration of Prometheus with the files that it may name,
// and gives its path.
func surround(t *testing.T, dir, config string) string {
	t.Helper()
	write(t, dir, "netsteer.rules.yaml", document(t, "alerts", "netsteer.rules.yaml"))
	write(t, dir, "netsteer.password", password)
	write(t, dir, "netsteer/hosts.yml", "- targets: [host1:10420]\n")
	if _, err := os.Stat(filepath.Join(dir, "ca.crt")); err != nil {
		certificate(t, dir, "ca.crt", "ca.key")
	}
	return write(t, dir, "prometheus.yml", config)
}

// webConfig writes the delivered web configuration, with a password of its own,
// and what it names.
func webConfig(t *testing.T, dir string) string {
	t.Helper()
	certificate(t, dir, "tls.crt", "tls.key")
	return write(t, dir, "web.yml", strings.Replace(document(t, "deploy", "web.yml"), "prometheus: HASH", "prometheus: "+passwordHash, 1))
}

// A password that anybody can read in our repository must not work.
func TestWebConfigurationWantsAPassword(t *testing.T) {
	dir := t.TempDir()
	certificate(t, dir, "tls.crt", "tls.key")
	r := run(t, "", binary(t), "check-config", write(t, dir, "web.yml", document(t, "deploy", "web.yml")))
	if r.exit != 1 || !strings.Contains(r.stderr, "web.yml") {
		t.Errorf("as delivered: exit %d, %q", r.exit, r.stderr)
	}
	if r := run(t, "", binary(t), "check-config", webConfig(t, dir)); r.exit != 0 {
		t.Errorf("with a password: exit %d, %q", r.exit, r.stderr)
	}
}

// A real Prometheus reads netsteer over TLS with a password, both as in deploy.
func TestPrometheusScrapesOverTLS(t *testing.T) {
	prometheus := testenv.Tool(t, "prometheus")
	address, dir := freeAddress(t), t.TempDir()
	p := start(t, binary(t), "--web.listen-address="+address, "--web.config.file="+webConfig(t, dir))
	waitHealthy(t, p, address)
	if status, _, err := fetch("http://" + address + "/metrics"); err == nil && status == 200 {
		t.Error("/metrics answers without TLS")
	}

	certificate, err := os.ReadFile(filepath.Join(dir, "tls.crt"))
	if err != nil {
		t.Fatal(err)
	}
	config := document(t, "deploy", "prometheus", "tls.yml")
	for old, changed := range map[string]string{"[host1:10420, host2:10420]": "[" + address + "]", "interval: 15s": "interval: 1s"} {
		if !strings.Contains(config, old) {
			t.Fatalf("tls.yml has no %q", old)
		}
		config = strings.ReplaceAll(config, old, changed)
	}
	write(t, dir, "ca.crt", string(certificate))
	file := surround(t, dir, config)
	base := "http://" + freeAddress(t)
	ps := start(t, prometheus, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+strings.TrimPrefix(base, "http://"))
	waitReady(t, ps, base+"/-/ready")
	for _, expr := range []string{`up{job="netsteer"} == 1`, `netsteer_build_info`} {
		if !eventually(t, base, expr) {
			t.Errorf("no result within 15 s: %s", expr)
		}
	}
}

// waitHealthy asks as the image does: over TLS or not, with no password.
func waitHealthy(t *testing.T, p *process, address string) {
	t.Helper()
	var last result
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		select {
		case <-p.ended:
			t.Fatalf("ended with %d before it was healthy", p.cmd.ProcessState.ExitCode())
		default:
		}
		if last = run(t, "", binary(t), "healthcheck", "--web.listen-address="+address); last.exit == 0 {
			return
		}
	}
	t.Fatalf("not healthy after %v: %s", startTimeout, last.stderr)
}

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// certificate writes one for 127.0.0.1 that is its own authority, and its key.
func certificate(t *testing.T, dir, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
	write(t, dir, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}
