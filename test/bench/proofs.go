package main

import (
	"context"
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/winbake/winbake/test/support/keypair"
)

// proofs compares a run and a check with SBOM, signature and provenance with those without.
func (b *bench) proofs(ctx context.Context) error {
	none, err := b.bake(ctx, runs, "payload", "-q", "--sbom", "none", "--layout", filepath.Join(b.dir, "none"))
	if err != nil {
		return err
	}
	with, err := b.bake(ctx, runs, "payload", "-q", "--layout", filepath.Join(b.dir, "with"))
	if err != nil {
		return err
	}
	b.table.add("nothing changed: time of bake payload with an SBOM / without", seconds(none.wall), seconds(with.wall), ratio(with.wall, none.wall), atMost(1.2))

	key, public := filepath.Join(b.dir, "bench.key"), filepath.Join(b.dir, "bench.pub")
	if err := keypair.Write(key, public); err != nil {
		return err
	}
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	ref := strings.TrimPrefix(server.URL, "http://") + "/bench/payload:1"
	if _, err := output(ctx, "bin/bake", "payload", "-q", "--push", ref, "--sign-key", key, "--builder-id", "https://ci.example.com/bench"); err != nil {
		return err
	}
	var plain, proved usage
	for i := range runs {
		p, err := measure(ctx, "bin/verify", "payload", "-q", ref, "-f", "versions.yaml")
		if err != nil {
			return err
		}
		o, err := measure(ctx, "bin/verify", "payload", "-q", ref, "-f", "versions.yaml", "--key", public, "--require", "sbom,signature,provenance")
		if err != nil {
			return err
		}
		if i > 0 {
			p, o = plain.least(p), proved.least(o)
		}
		plain, proved = p, o
	}
	b.table.add("verify payload from a registry: time with all proofs / without", seconds(plain.wall), seconds(proved.wall), ratio(proved.wall, plain.wall), atMost(1.5))
	return nil
}
