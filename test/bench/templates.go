package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/winbake/winbake/packer/template"
)

// templates compares writing a template for each platform with what it costs to
// start bake as often and do nothing. All of them within 200 ms is what a person
// doesn't notice; the ratio decides.
func (b *bench) templates(ctx context.Context) error {
	platforms := template.Platforms()
	var plain, ours usage
	for i := range runs {
		var p, o usage
		for _, platform := range platforms {
			started, err := measure(ctx, "bin/bake", "--version")
			if err != nil {
				return err
			}
			written, err := measure(ctx, "bin/bake", "template", platform.Name, "--payload", "none", "--out", filepath.Join(b.dir, "templates", strconv.Itoa(i), platform.Name))
			if err != nil {
				return err
			}
			p, o = p.plus(started), o.plus(written)
		}
		if i > 0 {
			p, o = plain.least(p), ours.least(o)
		}
		plain, ours = p, o
	}
	b.table.add(fmt.Sprintf("bake template, %d platforms one after another: CPU / of starting bake as often", len(platforms)),
		seconds(plain.cpu), seconds(ours.cpu), ratio(ours.cpu, plain.cpu), atMost(4))
	return nil
}

// plus is the cost of one piece of work after another.
func (u usage) plus(v usage) usage {
	return usage{cpu: u.cpu + v.cpu, wall: u.wall + v.wall, peak: max(u.peak, v.peak), size: u.size + v.size}
}
