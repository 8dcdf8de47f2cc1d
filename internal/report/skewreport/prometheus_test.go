package skewreport

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/skew"
)

// sampleLine is one series with its labels and its value.
type sampleLine struct {
	name   string
	labels map[string]string
	value  float64
}

var metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)

// parseProm reads the text format as strictly as a scrape does:
// https://prometheus.io/docs/instrumenting/exposition_formats/
func parseProm(text string) ([]sampleLine, error) {
	if !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("the last line doesn't end")
	}
	var all []sampleLine
	typed, seen := map[string]bool{}, map[string]bool{}
	current := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if typed[name] || kind != "gauge" {
				return nil, fmt.Errorf("type: %q", line)
			}
			typed[name], current = true, name
			continue
		}
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		s, err := parseSample(line)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		series, _, _ := strings.Cut(line, "} ")
		if s.name != current || seen[series] {
			return nil, fmt.Errorf("%q: twice, or outside its family", line)
		}
		seen[series] = true
		all = append(all, s)
	}
	return all, nil
}

func parseSample(line string) (sampleLine, error) {
	s := sampleLine{labels: map[string]string{}}
	i := strings.IndexAny(line, "{ ")
	if i < 0 || !metricName.MatchString(line[:i]) {
		return s, fmt.Errorf("no name")
	}
	s.name = line[:i]
	rest := line[i:]
	for strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, ",") {
		name, value, after, err := parseLabel(rest[1:])
		if err != nil {
			return s, err
		}
		if _, twice := s.labels[name]; twice {
			return s, fmt.Errorf("label %s twice", name)
		}
		s.labels[name] = value
		rest = after
	}
	rest = strings.TrimPrefix(rest, "}")
	number, ok := strings.CutPrefix(rest, " ")
	if !ok {
		return s, fmt.Errorf("no value")
	}
	var err error
	s.value, err = strconv.ParseFloat(number, 64)
	return s, err
}

func parseLabel(s string) (name, value, rest string, err error) {
	name, s, ok := strings.Cut(s, `="`)
	if !ok || !metricName.MatchString(name) || strings.Contains(name, ":") {
		return "", "", "", fmt.Errorf("no label")
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return name, b.String(), s[i+1:], nil
		case '\\':
			i++
			if i == len(s) {
				return "", "", "", fmt.Errorf("a backslash at the end")
			}
			unescaped, known := map[byte]byte{'\\': '\\', '"': '"', 'n': '\n'}[s[i]]
			if !known {
				return "", "", "", fmt.Errorf("unknown escape %c", s[i])
			}
			b.WriteByte(unescaped)
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", "", fmt.Errorf("a label that doesn't end")
}

func find(all []sampleLine, name string, labels ...string) []sampleLine {
	var found []sampleLine
	for _, s := range all {
		ok := s.name == name
		for i := 0; i < len(labels); i += 2 {
			ok = ok && s.labels[labels[i]] == labels[i+1]
		}
		if ok {
			found = append(found, s)
		}
	}
	return found
}

func TestPrometheusParsesBack(t *testing.T) {
	parsed := map[string][]sampleLine{}
	for name, sample := range samples {
		all, err := parseProm(output(t, "prometheus", sample(), Options{}))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		parsed[name] = all
	}
	for _, c := range []struct {
		sample, metric string
		labels         []string
		want           float64
	}{
		{"mixed", "winbake_skew_verdict", []string{"from", "4.16.21", "to", "4.20"}, 4},
		{"safe", "winbake_skew_verdict", nil, 0},
		{"unknown", "winbake_skew_verdict", nil, 3},
		{"mixed", "winbake_skew_exit_code", nil, 3},
		{"mixed", "winbake_skew_findings", []string{"severity", "WARN"}, 3},
		{"mixed", "winbake_skew_finding", []string{"id", "SKEW003", "driver", "aws-ebs"}, 1},
		{"mixed", "winbake_skew_finding", []string{"id", "NODE001", "accepted", "WARN"}, 1},
		{"mixed", "winbake_skew_driver_minor_distance", []string{"driver", "vsphere", "hop", "4.19 -> 4.20", "at", "target"}, -2},
		{"mixed", "winbake_skew_catalog_age_seconds", nil, 82 * 24 * 60 * 60},
		{"mixed", "winbake_skew_catalog_timestamp_seconds", nil, 1788134400},
	} {
		found := find(parsed[c.sample], c.metric, c.labels...)
		if len(found) != 1 || found[0].value != c.want {
			t.Errorf("%s: %s%v: %+v, want %v", c.sample, c.metric, c.labels, found, c.want)
		}
	}
	if got := find(parsed["unknown"], "winbake_skew_driver_minor_distance"); len(got) > 0 {
		t.Errorf("unknown distances became numbers: %+v", got)
	}
	if got := find(parsed["unknown"], "winbake_skew_catalog_age_seconds"); len(got) > 0 {
		t.Errorf("an age without a day: %+v", got)
	}
}

// A scrape with one series twice is refused as a whole.
func TestPrometheusSeriesAreUnique(t *testing.T) {
	r := mixed()
	r.Result.Findings = append(r.Result.Findings, r.Result.Findings...)
	r.Result.Drivers = append(r.Result.Drivers, skew.Row{}, skew.Row{})
	if _, err := parseProm(output(t, "prometheus", r, Options{})); err != nil {
		t.Error(err)
	}
}
