package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/internal/testenv"
	"github.com/netsteer/netsteer/web"
)

// outside is an address of the test's namespace that is no loopback address.
const outside = "192.0.2.1"

// steerable makes a namespace with a veth of 8+8 queues and that address.
func steerable(t *testing.T) *testenv.NS {
	t.Helper()
	ns := testenv.Netns(t)
	ns.Run(t, "ip", "link", "add", "nst0", "numtxqueues", "8", "numrxqueues", "8", "type", "veth",
		"peer", "name", "nst1", "numtxqueues", "8", "numrxqueues", "8")
	ns.Run(t, "ip", "addr", "add", outside+"/24", "dev", "nst0")
	for _, device := range []string{"nst0", "nst1"} {
		ns.Run(t, "ip", "link", "set", device, "up")
	}
	return ns
}

// serveIn starts a server in the namespace; it is stopped when the test ends,
// and must then end well.
func serveIn(t *testing.T, ns *testenv.NS, args ...string) {
	t.Helper()
	server := exec.Command(testenv.Tool(t, "ip"), append([]string{"netns", "exec", ns.Name, "netsteer", "serve"}, args...)...)
	var log bytes.Buffer
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		if err := server.Wait(); err != nil || t.Failed() {
			t.Errorf("the server ended with %v:\n%s", err, log.String())
		}
	})
}

// client asks a server of a namespace over one connection per request.
type client struct {
	ns       *testenv.NS
	network  string // default tcp
	address  string
	tls      *tls.Config
	user     string
	password string
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask waits for the server to start.
func (c client) ask(t *testing.T, method, path, body string) answer {
	t.Helper()
	var got answer
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		c.ns.Do(t, func() { got, err = c.askHere(method, path, body) })
		if err == nil && got.status != http.StatusServiceUnavailable {
			return got
		}
	}
	t.Fatalf("%s %s: %v, status %d", method, path, err, got.status)
	return got
}

func (c client) askHere(method, path, body string) (answer, error) {
	network := "tcp"
	if c.network != "" {
		network = c.network
	}
	conn, err := net.DialTimeout(network, c.address, 5*time.Second)
	if err != nil {
		return answer{}, err
	}
	defer conn.Close()
	if c.tls != nil {
		conn = tls.Client(conn, c.tls)
	}
	host := c.address
	if network == "unix" {
		host = "localhost"
	}
	request, err := http.NewRequest(method, "http://"+host+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Close = true
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.user != "" {
		request.SetBasicAuth(c.user, c.password)
	}
	if err := errors.Join(conn.SetDeadline(time.Now().Add(20*time.Second)), request.Write(conn)); err != nil {
		return answer{}, err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, text}, err
}

// must asks and decodes the answer, which must have the status.
func (c client) must(t *testing.T, status int, method, path, body string, into any) {
	t.Helper()
	got := c.ask(t, method, path, body)
	if got.status != status {
		t.Fatalf("%s %s over %s: status %d, want %d: %s", method, path, c.address, got.status, status, got.body)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(got.body, into); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, got.body)
	}
}

func (c client) refused(t *testing.T, status int, word, detail string) {
	t.Helper()
	var p web.Problem
	c.must(t, status, "POST", "/apply", "", &p)
	if p.Type != "urn:netsteer:problem:"+word || !strings.Contains(p.Detail, detail) {
		t.Errorf("over %s: %+v; want %s with %q", c.address, p, word, detail)
	}
}

// authority signs certificates of a test.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	a.cert, a.key = a.sign(t, "ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// sign writes NAME.crt and NAME.key.
func (a *authority) sign(t *testing.T, name string, c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	c.Subject = pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, name+".crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	a.write(t, name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})))
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return signed, key
}

