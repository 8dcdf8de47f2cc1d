package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"

	// Some kubeconfigs name a login method that is in a package of its own.
	_ "k8s.io/client-go/plugin/pkg/client/auth"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
)

// Flags are kubectl's flags that say which cluster, and as whom. The zero value
// is ready for Register.
type Flags struct {
	set        *pflag.FlagSet
	kubeconfig string
	extra      []string // key=value
	overrides  clientcmd.ConfigOverrides
	// missing is what client-go says where none of $KUBECONFIG's files exists.
	missing error
}

// Register adds kubectl's flags to fs, under kubectl's names: --kubeconfig,
// --context, --cluster, --user, --server, --token, --as and the rest. Not
// --namespace: the whole cluster is read.
func (f *Flags) Register(fs *pflag.FlagSet) {
	f.set = fs
	fs.StringVar(&f.kubeconfig, clientcmd.RecommendedConfigPathFlag, "", "Path to the kubeconfig file to use")
	clientcmd.BindOverrideFlags(&f.overrides, fs, names())
	fs.Lookup(clientcmd.FlagTimeout).Usage = "How long one request may take, such as 30s; 0 means no limit"
	fs.Lookup(clientcmd.FlagTimeout).DefValue = requestTimeout.String()
	fs.StringArrayVar(&f.extra, "as-user-extra", nil, "User extras to impersonate for the operation, key=value; may be repeated")
}

func names() clientcmd.ConfigOverrideFlags {
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	names.ContextOverrideFlags.Namespace.LongName = ""
	// Kubernetes 1.19 took basic authentication away.
	names.AuthOverrideFlags.Username.LongName, names.AuthOverrideFlags.Password.LongName = "", ""
	return names
}

// Config is what kubectl would use: the flags, over the kubeconfig that
// --kubeconfig or $KUBECONFIG names, or ~/.kube/config; inside a pod, where
// none of them is there, its ServiceAccount. Where --request-timeout isn't
// given a request may take a minute; kubectl would wait for ever. The context's
// name is empty where there is none. Errors are *fault.Error.
func (f *Flags) Config() (config *rest.Config, context string, err error) {
	if err := f.impersonate(); err != nil {
		return nil, "", err
	}
	if _, err := clientcmd.ParseTimeout(f.overrides.Timeout); err != nil && f.set != nil {
		return nil, "", &fault.Error{What: fmt.Sprintf("--%s can't be %q", clientcmd.FlagTimeout, f.overrides.Timeout), Err: err, Fix: "--" + clientcmd.FlagTimeout + "=30s"}
	}
	rules := f.rules()
	if err := noPipe(rules.GetLoadingPrecedence()); err != nil {
		return nil, "", f.unreadable(err)
	}
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &f.overrides)
	raw, err := loaded.RawConfig()
	if err != nil {
		return nil, "", f.unreadable(err)
	}
	context = cmp.Or(f.overrides.CurrentContext, raw.CurrentContext)
	if err := f.check(raw, context); err != nil {
		return nil, "", err
	}
	if config, err = loaded.ClientConfig(); err != nil {
		return nil, "", f.unusable(err)
	}
	if f.set == nil || !f.set.Changed(clientcmd.FlagTimeout) {
		config.Timeout = requestTimeout
	}
	return config, context, nil
}

// Given are the flags that say which cluster, as they were given: for commands that
// are printed.
func (f *Flags) Given() []string {
	var words []string
	for _, name := range []string{clientcmd.RecommendedConfigPathFlag, clientcmd.FlagContext, clientcmd.FlagClusterName, clientcmd.FlagAPIServer} {
		if f.set != nil && f.set.Changed(name) {
			words = append(words, "--"+name, f.set.Lookup(name).Value.String())
		}
	}
	return words
}

// Kubeconfig is the file that --kubeconfig names; "" for none.
func (f *Flags) Kubeconfig() string { return f.kubeconfig }

// rules are kubectl's, but that nothing is printed.
func (f *Flags) rules() *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	rules.Warner = func(err error) { f.missing = err }
	return rules
}

