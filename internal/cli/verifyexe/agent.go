package verifyexe

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/windows/agent"
	"github.com/winbake/winbake/internal/windows/node"
)

// newAgent is what bake and verify run over SSH. It is hidden: its arguments
// belong to node.Protocol and change with it.
func newAgent(a *app.App) *cobra.Command {
	cmd := &cobra.Command{Use: "agent", Short: "Carry out what bake and verify ask for", Hidden: true}
	cmd.AddCommand(newFacts(a), newApply(a))
	return cmd
}

func newFacts(a *app.App) *cobra.Command {
	var expect string
	var quick bool
	cmd := &cobra.Command{Use: "facts", Short: "Tell what the node says of itself"}
	answer(a, cmd, func(ctx context.Context, sys agent.System, dirs agent.Dirs) (agent.Line, error) {
		e, err := readExpectation(expect)
		if err != nil {
			return agent.Line{}, err
		}
		agent.TidyChecks(".")
		return agent.Line{Facts: agent.Gather(ctx, sys, e, dirs, agent.GatherOptions{Version: app.Version(), Quick: quick})}, nil
	})
	cmd.Flags().StringVar(&expect, "expect", "", "the expectation")
	cmd.Flags().BoolVar(&quick, "quick", false, "don't wait for logs")
	return cmd
}

func newApply(a *app.App) *cobra.Command {
	var request string
	cmd := &cobra.Command{Use: "apply", Short: "Carry out one change, or put everything back"}
	answer(a, cmd, func(ctx context.Context, sys agent.System, dirs agent.Dirs) (agent.Line, error) {
		req, err := readRequest(request)
		if err != nil {
			return agent.Line{}, err
		}
		result, err := agent.Apply(ctx, sys, dirs, req, func(s string) { agent.WriteLine(a.Stdout, agent.Line{Say: s}) })
		return agent.Line{Result: result}, err
	})
	cmd.Flags().StringVar(&request, "request", "", "the request")
	return cmd
}

// answer makes a command's result, or its error, the last line for the other side.
func answer(a *app.App, cmd *cobra.Command, work func(context.Context, agent.System, agent.Dirs) (agent.Line, error)) {
	var stage string
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		sys, dirs, err := agent.Local()
		if err != nil {
			return failed(a, err)
		}
		dirs.Stage = stage
		line, err := work(cmd.Context(), sys, dirs)
		if err != nil {
			return failed(a, err)
		}
		agent.WriteLine(a.Stdout, line)
		return nil
	}
	cmd.Flags().StringVar(&stage, "stage", "", "where files were uploaded to")
}

func readRequest(path string) (*agent.Request, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	req := new(agent.Request)
	if err := json.Unmarshal(data, req); err != nil {
		return nil, &fault.Error{Where: path, What: "the request can't be read: " + err.Error(), Fix: "run the same command again"}
	}
	_ = os.Remove(path) // each has a name of its own; remove takes the folder
	return req, nil
}

// failed sends the error to the other side and ends with its code.
func failed(a *app.App, err error) error {
	agent.WriteLine(a.Stdout, agent.Line{Fault: agent.FaultOf(err)})
	return app.ExitCode(max(finding.ExitError, fault.ExitCode(err)))
}

func readExpectation(path string) (*node.Expectation, error) {
	data, err := infile.Read(path, infile.Text)
	if err != nil {
		return nil, &fault.Error{Where: path, What: "the expectation can't be read: " + err.Error(), Fix: "name it: --expect FILE", Err: err}
	}
	return node.Parse(data)
}

func newHash(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:     "hash FILE...",
		Short:   "Print the sha256 of files, as sha256sum does",
		Example: `  verify hash C:\k\csi-proxy.exe`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range args {
				sum, _, err := agent.Sum(cmd.Context(), name)
				if err != nil {
					return fmt.Errorf("hash the file: %w", err)
				}
				fmt.Fprintf(a.Stdout, "%s  %s\n", sum, name)
			}
			return nil
		},
	}
}
