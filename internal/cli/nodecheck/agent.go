package nodecheck

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/node/agent"
)

// newAgent is what bake and verify run over SSH. It is hidden: its arguments
// belong to node.Protocol and change with it.
func newAgent(a *app.App) *cobra.Command {
	cmd := &cobra.Command{Use: "agent", Short: "Carry out what bake and verify ask for", Hidden: true}
	cmd.AddCommand(newFacts(a), newApply(a))
	return cmd
}

func newFacts(a *app.App) *cobra.Command {
	var expect, stage string
	var quick bool
	cmd := &cobra.Command{
		Use:   "facts",
		Short: "Tell what the node says of itself",
		Args:  app.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := readExpectation(expect)
			if err != nil {
				return failed(a, err)
			}
			sys, dirs, err := agent.Local()
			if err != nil {
				return failed(a, err)
			}
			dirs.Stage = stage
			agent.TidyChecks(".")
			facts := agent.Gather(cmd.Context(), sys, e, dirs, agent.GatherOptions{Version: app.Version(), Quick: quick})
			agent.WriteLine(a.Stdout, agent.Line{Facts: facts})
			return nil
		},
	}
	cmd.Flags().StringVar(&expect, "expect", "", "the expectation")
	cmd.Flags().StringVar(&stage, "stage", "", "where files were uploaded to")
	cmd.Flags().BoolVar(&quick, "quick", false, "don't wait for logs")
	return cmd
}

func newApply(a *app.App) *cobra.Command {
	var request, stage string
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Carry out one change, or put everything back",
		Args:  app.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			req, err := readRequest(request)
			if err != nil {
				return failed(a, err)
			}
			sys, dirs, err := agent.Local()
			if err != nil {
				return failed(a, err)
			}
			dirs.Stage = stage
			result, err := agent.Apply(cmd.Context(), sys, dirs, req, func(s string) { agent.WriteLine(a.Stdout, agent.Line{Say: s}) })
			if err != nil {
				return failed(a, err)
			}
			agent.WriteLine(a.Stdout, agent.Line{Result: result})
			return nil
		},
	}
	cmd.Flags().StringVar(&request, "request", "", "the request")
	cmd.Flags().StringVar(&stage, "stage", "", "where files were uploaded to")
	return cmd
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
