package web

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/internal/testenv"
)

// /advice is the plan of the settings as they are now, for the devices and in the
// form that are asked for.
func TestAdvice(t *testing.T) {
	s := newStand(t, nil)
	var all, one advisor.Advice
	s.get(t, "/advice", &all)
	if all.Schema != advisor.Schema || len(all.Changes) == 0 || len(all.Devices) != 3 {
		t.Errorf("%d devices, %d changes, schema %s", len(all.Devices), len(all.Changes), all.Schema)
	}
	s.get(t, "/advice?device=eth1&profile=throughput&format=json", &one)
	if len(one.Devices) != 1 || one.Devices[0].Device != "eth1" || one.Profile != "throughput" {
		t.Errorf("devices %+v, profile %s; want eth1 alone", one.Devices, one.Profile)
	}
	for _, c := range one.Changes {
		if c.Device != "eth1" {
			t.Errorf("%s is of %q", c.ID, c.Device)
		}
	}
	first := s.ask(request("GET", "/advice", "")).Body.String()
	if second := s.ask(request("GET", "/advice", "")).Body.String(); first != second {
		t.Error("twice the same question, two answers")
	}
	text := s.ask(request("GET", "/advice?format=text", ""))
	if text.Header().Get("Content-Type") != "text/plain; charset=utf-8" || !strings.Contains(text.Body.String(), "irq-stacked") {
		t.Errorf("text: %s", text.Body)
	}
}

func TestAdviceShell(t *testing.T) {
	s := newStand(t, nil)
	script := s.ask(request("GET", "/advice?format=shell", ""))
	if script.Code != http.StatusOK || !strings.HasPrefix(script.Body.String(), "#!/bin/sh\n") || strings.Contains(script.Body.String(), "rps_sock_flow_entries") {
		t.Errorf("the script is not that of a plain apply: %s", script.Body)
	}
	check := exec.Command(testenv.Tool(t, "sh"), "-n")
	check.Stdin = script.Body
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("sh -n: %v\n%s", err, out)
	}
}

func TestAdviceRefused(t *testing.T) {
	s := newStand(t, nil)
	for query, want := range map[string]struct {
		status int
		detail string
	}{
		"device=eth9":                         {422, `no device "eth9"`},
		"device=eth0&device=bond0":            {422, "no queues of its own"},
		"profile=latency2":                    {400, `profile "latency2"`},
		"format=systemd":                      {400, "format=systemd is not one of json, text, shell"},
		"format=json&format=text":             {400, "format is given more than once"},
		"devices=eth0":                        {400, `unknown parameter "devices"`},
		"device=%zz":                          {400, "invalid URL escape"},
		"device=" + strings.Repeat("x", 5000): {422, "..."},
	} {
		w := s.ask(request("GET", "/advice?"+query, ""))
		var p Problem
		decode(t, w, &p)
		if w.Code != want.status || !strings.Contains(p.Detail, want.detail) || len(p.Detail) > 300 {
			t.Errorf("%.40s: %d, %q; want %d with %q", query, w.Code, p.Detail, want.status, want.detail)
		}
	}
}

// The page shows the verdict, the plan with its reasons and the line that applies
// it; what is not allowed is not offered; nothing of a plan can become markup.
func TestPlanPage(t *testing.T) {
	s := newStand(t, nil)
	page := s.ask(request("GET", "/", "")).Body.String()
	for _, want := range []string{
		"of 4 not set up well: 12 changes proposed.", "<td>irq_affinity of eth1 combined-3</td><td>4</td><td>6</td>",
		"<td>5-6</td><td>off</td>", "<pre>curl -X POST http://localhost:10420/apply</pre>", "<td>irq-stacked</td>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s:\n%s", want, page)
		}
	}
	r := request("GET", "/", "")
	r.Host = "x'; rm -rf <b>"
	page = s.ask(r).Body.String()
	if strings.Contains(page, "<b>") || !strings.Contains(page, `curl -X POST &#39;http://x&#39;\&#39;&#39;; rm -rf &lt;b&gt;/apply&#39;`) {
		t.Errorf("a Host header is not one word of the line:\n%s", page)
	}
	reads := newStand(t, func(o *Options) { o.Posts = Posts{} })
	if page = reads.ask(request("GET", "/", "")).Body.String(); !strings.Contains(page, "netsteer --web.enable-apply --web.listen-address=127.0.0.1:10420") {
		t.Errorf("a server that only shows does not say how to write:\n%s", page)
	}
}
