package sbom

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// MaxSize is far above the largest document, 1 MB, in bytes.
const MaxSize = 16 << 20

// Document is what a check asks of an SBOM, of either format.
type Document struct {
	// Digest is that of the image.
	Digest string
	// Files are the sums of programs and files, lower-case hex, by path below /payload.
	Files map[string]string
	// PURLs are all package URLs.
	PURLs map[string]bool
}

// Read reads an SBOM of either format, as Encode writes it.
func Read(data []byte) (*Document, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("it has more than %d MiB", MaxSize>>20)
	}
	var head struct{ SPDXVersion, BOMFormat string }
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	d := &Document{Files: map[string]string{}, PURLs: map[string]bool{}}
	switch {
	case head.SPDXVersion == spdx.Version:
		var doc spdx.Document
		if err := json.Unmarshal(data, &doc); err != nil {
			return nil, err
		}
		for _, p := range doc.Packages {
			sum := ""
			for _, c := range p.PackageChecksums {
				sum = c.Value
			}
			for _, r := range p.PackageExternalReferences {
				d.PURLs[r.Locator] = true
			}
			d.add(string(p.PackageSPDXIdentifier), p.PackageFileName, sum)
		}
	case head.BOMFormat == cdx.BOMFormat:
		var bom cdx.BOM
		if err := cdx.NewBOMDecoder(bytes.NewReader(data), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
			return nil, err
		}
		if bom.Metadata != nil && bom.Metadata.Component != nil {
			d.addComponent(*bom.Metadata.Component)
		}
		if bom.Components != nil {
			for _, c := range *bom.Components {
				d.addComponent(c)
			}
		}
	default:
		return nil, errors.New("it is neither SPDX 2.3 nor CycloneDX")
	}
	return d, nil
}

func (d *Document) addComponent(c cdx.Component) {
	file, sum := "", ""
	if c.Properties != nil {
		for _, p := range *c.Properties {
			if p.Name == pathProperty {
				file = p.Value
			}
		}
	}
	if c.Hashes != nil {
		for _, h := range *c.Hashes {
			sum = h.Value
		}
	}
	d.PURLs[c.PackageURL] = true
	d.add(c.BOMRef, file, sum)
}

func (d *Document) add(id, file, sum string) {
	if id == "Image" || id == "SPDXRef-Image" {
		d.Digest = "sha256:" + sum
	}
	if path, ok := strings.CutPrefix(file, "payload/"); ok {
		d.Files[path] = sum
	}
}
