package cas

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzParseRecord(f *testing.F) {
	for _, r := range []record{
		{Key: helloDigest, Value: json.RawMessage(`null`)},
		{Key: helloDigest, Refs: []Digest{helloDigest}, Value: json.RawMessage(`{"a":[1,"x"]}`)},
	} {
		data, err := r.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Add([]byte("\n"))
	f.Add([]byte(sumOf(nil) + "\n"))
	f.Add([]byte(`{"key":"../../x","refs":["sha256:.."],"value":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		check(t, data)
		// Nearly nothing that a fuzzer makes has the right sum. What does
		// mustn't be trusted any further.
		check(t, append([]byte(sumOf(data)+"\n"), data...))
	})
}

func check(t *testing.T, data []byte) {
	r, err := parseRecord(helloDigest, data)
	if err != nil {
		return
	}
	if r.Key != helloDigest {
		t.Errorf("the record of %q", r.Key)
	}
	for _, d := range r.Refs {
		if _, err := parse(d); err != nil {
			t.Error(err)
		}
	}
	sum, body, _ := bytes.Cut(data, []byte("\n"))
	if sumOf(body) != string(sum) {
		t.Error("its sum is wrong")
	}
}