func (a *authority) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// trust is a client's TLS configuration, with a certificate of that name if it
// is not empty.
func (a *authority) trust(t *testing.T, name string) *tls.Config {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	c := &tls.Config{RootCAs: pool, ServerName: "netsteer.example"}
	if name != "" {
		pair, err := tls.LoadX509KeyPair(filepath.Join(a.dir, name+".crt"), filepath.Join(a.dir, name+".key"))
		if err != nil {
			t.Fatal(err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c
}

func (a *authority) server(t *testing.T) {
	t.Helper()
	a.sign(t, "server", &x509.Certificate{DNSNames: []string{"netsteer.example"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
}

const (
	tlsSection = "tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n"
	// users are alice and scraper, both with the password secret.
	usersSection = `basic_auth_users:
  alice: $2a$04$jcuztPhjPuqcqIp96PuDL.g38RHBWt89ktln0wBNLhjQrBX0fQb4G
  scraper: $2a$04$jcuztPhjPuqcqIp96PuDL.g38RHBWt89ktln0wBNLhjQrBX0fQb4G
`
)

// TestServeWritesForUsers proves with TLS and users on two listeners, one of them
// reached over the network, who may write: and that one changed byte of the
// configuration counts with the next request.
func TestServeWritesForUsers(t *testing.T) {
	ns := steerable(t)
	ca := newAuthority(t)
	ca.server(t)
	config := ca.write(t, "web.yml", tlsSection+usersSection)
	state := t.TempDir()
	serveIn(t, ns, "--web.enable-apply", "--web.config.file="+config, "--web.apply-user=alice", "--state.dir="+state,
		"--web.listen-address="+outside+":10420", "--web.listen-address=127.0.0.1:10420")
	for _, address := range []string{outside + ":10420", "127.0.0.1:10420"} {
		c := client{ns: ns, address: address, tls: ca.trust(t, "")}
		if got := c.ask(t, "POST", "/apply", ""); got.status != http.StatusUnauthorized {
			t.Errorf("%s without a user: %d", address, got.status)
		}
		c.user, c.password = "alice", "wrong"
		if got := c.ask(t, "POST", "/apply", ""); got.status != http.StatusUnauthorized {
			t.Errorf("%s with a wrong password: %d", address, got.status)
		}
		c.user, c.password = "scraper", "secret"
		c.must(t, 200, "GET", "/metrics", "", nil)
		c.refused(t, 403, "user-not-allowed", `"scraper" may look`)
		c.user = "alice"
		var done apply.Transaction
		c.must(t, 200, "POST", "/apply", `{"dry_run":true}`, &done)
		source, _, _ := net.SplitHostPort(address)
		if done.State != apply.DryRun || done.Actor != "http:alice@"+source {
			t.Errorf("%s: %+v", address, done)
		}
	}
	time.Sleep(1100 * time.Millisecond) // one POST per second
	c := client{ns: ns, address: outside + ":10420", tls: ca.trust(t, ""), user: "alice", password: "secret"}
	var p web.Problem
	c.must(t, 422, "POST", "/apply", `{"kinds":["rings"],"allow_disruptive":true}`, &p)
	if !strings.HasSuffix(p.Type, ":refused") || !strings.HasPrefix(p.Detail, "rings: this kind cannot be applied; these can: irq_affinity, ") {
		t.Errorf("%+v", p)
	}
	ca.write(t, "web.yml", tlsSection)
	client{ns: ns, address: outside + ":10420", tls: ca.trust(t, "")}.refused(t, 403, "apply-disabled", "demand users")
}

// TestServeApplyListener proves that --web.apply-listen-address takes POST away
// from the listener that scrapes use: to a Unix socket, and to one that demands
// certificates of its own.
func TestServeApplyListener(t *testing.T) {
	ns := steerable(t)
	ca := newAuthority(t)
	ca.server(t)
	ca.sign(t, "ops", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	ca.sign(t, "guest", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	scrapes := client{ns: ns, address: outside + ":10420"}

	t.Run("unix", func(t *testing.T) {
		socket := filepath.Join(t.TempDir(), "apply.sock")
		// What a former process left behind is no obstacle.
		old, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		old.SetUnlinkOnClose(false)
		old.Close()
		serveIn(t, ns, "--web.enable-apply", "--web.apply-listen-address=unix:"+socket, "--state.dir="+t.TempDir())
		scrapes.must(t, 200, "GET", "/metrics", "", nil)
		scrapes.refused(t, 403, "apply-disabled", "unix:"+socket)
		var done apply.Transaction
		client{ns: ns, network: "unix", address: socket}.must(t, 200, "POST", "/apply", "", &done)
		if done.State != apply.Committed || done.Actor != "http:@unix" {
			t.Errorf("%+v", done)
		}
		info, err := os.Stat(socket)
		if err != nil || info.Mode().Perm() != 0o660 {
			t.Errorf("the socket is %v, %v; want it for owner and group", info.Mode(), err)
		}
	})
	t.Run("certificates", func(t *testing.T) {
		config := ca.write(t, "apply.yml", tlsSection+"  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n")
		serveIn(t, ns, "--web.enable-apply", "--web.apply-listen-address="+outside+":10421", "--web.apply-config.file="+config,
			"--web.apply-user=ops", "--state.dir="+t.TempDir())
		scrapes.must(t, 200, "GET", "/metrics", "", nil)
		scrapes.refused(t, 403, "apply-disabled", outside+":10421")
		var done apply.Transaction
		client{ns: ns, address: outside + ":10421", tls: ca.trust(t, "ops")}.must(t, 200, "POST", "/apply", "", &done)
		if done.State != apply.Committed || done.Actor != "http:ops@"+outside {
			t.Errorf("%+v", done)
		}
		client{ns: ns, address: outside + ":10421", tls: ca.trust(t, "guest")}.refused(t, 403, "user-not-allowed", `"guest" may look`)
	})
}

// TestServeRollsBack proves on the kernel's own files that a daemon takes back
// what a command wrote: rps_cpus and xps_cpus are byte for byte as before, and
// /metrics says so.
func TestServeRollsBack(t *testing.T) {
	ns := steerable(t)
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	plan := filepath.Join(dir, "plan.json")
	if err := os.WriteFile(plan, []byte(`{"schema":"netsteer.advice/v1","changes":[{"kind":"rps_cpus","device":"nst0","direction":"rx","queue":1,"proposed":"0"},{"kind":"xps_cpus","device":"nst0","direction":"tx","queue":1,"proposed":"0"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	masks := func() string {
		return ns.Run(t, "sh", "-c", "cd /sys/class/net/nst0/queues && for f in rx-*/rps_cpus tx-*/xps_cpus; do echo $f $(cat $f); done")
	}
	before := masks()
	ns.Run(t, "netsteer", "apply", "--plan="+plan, "--yes", "--state.dir="+state)
	if masks() == before {
		t.Fatalf("the command changed nothing: %s", before)
	}
	serveIn(t, ns, "--web.enable-apply", "--web.listen-address=127.0.0.1:10420", "--state.dir="+state)
	c := client{ns: ns, address: "127.0.0.1:10420"}
	c.must(t, 200, "GET", "/-/ready", "", nil) // a POST before would be refused, and counted
	var list apply.List
	c.must(t, 200, "GET", "/transactions", "", &list)
	if len(list.Transactions) != 1 || !strings.HasPrefix(list.Transactions[0].Actor, "cli:") {
		t.Fatalf("the daemon does not see the command's transaction: %+v", list)
	}
	var undone apply.Transaction
	c.must(t, 200, "POST", "/rollback", "", &undone)
	if undone.State != apply.Committed || undone.Undoes != list.Transactions[0].ID || undone.Actor != "http:@127.0.0.1" {
		t.Errorf("%+v", undone)
	}
	if after := masks(); after != before {
		t.Errorf("after the rollback:\n%swant\n%s", after, before)
	}
	metrics := c.ask(t, "GET", "/metrics", "")
	for _, want := range []string{
		`netsteer_apply_total{result="applied"} 1`, `netsteer_apply_total{result="rejected"} 0`,
		`netsteer_recommended_changes{device="nst0",kind="xps_cpus"} 0`, `netsteer_queue_rps_cpus{device="nst0",queue="1"} 0`,
		`netsteer_rival_active{name="irqbalance"} `,
	} {
		if !bytes.Contains(metrics.body, []byte(want)) {
			t.Errorf("no %s", want)
		}
	}
	var advice struct {
		Changes  []any `json:"changes"`
		Findings []struct{ Rule, Device string }
	}
	c.must(t, 200, "GET", "/advice?device=nst0", "", &advice)
	if len(advice.Changes) != 0 || len(advice.Findings) == 0 {
		t.Errorf("advice for a veth: %+v; want no changes, and why", advice)
	}
}

// TestServeAfterCrash proves that a server which may write takes back what a
// crash left half done, and that any other leaves it as it is.
func TestServeAfterCrash(t *testing.T) {
	for name, tt := range map[string]struct {
		args  []string
		mask  string
		state apply.State
	}{
		"writes":     {[]string{"--web.enable-apply"}, "", apply.RolledBack},
		"only shows": {nil, "1", apply.Applying},
	} {
		t.Run(name, func(t *testing.T) {
			ns := steerable(t)
			state := t.TempDir()
			const file = "/sys/class/net/nst0/queues/rx-1/rps_cpus"
			ns.Run(t, "sh", "-c", "echo 1 >"+file)
			now := time.Now().UTC()
			id := now.Format("20060102T150405Z") + "-0001"
			record := fmt.Sprintf(`{"schema":"netsteer.transaction/v1","id":%q,"operation":"apply","state":"applying","started":%q,"actor":"cli:root","boot_id":%q,`+
				`"changes":[{"kind":"rps_cpus","device":"nst0","direction":"rx","queue":1,"current":"","proposed":"0","disruptive":false,"result":"not_tried"}]}`,
				id, now.Format(time.RFC3339), bootID("/proc"))
			if err := os.Mkdir(filepath.Join(state, "transactions"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(state, "transactions", id+".json"), []byte(record), 0o644); err != nil {
				t.Fatal(err)
			}
			serveIn(t, ns, append(tt.args, "--web.listen-address=127.0.0.1:10420", "--state.dir="+state)...)
			c := client{ns: ns, address: "127.0.0.1:10420"}
			c.must(t, 200, "GET", "/-/ready", "", nil)
			var got apply.Transaction
			for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline) && got.State != tt.state; time.Sleep(50 * time.Millisecond) {
				c.must(t, 200, "GET", "/transactions/"+id, "", &got)
			}
			mask := strings.Trim(ns.Run(t, "cat", file), "0,\n")
			if mask != tt.mask || got.State != tt.state {
				t.Errorf("rps_cpus %q, state %s; want %q and %s", mask, got.State, tt.mask, tt.state)
			}
		})
	}
}

// TestServeRefusesToStart proves that a server which would let anybody write, or
// nobody, does not start: one line with the ways out.
func TestServeRefusesToStart(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.yml")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "taken.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--web.enable-apply", "--web.listen-address=:0"}, "is reached over the network and asks for no user: listen on 127.0.0.1, or"},
		{[]string{"--web.enable-apply", "--web.listen-address=127.0.0.1:0", "--web.listen-address=0.0.0.0:0", "--web.config.file=" + empty}, "or demand users or verified client certificates"},
		{[]string{"--web.enable-apply", "--web.listen-address=127.0.0.1:0", "--web.apply-listen-address=:0"}, "is reached over the network"},
		{[]string{"--web.enable-apply", "--web.listen-address=127.0.0.1:0", "--web.apply-user=alice"}, "--web.apply-user: 127.0.0.1:"},
		{[]string{"--web.apply-user=alice"}, "--web.apply-user: nothing is written without --web.enable-apply"},
		{[]string{"--web.apply-listen-address=unix:/x"}, "--web.apply-listen-address: nothing is written without --web.enable-apply"},
		{[]string{"--web.enable-apply", "--web.apply-config.file=" + empty}, "--web.apply-config.file: it is the configuration of --web.apply-listen-address, which is missing"},
		{[]string{"--web.enable-apply", "--web.listen-address=127.0.0.1:0", "--web.apply-listen-address=unix:" + dir + "/taken.sock"}, "taken.sock\": address already in use"},
		{[]string{"--web.enable-apply", "--web.listen-address=127.0.0.1:0", "--web.apply-listen-address=unix:" + empty}, "empty.yml\": address already in use"},
		{[]string{"--web.enable-apply", "--web.listen-address=127.0.0.1:0", "--web.apply-listen-address=unix:" + dir + "/no/such.sock"}, "no such file or directory"},
		{[]string{"--web.enable-apply", "--web.listen-address=127.0.0.1:0", "--web.apply-listen-address=nonsense"}, "--web.apply-listen-address=\"nonsense\": "},
		{[]string{"--profile=fastest"}, "--profile=\"fastest\": "},
	} {
		t.Run(fmt.Sprint(tt.args), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if exit := run(append([]string{"serve"}, tt.args...), &stdout, &stderr); exit != 1 {
				t.Errorf("exit %d", exit)
			}
			if line := stderr.String(); !strings.Contains(line, tt.want) || strings.Count(line, "\n") != 1 || stdout.Len() > 0 {
				t.Errorf("stderr %q; want one line with %q", line, tt.want)
			}
		})
	}
	if _, err := os.Stat(empty); err != nil {
		t.Errorf("a file that is no socket was taken for one: %v", err)
	}
}
