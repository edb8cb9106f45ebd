package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"

	toolkit "github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v2"
	"golang.org/x/crypto/bcrypt"
)

// Demands are what a web configuration asks of a client before it is let in.
type Demands struct {
	users map[string]string // user to bcrypt hash
	// certificates: a client certificate that one of the file's own authorities
	// has signed.
	certificates bool
}

// ReadDemands reads a web configuration file as it is now; "" demands nothing.
func ReadDemands(file string) (Demands, error) {
	if file == "" {
		return Demands{}, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return Demands{}, err
	}
	var c toolkit.Config
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		return Demands{}, fmt.Errorf("%s: %w", file, err)
	}
	d := Demands{users: map[string]string{}}
	for user, hash := range c.Users {
		d.users[user] = string(hash)
	}
	// Without authorities in the file, Go takes the system's: anybody can have a
	// certificate of one of those.
	t := &c.TLSConfig
	d.certificates = t.ClientAuth == "RequireAndVerifyClientCert" && cmp.Or(t.ClientCAs, t.ClientCAsText) != ""
	return d, nil
}

// Any reports whether somebody unknown is kept out.
func (d Demands) Any() bool { return len(d.users) > 0 || d.certificates }

// caller is who sends a request: the name that the record gets, and all names
// that --web.apply-user may have; empty where nothing is demanded.
type caller struct {
	name  string
	names []string
}

// identify finds out who the client is. The toolkit has checked the same before,
// but maybe against the file as it was a moment ago, and a connection may be
// older than the demand for certificates.
func (d Demands) identify(r *http.Request) (caller, error) {
	var c caller
	if len(d.users) > 0 {
		user, password, _ := r.BasicAuth()
		hash, known := d.users[user]
		if !known || bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) != nil {
			return caller{}, errors.New("the web configuration, as it is now, has no such user with this password")
		}
		c = caller{name: user, names: []string{user}}
	}
	if d.certificates {
		if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
			return caller{}, errors.New("the web configuration, as it is now, demands a client certificate, and this connection was made without: connect anew")
		}
		leaf := r.TLS.VerifiedChains[0][0]
		names := slices.Concat([]string{leaf.Subject.CommonName}, leaf.DNSNames, leaf.EmailAddresses)
		for _, ip := range leaf.IPAddresses {
			names = append(names, ip.String())
		}
		for _, uri := range leaf.URIs {
			names = append(names, uri.String())
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
		if len(names) == 0 {
			names = []string{"unnamed certificate"}
		}
		c.name, c.names = cmp.Or(c.name, names[0]), append(c.names, names...)
	}
	return c, nil
}
