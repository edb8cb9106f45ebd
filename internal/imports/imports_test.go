package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

const module = "github.com/netsteer/netsteer"

// nouns are the packages whose types collector and web show.
var nouns = []string{"cpuset", "host", "skew", "advisor", "apply"}

// arrows says, for each package of the product, which others it may import. A
// package that is not a key (lab, bench, generators, internal) may import
// anything and is imported by no package of the product.
var arrows = map[string][]string{
	"cpuset": {},
	// How text reaches a terminal is nobody's noun.
	"internal/plain": {},
	"host/procfile":  {"cpuset"},
	"host/netlink":   {"cpuset"},
	"host/driver":    {"cpuset"},
	"host":           {"cpuset"},
	"host/scan":      {"cpuset", "host", "host/driver", "host/procfile"},
	"host/live":      {"cpuset", "host", "host/scan", "host/netlink"},
	"host/record":    {"cpuset", "host", "host/scan"},
	"skew":           {"cpuset", "host"},
	"advisor":        {"cpuset", "host", "host/driver", "skew", "internal/plain"},
	"apply":          {"cpuset", "host", "skew", "advisor"},
	"watch":          {"cpuset", "host", "host/scan", "skew", "advisor", "apply"},
	"collector":      append([]string{"watch"}, nouns...),
	"web":            append([]string{"watch"}, nouns...),
	"cmd/exporter":   all,
}

// all stands for every other key of arrows.
var all = []string{"*"}

// pure lists the packages that compute from their arguments alone: the same
// facts must give the same advice, on this machine or from a recording.
var pure = []string{"skew", "advisor"}

// machine holds what a pure package does not import; a path with a slash after
// one of these is out as well.
var machine = []string{"os", "net", "syscall", "golang.org/x/sys"}

// clock names the functions of package time that read the clock or wait for it.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"}

// pkg is the part of `go list -json` that is used here.
type pkg struct {
	Dir        string
	ImportPath string
	Imports    []string
	GoFiles    []string
}

func TestImportsGoOneWay(t *testing.T) {
	packages := list(t)
	if len(packages) == 0 {
		t.Fatal("go list names no package")
	}
	for _, p := range packages {
		for _, fault := range faults(p) {
			t.Error(fault)
		}
		if slices.Contains(pure, short(p.ImportPath)) {
			for _, name := range p.GoFiles {
				for _, fault := range clockFaults(t, filepath.Join(p.Dir, name), nil) {
					t.Error(fault)
				}
			}
		}
	}
}

// faults gives one line for each import of p that the table forbids.
func faults(p pkg) []string {
	var out []string
	from := short(p.ImportPath)
	allowed, product := arrows[from]
	for _, path := range p.Imports {
		if slices.Contains(pure, from) && isMachine(path) {
			out = append(out, fmt.Sprintf("%s imports %s: it computes from its arguments alone", from, path))
		}
		if !product || (path != module && !strings.HasPrefix(path, module+"/")) {
			continue
		}
		to := short(path)
		_, known := arrows[to]
		switch {
		case !known:
			out = append(out, fmt.Sprintf("%s imports %s, which is no package of the product; if it is one, give it a row in arrows", from, to))
		case !slices.Contains(allowed, to) && !slices.Equal(allowed, all):
			out = append(out, fmt.Sprintf("%s imports %s: that arrow is not in the table", from, to))
		}
	}
	return out
}

func isMachine(path string) bool {
	return slices.ContainsFunc(machine, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
}

// clockFaults gives one line for each use of the clock in a file; src is as in
// parser.ParseFile.
func clockFaults(t *testing.T, name string, src any) []string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	local := timeName(file)
	if local == "." {
		return []string{name + ": package time is imported with a dot, which hides the clock"}
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(clock, sel.Sel.Name) {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && local != "" && x.Name == local {
			out = append(out, fmt.Sprintf("%s: time.%s: watch has the only clock", fset.Position(sel.Pos()), sel.Sel.Name))
		}
		return true
	})
	return out
}

