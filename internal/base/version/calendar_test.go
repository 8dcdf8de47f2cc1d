package version

import "testing"

func TestCalendar(t *testing.T) {
	for _, tc := range []struct {
		windows, linux string
		calendar       bool
		otherMajor     bool
		distance       int
	}{
		{"25.02.1", "26.06.0", true, false, -16},
		{"25.10.1", "26.06.0", true, false, -8},
		{"26.06.0", "25.10.1", true, false, 8},
		{"26.06.1", "26.06.0", true, false, 0},
		{"25.10.0", "24.11.0", false, true, 0}, // nothing proves that they are months
		{"25.4.0", "25.2.0", false, false, 2},
		{"1.04.0", "2.06.0", false, true, 0}, // no years
		{"25.13.0", "26.06.0", false, true, 0},
		{"3.3.0", "3.5.0", false, false, -2},
		{"2.7.3", "3.0.0", false, true, 0},
	} {
		w, l := MustDriver(tc.windows), MustDriver(tc.linux)
		if got := w.Calendar(l); got != tc.calendar || l.Calendar(w) != got {
			t.Errorf("%s and %s: calendar %v, want %v", w, l, got, tc.calendar)
		}
		if got := w.OtherMajor(l); got != tc.otherMajor {
			t.Errorf("%s and %s: other major %v, want %v", w, l, got, tc.otherMajor)
		}
		if got := w.Distance(l); !tc.otherMajor && got != tc.distance {
			t.Errorf("%s is %d from %s, want %d", w, got, l, tc.distance)
		}
	}
}

// A tag's leading zeros are part of its name, and not of its number.
func TestSpelling(t *testing.T) {
	d := MustDriver("v26.06.0-rc.1")
	if got := d.String(); got != "26.06.0-rc.1" {
		t.Errorf("%s, want 26.06.0-rc.1", got)
	}
	if d.Compare(MustDriver("26.6.0-rc.1")) != 0 || d.Minor != 6 {
		t.Errorf("%s isn't 26.6.0-rc.1", d)
	}
	text, err := d.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var back Driver
	if err := back.UnmarshalText(text); err != nil || back != d {
		t.Errorf("%s came back as %s, %v", d, back, err)
	}
	if got := MustDriver("26.06").Core(); got != "26.06" {
		t.Errorf("%s, want 26.06", got)
	}
	if _, err := ParseDriver("00.00.0"); err == nil {
		t.Error("00.00.0 is a version")
	}
}
