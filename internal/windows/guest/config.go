package guest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/proc"
)

// route is how ssh would reach a target: with what its configuration says of it.
type route struct {
	asked  Target // as it was named, with a user
	target Target // where that is
	alias  string // its name in known_hosts, "" for the address
	// identities and knownHosts needn't be there; onlyThese keeps the agent's
	// keys out.
	identities, knownHosts []string
	onlyThese              bool
	command                []string // that connects; nil for TCP
}

// newRoute asks the ssh program (ssh -G) what its configuration says: Include,
// Match and patterns mean there what they mean to ssh. Without that program,
// or for a user that the system doesn't know, nothing is configured.
func newRoute(ctx context.Context, t Target, config string) (route, error) {
	said, err := askSSH(ctx, t, config)
	if errors.Is(err, exec.ErrNotFound) && config == "" || errors.Is(err, errNoUser) {
		said, err = map[string][]string{}, nil
	}
	if err != nil {
		return route{}, err
	}
	one := func(key string) string { return strings.Join(said[key], " ") }
	r := route{target: t, alias: one("hostkeyalias"), onlyThese: one("identitiesonly") == "yes"}
	if r.target.User == "" {
		if r.target.User = one("user"); r.target.User == "" || r.target.User == localUser() {
			return r, &fault.Error{What: "no user is named to log in to " + t.Host + " with", Fix: "--ssh Administrator@" + t.Host + ", or --user Administrator"}
		}
	}
	r.asked = Target{User: r.target.User, Host: t.Host, Port: t.Port}
	if name := one("hostname"); name != "" {
		r.target.Host = name
	}
	if port, err := strconv.Atoi(one("port")); err == nil {
		r.target.Port = port
	}
	home, _ := os.UserHomeDir() // "" leaves a path that isn't there
	expand := strings.NewReplacer("%%", "%", "%h", r.target.Host, "%n", t.Host, "%p", strconv.Itoa(r.target.port()), "%r", r.target.User, "%d", home)
	for _, f := range said["identityfile"] {
		f = expand.Replace(f)
		if rest, ok := strings.CutPrefix(f, "~/"); ok {
			f = filepath.Join(home, rest)
		}
		r.identities = append(r.identities, f)
	}
	for _, key := range []string{"userknownhostsfile", "globalknownhostsfile"} {
		r.knownHosts = append(r.knownHosts, strings.Fields(one(key))...)
	}
	switch jump, command := one("proxyjump"), one("proxycommand"); {
	case jump != "" && jump != "none":
		hops, err := parseJumps(jump)
		if err != nil {
			return r, err
		}
		r.command = jumpCommand(r.target, hops, config)
	case command != "" && command != "none":
		r.command = slices.Concat(shellCommand, []string{shellPrefix + expand.Replace(command)})
	}
	return r, noLoop(ctx, t.Host, said, config)
}

// errNoUser is ssh's for a user without an entry in passwd, as in a container
// of OpenShift.
var errNoUser = errors.New("ssh: the user has no name")

// askSSH returns what ssh -G prints, by key.
func askSSH(ctx context.Context, t Target, config string) (map[string][]string, error) {
	cmd := proc.Command(ctx, "ssh", slices.Concat(configArgs(config), []string{"-G"}, t.options(), []string{"--", t.Host})...)
	var out, trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &trouble
	switch err := cmd.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("--ssh-config needs the program ssh: %w", err)
	case err != nil && strings.HasPrefix(trouble.String(), "No user exists"):
		return nil, errNoUser
	case err != nil:
		return nil, &fault.Error{Where: t.Host, What: "ssh can't read its configuration", Excerpt: strings.TrimSpace(strings.ReplaceAll(trouble.String(), "\r\n", "\n")),
			Fix: "correct that line, or give another file: --ssh-config FILE (none for none)", Err: err}
	}
	said := map[string][]string{}
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), " ")
		said[key] = append(said[key], value)
	}
	return said, nil
}

func configArgs(config string) []string {
	if config == "" {
		return nil
	}
	return []string{"-F", config}
}

// options are the target's for ssh, but for the host.
func (t Target) options() (args []string) {
	if t.User != "" {
		args = append(args, "-l", t.User)
	}
	if t.Port != 0 {
		args = append(args, "-p", strconv.Itoa(t.Port))
	}
	return args
}

func localUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username[strings.LastIndexByte(u.Username, '\\')+1:] // Windows has DOMAIN\user
}

// parseJumps reads ProxyJump: [USER@]HOST[:PORT] or ssh:// URIs, with commas.
func parseJumps(list string) (hops []Target, err error) {
	for s := range strings.SplitSeq(list, ",") {
		hop, err := ParseTarget(strings.TrimPrefix(s, "ssh://"))
		if err != nil {
			return nil, &fault.Error{What: fmt.Sprintf("ProxyJump can't be %q", s), Fix: "ProxyJump core@bastion.example.com in ~/.ssh/config", Err: err}
		}
		hops = append(hops, hop)
	}
	return hops, nil
}

// jumpCommand is what ssh itself runs for ProxyJump: ssh checks the keys of
// the hosts on the way. It can't ask for a password there.
func jumpCommand(t Target, hops []Target, config string) []string {
	last := hops[len(hops)-1]
	args := slices.Concat([]string{"ssh", "-o", "BatchMode=yes"}, configArgs(config), last.options())
	var before []string
	for _, hop := range hops[:len(hops)-1] {
		before = append(before, hop.String())
	}
	if len(before) > 0 {
		args = append(args, "-J", strings.Join(before, ","))
	}
	return append(args, "-W", net.JoinHostPort(t.Host, strconv.Itoa(t.port())), "--", last.Host)
}

// sshCommand is a ProxyCommand that does as ProxyJump does, with its configuration and
// its host. What other options do isn't followed.
var sshCommand = regexp.MustCompile(`^ssh (?:-q )?(?:-F (\S+) )?-W %h:%p (?:-q )?([^ %-][^ %]*)$`)

// noLoop follows the first hop of each way, through which the others are reached: ssh
// starts itself for each host on the way, and for a host that is reached through
// itself it never ends.
func noLoop(ctx context.Context, host string, said map[string][]string, config string) error {
	var way, seen []string
	for {
		at := strings.ToLower(host) + " " + config
		passed := slices.Contains(seen, at)
		way, seen = append(way, host), append(seen, at)
		if passed {
			return &fault.Error{Where: way[0], What: "ssh's configuration goes in a circle: " + strings.Join(way, " through "), Fix: "take one ProxyJump or ProxyCommand out of ~/.ssh/config"}
		}
		jump := strings.Join(said["proxyjump"], "")
		if command := sshCommand.FindStringSubmatch(strings.Join(said["proxycommand"], " ")); command != nil {
			config, jump = command[1], command[2]
		}
		if jump == "" || jump == "none" {
			return nil
		}
		hops, err := parseJumps(jump)
		if err == nil {
			host = hops[0].Host
			said, err = askSSH(ctx, hops[0], config)
		}
		if err != nil {
			return err
		}
	}
}