// timeName gives the name under which a file imports package time, "" if it
// does not.
func timeName(file *ast.File) string {
	for _, spec := range file.Imports {
		if path, _ := strconv.Unquote(spec.Path.Value); path != "time" {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return "time"
	}
	return ""
}

// list runs go list over the module. It also looks at what go list has read, in
// this process, so that go test's cache sees when an import has changed.
func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, "go"), "list", "-json=Dir,ImportPath,Imports,GoFiles", "./...")
	cmd.Dir = testenv.ModuleRoot(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	for _, p := range packages {
		look := []string{p.Dir, filepath.Dir(p.Dir)}
		for _, name := range p.GoFiles {
			look = append(look, filepath.Join(p.Dir, name))
		}
		for _, path := range look {
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		}
	}
	return packages
}

func short(path string) string { return strings.TrimPrefix(path, module+"/") }

func TestFaults(t *testing.T) {
	tests := []struct {
		name string
		from string
		to   string // the one import
		want string // part of the one fault, "" for none
	}{
		{"the table's own arrow", "host/scan", module + "/host/procfile", ""},
		{"cpuset is for all", "host/netlink", module + "/cpuset", ""},
		{"against the arrow", "host", module + "/host/scan", "not in the table"},
		{"past the wall between reading and the wire", "host/scan", module + "/host/netlink", "not in the table"},
		{"a sister", "collector", module + "/web", "not in the table"},
		{"the command takes all", "cmd/exporter", module + "/host/live", ""},
		{"the command takes no test helper", "cmd/exporter", module + "/internal/testenv", "no package of the product"},
		{"the product never takes the lab", "watch", module + "/lab", "no package of the product"},
		{"the lab takes what it likes", "lab", module + "/host/record", ""},
		{"another module", "host/netlink", "github.com/mdlayher/netlink", ""},
		{"a module with our name in front", "host", module + "-extra/x", ""},
		{"os in a pure package", "advisor", "os", "arguments alone"},
		{"below x/sys", "skew", "golang.org/x/sys/unix", "arguments alone"},
		{"below net", "skew", "net/http", "arguments alone"},
		{"a name that only begins alike", "skew", "oslo", ""},
		{"os elsewhere", "host/live", "os", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := faults(pkg{ImportPath: module + "/" + tt.from, Imports: []string{tt.to}})
			switch {
			case tt.want == "" && len(got) != 0:
				t.Errorf("faults %q, want none", got)
			case tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)):
				t.Errorf("faults %q, want one with %q", got, tt.want)
			}
		})
	}
}

// The table must be free of circles, else "one way" means nothing.
func TestTableHasNoCircle(t *testing.T) {
	var visit func(name string, path []string)
	visit = func(name string, path []string) {
		if slices.Contains(path, name) {
			t.Fatalf("circle: %s", strings.Join(append(path, name), " -> "))
		}
		to, ok := arrows[name]
		if !ok {
			t.Fatalf("%s has no row in arrows", name)
		}
		for _, next := range to {
			if next != "*" {
				visit(next, append(slices.Clone(path), name))
			}
		}
	}
	for name := range arrows {
		visit(name, nil)
	}
}

func TestClockFaults(t *testing.T) {
	tests := []struct {
		name, src string
		want      int
	}{
		{"plain", `import "time"; var t = time.Now()`, 1},
		{"under another name", `import clock "time"; var t = clock.Now()`, 1},
		{"as a value", `import "time"; var now = time.Now`, 1},
		{"hidden clock", `import "time"; func f(t time.Time) { _ = time.Since(t); time.Sleep(1) }`, 2},
		{"dot", `import . "time"; var t = Now()`, 1},
		{"types and units only", `import "time"; const window = 60 * time.Second`, 0},
		{"another's Now", `import "time"; type s struct{ Now time.Time }; func f(x s) time.Time { return x.Now }`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := clockFaults(t, "x.go", "package x\n"+tt.src); len(got) != tt.want {
				t.Errorf("faults %q, want %d", got, tt.want)
			}
		})
	}
}
