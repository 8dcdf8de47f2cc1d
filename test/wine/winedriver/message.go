package winedriver

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Message is a protobuf message that is being written, by field number.
type Message []byte

func (m Message) text(n protowire.Number, s string) Message {
	return protowire.AppendString(protowire.AppendTag(m, n, protowire.BytesType), s)
}

func (m Message) message(n protowire.Number, sub Message) Message { return m.text(n, string(sub)) }

func (m Message) number(n protowire.Number, v uint64) Message {
	return protowire.AppendVarint(protowire.AppendTag(m, n, protowire.VarintType), v)
}

func (m Message) entries(n protowire.Number, all map[string]string) Message {
	for _, k := range slices.Sorted(maps.Keys(all)) {
		m = m.message(n, Message(nil).text(1, k).text(2, all[k]))
	}
	return m
}

// Fields are the values of a message by field number: the bytes of strings and
// messages, and varints in decimal.
type Fields map[protowire.Number][]string

func parse(b []byte) (Fields, error) {
	f := Fields{}
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		switch typ {
		case protowire.BytesType:
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return nil, protowire.ParseError(n)
			}
			f[num], b = append(f[num], string(v)), b[n:]
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return nil, protowire.ParseError(n)
			}
			f[num], b = append(f[num], fmt.Sprint(v)), b[n:]
		default:
			n := protowire.ConsumeFieldValue(num, typ, b)
			if n < 0 {
				return nil, protowire.ParseError(n)
			}
			b = b[n:]
		}
	}
	return f, nil
}
