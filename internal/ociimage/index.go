package ociimage

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layoutVersion is the one version of layouts that there is:
// https://github.com/opencontainers/image-spec/blob/main/image-layout.md#oci-layout-file
const layoutVersion = "1.0.0"

func wrongMark(raw []byte) error {
	mark, err := parseObject(raw)
	if err != nil {
		return err
	}
	if mark["imageLayoutVersion"] != layoutVersion {
		return errors.New("its imageLayoutVersion isn't " + layoutVersion)
	}
	return nil
}

// parseLayoutIndex reads an index.json, which no digest covers.
func parseLayoutIndex(raw []byte) (*v1.IndexManifest, error) {
	top, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	if err := wrongIndex(top); err != nil {
		return nil, err
	}
	m, err := parseIndex(raw)
	if err != nil {
		return nil, err
	}
	mt := types.OCIImageIndex
	if m.MediaType.IsIndex() { // docker's own, as some writers leave it
		mt = m.MediaType
	}
	if wrong := wrongManifest(mt, raw); wrong != "" {
		return nil, errors.New(wrong)
	}
	return m, nil
}

// wrongIndex wants what the specification requires, key by key:
// https://github.com/opencontainers/image-spec/blob/main/image-index.md
func wrongIndex(top map[string]any) error {
	if top["schemaVersion"] != 2.0 {
		return errors.New("its schemaVersion isn't 2")
	}
	manifests, ok := top["manifests"].([]any)
	if !ok {
		return errors.New("no list of manifests")
	}
	for _, m := range manifests {
		entry, _ := m.(map[string]any)
		for _, key := range []string{"mediaType", "digest", "size"} {
			if entry[key] == nil {
				return fmt.Errorf("an entry of its manifests has no %s", key)
			}
		}
	}
	return nil
}

// parseObject reads one JSON object with its keys as they are written: into a
// struct, Go would take them in upper or lower case, as other readers don't.
func parseObject(raw []byte) (m map[string]any, err error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("not UTF-8")
	}
	return m, json.Unmarshal(raw, &m)
}
