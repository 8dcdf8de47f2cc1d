package node

import (
	"bytes"
	"context"
)

// What a check at the first boot needs, slash-separated. The templates' script
// first-boot-check.ps1 looks for it there.
const (
	leftVerify = "C:/ProgramData/winbake/verify.exe"
	leftExpect = "C:/ProgramData/winbake/node.json"
)

// leave puts verify.exe, and what this build held the machine to, where the
// clones' first boot finds them.
func (s *step) leave(ctx context.Context) error {
	if !s.config.FirstBootCheck {
		return nil
	}
	expectation, err := s.image.Expectation.Encode()
	if err != nil {
		return err
	}
	if err := s.guest.Put(ctx, leftVerify, bytes.NewReader(s.node.Exe)); err != nil {
		return err
	}
	return s.guest.Put(ctx, leftExpect, bytes.NewReader(expectation))
}
