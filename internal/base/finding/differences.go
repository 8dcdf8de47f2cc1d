package finding

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// Difference is a key of two values' JSON that isn't the same in both; nil is none.
type Difference struct {
	Key                string
	Observed, Expected any
}

// Differences are those of two structs or maps, by key.
func Differences(observed, expected any) (ds []Difference) {
	a, b := fields(observed), fields(expected)
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if !reflect.DeepEqual(a[k], b[k]) {
			ds = append(ds, Difference{k, a[k], b[k]})
		}
	}
	return ds
}

func fields(v any) map[string]any {
	m := map[string]any{}
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		panic(err) // plain structs
	}
	return m
}
