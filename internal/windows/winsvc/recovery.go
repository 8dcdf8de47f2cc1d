package winsvc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Recovery is what the service manager does after a failure: the first action
// after the first failure, and so on; the last one after all later ones.
// The zero value is no recovery at all.
type Recovery struct {
	// Reset is how long a service must run until its failures are forgotten,
	// in whole seconds; 0 forgets at once.
	Reset time.Duration
	// Actions are at most three in the dialogs of Windows; the service
	// manager takes more.
	Actions []Action
	// Command is what an action of kind run starts.
	Command string
	// OnNonCrash has the actions taken too when the service stops by itself
	// with an error.
	OnNonCrash bool
}

// Action is what is done after one failure.
type Action struct {
	Kind  ActionKind
	Delay time.Duration // whole milliseconds, before it is done
}

// ActionKind tells actions apart.
type ActionKind string

// The kinds of actions.
const (
	ActionNone    ActionKind = "none"
	ActionRestart ActionKind = "restart"
	ActionReboot  ActionKind = "reboot"
	ActionRun     ActionKind = "run"
)

// String is the action as versions.yaml has it: restart/10s.
func (a Action) String() string { return string(a.Kind) + "/" + short(a.Delay) }

// short is the shortest way to write d: 24h, not 24h0m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// ParseAction reads what String writes.
func ParseAction(text string) (Action, error) {
	kind, delay, ok := strings.Cut(text, "/")
	a := Action{Kind: ActionKind(kind)}
	switch a.Kind {
	case ActionNone, ActionRestart, ActionReboot, ActionRun:
	default:
		return Action{}, fmt.Errorf("%q isn't an action such as restart/10s", text)
	}
	if !ok {
		return Action{}, fmt.Errorf("%q doesn't say how long to wait before, such as %s/10s", text, kind)
	}
	var err error
	if a.Delay, err = ParseDelay(delay, time.Millisecond); err != nil {
		return Action{}, err
	}
	return a, nil
}

// maxDelay is what 32 bits of milliseconds hold, in whole days.
const maxDelay = 49 * 24 * time.Hour

// ParseDelay reads a duration such as 10s or 24h that the service manager can
// hold: whole units, not negative, at most 49 days.
func ParseDelay(text string, unit time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxDelay || d%unit != 0 {
		return 0, fmt.Errorf("%q isn't a duration such as 10s, 5m or 24h, at most %s", text, short(maxDelay))
	}
	return d, nil
}

// recoveryJSON is Recovery with durations that people can read.
type recoveryJSON struct {
	Reset      string   `json:"reset"`
	Actions    []string `json:"actions"`
	Command    string   `json:"command,omitempty"`
	OnNonCrash bool     `json:"onNonCrash"`
}

// MarshalJSON writes durations as text: 24h, restart/10s.
func (r Recovery) MarshalJSON() ([]byte, error) {
	out := recoveryJSON{Reset: short(r.Reset), Command: r.Command, OnNonCrash: r.OnNonCrash, Actions: []string{}}
	for _, a := range r.Actions {
		out.Actions = append(out.Actions, a.String())
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Recovery) UnmarshalJSON(data []byte) error {
	var in recoveryJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	reset, err := ParseDelay(in.Reset, time.Second)
	if err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	read := Recovery{Reset: reset, Command: in.Command, OnNonCrash: in.OnNonCrash}
	for _, text := range in.Actions {
		a, err := ParseAction(text)
		if err != nil {
			return err
		}
		read.Actions = append(read.Actions, a)
	}
	*r = read
	return nil
}

// IsZero reports whether there is no recovery; for omitzero.
func (r Recovery) IsZero() bool {
	return r.Reset == 0 && len(r.Actions) == 0 && r.Command == "" && !r.OnNonCrash
}

// windowsServices are services of Windows Server 2022 that others sensibly
// depend on, or mustn't be confused with, and the agents that virtual
// machines bring (https://learn.microsoft.com/windows-server/security/windows-services/security-guidelines-for-disabling-system-services-in-windows-server).
var windowsServices = strings.Fields(`afd appinfo bfe bits browser certpropsvc cryptsvc dcomlaunch dhcp dnscache dps eventlog eventsystem
	gpsvc hns http hvhost iphlpsvc keyiso lanmanserver lanmanworkstation lmhosts lsm mpssvc mrxsmb msiscsi netlogon
	netman netprofm nlasvc nsi nvagent plugplay power profsvc rpceptmapper rpclocator rpcss samss schedule seclogon
	sens shellhwdetection spooler sshd ssh-agent storsvc tcpip termservice timebrokersvc trustedinstaller
	vds vgauthservice vmcompute vmms vmtools vmictimesync vmicheartbeat vss w32time wcmsvc wdnissvc windefend
	winhttpautoproxysvc winmgmt winrm wuauserv amazonssmagent gceagent windowsazureguestagent rdagent`)

// KnownWindowsService reports whether name is one of Windows' own services,
// or of a hypervisor's agent. A name that isn't known may still be one.
func KnownWindowsService(name string) bool {
	return slices.Contains(windowsServices, strings.ToLower(name))
}
