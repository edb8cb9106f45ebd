package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/internal/plain"
)

type transactions struct {
	stateDir *string
	id       string
	format   string
}

func addTransactions(app *kingpin.Application) command {
	cmd := app.Command("transactions", "List what was applied and rolled back, newest first, or show one.")
	t := &transactions{stateDir: addStateDir(cmd)}
	cmd.Arg("id", "Show this transaction.").StringVar(&t.id)
	parsed(cmd.Flag("format", "text or json.").Default("text"), &t.format, parseOneOf("text", "json"))
	return t.run
}

func (t *transactions) run(stdout, stderr io.Writer) error {
	engine := readJournal(*t.stateDir, stderr)
	if t.id != "" {
		one, err := engine.Get(t.id)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is no transaction %q in %s", t.id, *t.stateDir)
		}
		if err != nil {
			return err
		}
		if t.format == "text" && engine.Interrupted(one) {
			one.State = interrupted
		}
		return writeTransaction(stdout, one, t.format)
	}
	all, err := engine.List()
	if err != nil {
		return err
	}
	if t.format == "json" {
		if all == nil {
			all = []apply.Transaction{}
		}
		return writeJSON(stdout, apply.List{Schema: apply.ListSchema, Transactions: all})
	}
	if len(all) == 0 {
		fmt.Fprintf(stdout, "no transactions in %s\n", *t.stateDir)
		return nil
	}
	list := table{heads: []string{"<ID", "<OPERATION", "<STATE", "<STARTED", ">CHANGES", "<ACTOR", "<REASON"}}
	for i := range all {
		row := transactionRow(&all[i])
		if engine.Interrupted(&all[i]) {
			row[2] = interrupted
		}
		list.add(row...)
	}
	list.write(plain.Writer(stdout), "")
	return nil
}

// interrupted is what is shown for people of a record that a crash left.
const interrupted = "interrupted"

func transactionRow(t *apply.Transaction) []string {
	operation := string(t.Operation)
	if t.Undoes != "" {
		operation += " of " + t.Undoes
	}
	return []string{t.ID, operation, string(t.State), seconds(t.Started), strconv.Itoa(len(t.Changes)), t.Actor, oneLine(t.Reason)}
}

// seconds cuts the fraction off a time of the journal.
func seconds(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return at.UTC().Format(time.RFC3339)
}

// writeTransaction shows what was done: per change, or as JSON.
func writeTransaction(stdout io.Writer, t *apply.Transaction, format string) error {
	out := bufio.NewWriter(stdout)
	if format == "json" {
		if err := writeJSON(out, t); err != nil {
			return err
		}
		return out.Flush()
	}
	fmt.Fprintln(out, plain.Text(transactionLine(t)))
	writeChanges(out, t)
	if len(t.Left) > 0 {
		fmt.Fprintf(out, "left out: %s (--kind, --device and --allow-disruptive choose)\n", strings.Join(t.Left, " "))
	}
	return out.Flush()
}

func transactionLine(t *apply.Transaction) string {
	what := string(t.Operation)
	if t.ID != "" {
		what += " " + t.ID
	}
	if t.Undoes != "" {
		what += " of " + t.Undoes
	}
	what += ": " + strings.ReplaceAll(string(t.State), "_", " ")
	if t.Reason != "" {
		what += ": " + oneLine(t.Reason)
	}
	return what
}

// writePlan shows what a transaction would do, or did, before the question.
func writePlan(out io.Writer, t *apply.Transaction) { writeChanges(out, t) }

func writeChanges(out io.Writer, t *apply.Transaction) {
	out = plain.Writer(out)
	if len(t.Changes) == 0 {
		return
	}
	changes := table{heads: []string{"<RESULT", "<SETTING", "<BEFORE", "<AFTER", "<TARGET", "<NOTE"}}
	for i := range t.Changes {
		c := &t.Changes[i]
		before, after, result := unknownText, valueText(c.Proposed), strings.ReplaceAll(string(c.Result), "_", " ")
		if c.Current != nil {
			before = valueText(*c.Current)
		}
		note := c.Reason
		if c.Error != nil {
			note = oneLine(c.Error.Detail)
		}
		if c.Result == apply.NotTried && c.Error == nil && (t.State == apply.DryRun) {
			result = "would apply"
		}
		changes.add(result, c.Setting().String(), before, after, c.Target, note)
	}
	changes.write(out, "  ")
}

// valueText is a setting's value for people.
func valueText(text string) string {
	if text == "" {
		return "off"
	}
	return text
}
