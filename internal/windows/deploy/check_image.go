package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/winbake/winbake/internal/base/fault"
)

// CheckImage brings verify.exe to the machine, has it check the image that is made
// there (package imagecheck), and returns its report in JSON.
func (n *Node) CheckImage(ctx context.Context, profile string) ([]byte, error) {
	if err := n.bring(ctx); err != nil {
		return nil, err
	}
	var out, trouble bytes.Buffer
	code, err := n.Guest.Run(ctx, n.command("node", "check", "--image", "-o", "json", "--profile", profile), &out, &trouble)
	if err != nil {
		return nil, err
	}
	if !json.Valid(out.Bytes()) {
		return nil, &fault.Error{What: fmt.Sprintf("verify.exe made no report of the image, and ended with exit code %d", code), Excerpt: trouble.String() + out.String(),
			Fix: "use a verify.exe of this release: bake verify-exe --out verify.exe"}
	}
	return out.Bytes(), nil
}
