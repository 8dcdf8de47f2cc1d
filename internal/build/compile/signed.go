package compile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/windows/pe"
)

// CheckSigned says before the work what is wrong with signed programs: one that is
// missing, or isn't the pinned one.
func CheckSigned(jobs []*Job) error {
	for _, j := range jobs {
		if j.Component.Signed != nil {
			if _, err := readSigned(j); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sign puts signed programs in the place of what was built, each of which must be the
// same program without its signature.
func (b *Builder) Sign(ctx context.Context, jobs []*Job, artifacts []*Artifact) error {
	for i, j := range jobs {
		if j.Component.Signed == nil {
			continue
		}
		data, err := readSigned(j)
		if err != nil {
			return err
		}
		f, err := pe.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return signedFault(j, err.Error(), "sign the program that bake build "+j.Component.Name+" made")
		}
		unsigned, err := f.Unsigned()
		if err != nil {
			return err
		}
		built := artifacts[i].Digest
		switch {
		case unsigned == "":
			return signedFault(j, "it has no signature", "sign it, or take signed: out of versions.yaml")
		case "sha256:"+unsigned != built:
			return signedFault(j, fmt.Sprintf("without its signature it is sha256:%s, and %s was built", unsigned, built), "sign the program that bake build "+j.Component.Name+" made")
		}
		digest, size, err := b.Store.Put(ctx, bytes.NewReader(data))
		if err != nil {
			return err
		}
		artifacts[i] = &Artifact{Component: j.Component.Name, Digest: digest, Size: size, Action: artifacts[i].Action, Unsigned: built, Cached: artifacts[i].Cached}
	}
	return nil
}

func readSigned(j *Job) ([]byte, error) {
	var data []byte
	root, err := os.OpenRoot(j.File.Dir()) // somebody else's pin reads no other file
	if err == nil {
		defer root.Close() //nolint:errcheck // only read
		data, err = root.ReadFile(filepath.FromSlash(j.Component.Signed.File))
	}
	if err != nil {
		return nil, signedFault(j, "it can't be read: "+err.Error(), "sign the program that bake build "+j.Component.Name+" made, and put it there")
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != j.Component.Signed.SHA256 {
		return nil, signedFault(j, fmt.Sprintf("its sha256 is %s, component %s pins %s", got, j.Component.Name, j.Component.Signed.SHA256), "take the file back, or write the other sum into versions.yaml")
	}
	return data, nil
}

func signedPath(j *Job) string {
	return filepath.Join(j.File.Dir(), filepath.FromSlash(j.Component.Signed.File))
}

func signedFault(j *Job, what, fix string) error {
	return &fault.Error{Where: signedPath(j), What: "the signed program isn't taken: " + what, Fix: fix, Code: finding.ExitBlock}
}
