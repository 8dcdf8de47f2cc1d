package skewreport

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/finding"
)

// encodePrometheus writes a file for node_exporter's textfile collector:
// https://prometheus.io/docs/instrumenting/exposition_formats/
// PASS findings are counted and not listed: one series for each object that is
// well would cost more than it tells.
func encodePrometheus(d *Document, _ Options) (string, error) { //nolint:unparam // of the type that all formats have
	d = d.display()
	m := &metrics{}
	m.family("winbake_skew_verdict", "The worst finding: 0 PASS, 2 WARN, 3 UNKNOWN, 4 BLOCK.")
	m.sample(float64(d.Verdict), "from", d.From, "to", d.To)
	m.family("winbake_skew_exit_code", "What verify skew exited with.")
	m.sample(float64(d.ExitCode))
	m.family("winbake_skew_findings", "Findings by severity.")
	for s := finding.Pass; s <= finding.Block; s++ {
		m.sample(float64(d.Counts[s.String()]), "severity", s.String())
	}
	d.findingMetrics(m)
	d.driverMetrics(m)
	m.family("winbake_skew_rules_not_evaluated", "Rules that had nothing to go by.")
	m.sample(float64(len(d.NotEvaluated)))
	d.timeMetrics(m)
	return m.String(), nil
}

func (d *Document) findingMetrics(m *metrics) {
	drivers := map[string]string{}
	for _, r := range d.Drivers {
		drivers[r.Object] = r.Driver
	}
	m.family("winbake_skew_finding", "A finding that isn't PASS; accepted is the severity that --accept took away.")
	for _, f := range d.Findings {
		if f.Severity > finding.Pass {
			m.sample(1, "id", f.ID, "severity", f.Severity.String(), "object", f.Object, "driver", drivers[f.Object],
				"phase", f.Phase, "hop", f.Hop, "accepted", f.Accepted)
		}
	}
}

// driverMetrics leaves distances out that aren't known: NaN would look like
// one.
func (d *Document) driverMetrics(m *metrics) {
	m.family("winbake_skew_driver_minor_distance", "Minors of the Windows driver behind (-) or ahead (+) of Linux; unknown ones are left out.")
	for _, r := range d.Drivers {
		hop := d.hopOf(r.Hop)
		labels := []string{"driver", r.Driver, "provisioner", r.Provisioner, "object", r.Object, "hop", hop, "mode", r.Mode}
		if r.DistanceNow != nil {
			m.sample(float64(*r.DistanceNow), append(slices.Clone(labels), "at", "now")...)
		}
		if r.Distance != nil {
			m.sample(float64(*r.Distance), append(slices.Clone(labels), "at", "target")...)
		}
	}
}

func (d *Document) timeMetrics(m *metrics) {
	asOf, err := time.Parse(time.DateOnly, d.Catalog.AsOf)
	if err == nil {
		m.family("winbake_skew_catalog_timestamp_seconds", "The day that the catalog is of.")
		m.sample(float64(asOf.Unix()))
	}
	today, err := time.Parse(time.DateOnly, d.Date)
	if err == nil {
		m.family("winbake_skew_run_timestamp_seconds", "The day of the check.")
		m.sample(float64(today.Unix()))
	}
	if n := d.Catalog.AgeDays; n != nil {
		m.family("winbake_skew_catalog_age_seconds", "How old the catalog was on the day of the check.")
		m.sample(float64(*n) * 24 * 60 * 60)
	}
}

// metrics writes gauges: families with their help, samples with their labels.
type metrics struct {
	strings.Builder
	name string
	seen map[string]bool
}

func (m *metrics) family(name, help string) {
	m.name, m.seen = name, map[string]bool{}
	fmt.Fprintf(m, "# HELP %s %s\n# TYPE %s gauge\n", name, labelEscape.Replace(help), name)
}

var labelEscape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// sample writes one series, once: a scrape with a series twice is refused as a
// whole.
func (m *metrics) sample(value float64, labels ...string) {
	var b strings.Builder
	for i := 0; i < len(labels); i += 2 {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(labels[i] + `="` + labelEscape.Replace(labels[i+1]) + `"`)
	}
	series := m.name
	if b.Len() > 0 {
		series += "{" + b.String() + "}"
	}
	if !m.seen[series] {
		m.WriteString(series + " " + strconv.FormatFloat(value, 'f', -1, 64) + "\n")
	}
	m.seen[series] = true
}
