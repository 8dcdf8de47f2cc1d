package imports

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw the rooms again")

// TestDrawing holds docs/rooms.svg to the rooms: each above those that it may import, with
// a line to each that it doesn't reach by another.
func TestDrawing(t *testing.T) {
	const file = "../../docs/rooms.svg"
	want := drawing()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Errorf("docs/rooms.svg is behind the rooms: go test ./test/imports -run Drawing -update; %v", err)
	}
}

// depth is the longest way down from a room.
func depth(name string) (d int) {
	for _, below := range rooms[name].imports {
		d = max(d, depth(below)+1)
	}
	return d
}

// reaches tells whether a room leads to another through a third.
func reaches(from, to string) bool {
	return slices.ContainsFunc(rooms[from].imports, func(over string) bool {
		return over != to && (slices.Contains(rooms[over].imports, to) || reaches(over, to))
	})
}

func drawing() string {
	const width, height, gap = 150, 44, 70
	rows := map[int][]string{}
	deepest := 0
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		d := depth(name)
		rows[d], deepest = append(rows[d], name), max(deepest, d)
	}
	at, widest := map[string][2]int{}, 0
	for d, names := range rows {
		widest = max(widest, len(names))
		for i, name := range names {
			at[name] = [2]int{i, deepest - d}
		}
	}
	center := func(name string) (x, y int) {
		n := len(rows[deepest-at[name][1]])
		return (widest-n)*(width+20)/2 + at[name][0]*(width+20) + width/2 + 10, at[name][1]*gap + height/2 + 10
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\" text-anchor=\"middle\">\n<title>The rooms of the program: imports run downwards</title>\n",
		widest*(width+20)+20, deepest*gap+height+20)
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		for _, below := range rooms[name].imports {
			if !reaches(name, below) {
				x1, y1 := center(name)
				x2, y2 := center(below)
				fmt.Fprintf(&b, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#888\"/>\n", x1, y1+height/2, x2, y2-height/2)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		x, y := center(name)
		fmt.Fprintf(&b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"#eef3fa\" stroke=\"#345\"/>\n<text x=\"%d\" y=\"%d\">%s</text>\n<text x=\"%d\" y=\"%d\" fill=\"#666\">at most %d lines</text>\n",
			x-width/2, y-height/2, width, height, x, y-2, name, x, y+14, rooms[name].lines)
	}
	b.WriteString("</svg>\n")
	return b.String()
}
