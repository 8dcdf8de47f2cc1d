package pins

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"time"

	"golang.org/x/mod/semver"

	"github.com/winbake/winbake/internal/fault"
)

// StampData is what a stamp's template may name.
type StampData struct {
	Version string // as pinned: "v1.33.13"; the commit for a git source
	Commit  string // full, of the source
	Date    string // of a git source's commit, RFC 3339 in UTC; else 1970
	Major   string // "1"
	Minor   string // "33"
}

// Epoch is the time of what has no date that anything proves, as ko and
// Kubernetes' own version package have it.
const Epoch = "1970-01-01T00:00:00Z"

// SourceDate is the time that SOURCE_DATE_EPOCH sets, in seconds; "" sets none
// (https://reproducible-builds.org/specs/source-date-epoch/).
func SourceDate(epoch string) (t time.Time, set bool, err error) {
	if epoch == "" {
		return t, false, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return t, false, &fault.Error{What: fmt.Sprintf("SOURCE_DATE_EPOCH is %q, not a number of seconds", epoch), Fix: "unset SOURCE_DATE_EPOCH, or set it to: git log -1 --format=%ct", Err: err}
	}
	return time.Unix(seconds, 0).UTC(), true, nil
}

// Stamps renders the component's stamps from its lock. sourceDateEpoch, in
// seconds as SOURCE_DATE_EPOCH has it, replaces the date; "" keeps it. A
// module has none: its h1 covers no date, and proxies tell different ones.
func (c *Component) Stamps(l *Locked, sourceDateEpoch string) (map[string]string, error) {
	if len(c.Stamp) == 0 {
		return nil, nil
	}
	data := StampData{Version: c.Version, Commit: l.Commit, Date: cmp.Or(l.Date, Epoch)}
	if data.Version == "" {
		data.Version = c.Commit
	}
	if major, minor, ok := strings.Cut(strings.TrimPrefix(semver.MajorMinor(c.Version), "v"), "."); ok {
		data.Major, data.Minor = major, minor
	}
	if t, set, err := SourceDate(sourceDateEpoch); err != nil {
		return nil, err
	} else if set {
		data.Date = t.Format(time.RFC3339)
	}
	rendered := map[string]string{}
	for name, text := range c.Stamp {
		if data.Commit == "" && strings.Contains(text, ".Commit") {
			return nil, &fault.Error{Where: c.Name, What: fmt.Sprintf("stamp %s uses {{.Commit}}, and the proxy doesn't tell the commit of %s@%s", name, c.Module, c.Version),
				Fix: "add commit: (the tag's full commit) to the component, or take the stamp out"}
		}
		value, err := renderStamp(text, data)
		if err != nil {
			return nil, fmt.Errorf("stamp %s: %w", name, err)
		}
		rendered[name] = value
	}
	return rendered, nil
}

func renderStamp(text string, data StampData) (string, error) {
	t, err := template.New("stamp").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", err
	}
	if strings.ContainsAny(b.String(), "\x00\n\r") || strings.Contains(b.String(), "'") && strings.Contains(b.String(), `"`) {
		return "", fmt.Errorf("%q can't be passed to the linker", b.String())
	}
	return b.String(), nil
}