// noPipe refuses pipes, which client-go would wait for, and reads twice.
// /dev/null is what many give for no kubeconfig.
func noPipe(files []string) error {
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			return infile.Check(info)
		}
	}
	return nil
}

func (f *Flags) impersonate() error {
	for _, pair := range f.extra {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return &fault.Error{What: fmt.Sprintf("--as-user-extra %s isn't key=value", pair), Fix: "--as-user-extra scopes=development"}
		}
		if f.overrides.AuthInfo.ImpersonateUserExtra == nil {
			f.overrides.AuthInfo.ImpersonateUserExtra = map[string][]string{}
		}
		values := f.overrides.AuthInfo.ImpersonateUserExtra
		values[key] = append(values[key], value)
	}
	return nil
}

// check finds what client-go would pass over: with no context chosen it asks
// localhost, or says that there is no configuration.
func (f *Flags) check(raw api.Config, context string) error {
	if f.overrides.ClusterInfo.Server != "" || f.overrides.Context.Cluster != "" && context == "" {
		return nil
	}
	contexts := slices.Sorted(maps.Keys(raw.Contexts))
	switch {
	case context == "" && len(contexts) > 0:
		return &fault.Error{
			What: "no context is chosen, of " + listed(contexts), Where: f.where(),
			Fix: "--context " + contexts[0] + ", or for good: kubectl config use-context " + contexts[0],
		}
	case context == "" && len(raw.Clusters) > 0:
		return &fault.Error{What: "the kubeconfig has clusters and no context", Where: f.where(),
			Fix: "kubectl config set-context NAME --cluster=CLUSTER --user=USER && kubectl config use-context NAME"}
	case context == "":
		return nil
	case raw.Contexts[context] != nil:
		name := raw.Contexts[context].Cluster
		if raw.Clusters[name] != nil || f.overrides.Context.Cluster != "" {
			return nil
		}
		return &fault.Error{What: fmt.Sprintf("the context %q is of the cluster %q, which isn't there", context, name), Where: f.where(), Fix: "another --context, or: oc login"}
	case len(contexts) == 0:
		return &fault.Error{What: fmt.Sprintf("there is no context %q, nor any other", context), Where: f.where(), Fix: "--kubeconfig FILE, or: oc login"}
	}
	return &fault.Error{
		What: fmt.Sprintf("there is no context %q, only %s", context, listed(contexts)), Where: f.where(),
		Fix: "--context " + cmp.Or(fault.Nearest(context, contexts), contexts[0]),
	}
}

// listed are the first of names: a fleet's kubeconfig has hundreds.
func listed(names []string) string {
	const most = 10
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

func (f *Flags) unreadable(err error) error {
	what := "the kubeconfig can't be read: " + err.Error()
	if errors.Is(err, fs.ErrNotExist) {
		what = "there is no such kubeconfig"
	}
	return &fault.Error{What: what, Where: f.where(), Err: err, Fix: "--kubeconfig FILE, or make one: oc login"}
}

func (f *Flags) unusable(err error) error {
	if clientcmd.IsEmptyConfig(err) && f.missing != nil {
		return &fault.Error{What: "none of the kubeconfigs of $KUBECONFIG is there", Where: f.where(), Err: f.missing, Fix: "--kubeconfig FILE, or make one: oc login"}
	}
	if clientcmd.IsEmptyConfig(err) {
		return &fault.Error{What: "no cluster is given: there is no kubeconfig, and this is no pod", Err: err, Fix: "--kubeconfig FILE, or make one: oc login"}
	}
	return &fault.Error{What: "the kubeconfig can't be used: " + err.Error(), Where: f.where(), Err: err, Fix: "kubectl config view --minify"}
}

// where names the file or files that were read.
func (f *Flags) where() string {
	if f.kubeconfig != "" {
		return f.kubeconfig
	}
	return strings.Join(clientcmd.NewDefaultClientConfigLoadingRules().Precedence, ":")
}
