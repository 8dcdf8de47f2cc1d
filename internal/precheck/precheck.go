// Package precheck is the process behind `verify skew precheck`: it judges a live
// cluster against the updates that the cluster is offered, again and again, and
// serves the verdicts as Prometheus metrics.
//
// Reading is package cluster's and judging package skew's. It changes nothing in
// the cluster, keeps no history, and elects no leader: two of it say the same.
package precheck

import (
	"context"
	"time"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/finding"
)

// Answer is what one evaluation found.
type Answer struct {
	// From is the release that the cluster runs, "4.19.12"; "" unknown.
	From string
	// Targets are the updates that were judged; none where none is offered.
	Targets []Target
	// CatalogAsOf is the day that the catalog is of, 2026-08-31.
	CatalogAsOf string
}

// Target is the verdict on one update.
type Target struct {
	// To is the release, "4.20.3"; "" where it couldn't be told which are
	// offered. Minor is "4.20", or "".
	To, Minor string
	// Verdict is Pass, Warn, Unknown or Block.
	Verdict finding.Severity
	// Concern is what an admin has to know before the update.
	Concern Concern
	// Findings counts those that aren't PASS.
	Findings map[Finding]int
}

// Concern is what an admin has to know before an update. What is due during or
// after it isn't one. The numbers are served, and alerts compare them.
type Concern int

// The concerns.
const (
	NoConcern  Concern = 0
	ActFirst   Concern = 2 // a warning asks for an act before the update
	NotKnown   Concern = 3 // it can't be told whether the update is safe
	BreaksThen Concern = 4 // something stops working with the update
	BrokenNow  Concern = 5 // nothing more does, but something doesn't work now
)

// Finding is a rule's ID and the severity that it gave.
type Finding struct {
	ID       string
	Severity finding.Severity
}

// Options say how Serve works. Zero durations stand for the defaults.
type Options struct {
	// Evaluate reads and judges once. It ends with its context.
	Evaluate func(context.Context) (*Answer, error)
	// Watch tells changed whenever something that verdicts rest on changes, and
	// state whether a resource is being watched; it returns with ctx. nil
	// watches nothing.
	Watch func(ctx context.Context, changed func(), state func(resource string, err error))
	// Interval is the longest time between two evaluations.
	Interval time.Duration
	// Settle is how long to wait after a change, for those that come with it.
	Settle time.Duration
	// Stale is how old an answer may grow before it's UNKNOWN. An evaluation may
	// take as long, and no longer.
	Stale time.Duration
	// Version is the program's own, for a metric.
	Version string
	// Events takes what is worth a line in a log; nil drops it.
	Events event.Sink
}

// The defaults of Options. Changes make evaluations too; the interval is for
// what isn't watched.
const (
	DefaultInterval = 10 * time.Minute
	DefaultSettle   = 30 * time.Second
)

// StaleFactor times Interval is what Stale is by default: two evaluations may
// fail.
const StaleFactor = 3

func (o *Options) complete() {
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	if o.Settle <= 0 {
		o.Settle = DefaultSettle
	}
	if o.Stale <= 0 {
		o.Stale = StaleFactor * o.Interval
	}
	if o.Events == nil {
		o.Events = event.Discard
	}
}
