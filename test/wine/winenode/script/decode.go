// Package script reads PowerShell scripts as far as the double of powershell.exe
// needs it: what a call is to run, in which encoding a file is read, and mistakes at
// which Windows PowerShell 5.1 runs nothing of a script.
//
// It knows strings, comments and brackets, and no grammar: what it isn't sure of, it
// accepts. The grammar of our own scripts is held by test/packer/powershell.
package script

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// Decode is a script's text as powershell.exe -File reads it: without a mark in
// front, in the code page of a Windows in English. A dash of UTF-8 has a quote in
// it then (https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_character_encoding).
func Decode(data []byte) string {
	var from encoding.Encoding = charmap.Windows1252
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		from = unicode.UTF8BOM
	} else if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		from = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	}
	text, err := from.NewDecoder().Bytes(data)
	if err != nil { // of half a character: PowerShell puts another in its place
		text = bytes.ToValidUTF8(data, []byte("\ufffd"))
	}
	return string(text)
}

// Called is what a call of powershell.exe is to run: a file, or a text of its command
// line. Options may be cut short
// (https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_powershell_exe).
func Called(args []string) (file, text string) {
	for i := 0; i < len(args); i++ {
		option, behind := strings.TrimLeft(strings.ToLower(args[i]), "-/"), args[i+1:]
		short := func(of string) bool { return option != "" && strings.HasPrefix(of, option) }
		switch {
		case !strings.HasPrefix(args[i], "-") && !strings.HasPrefix(args[i], "/"):
			return "", strings.Join(args[i:], " ")
		case short("command"):
			return "", strings.Join(behind, " ")
		case short("file") && len(behind) > 0:
			return behind[0], ""
		case short("encodedcommand"), option == "ec":
			return "", decoded(strings.Join(behind, " "))
		case option == "ep", slices.ContainsFunc(valued, short):
			i++
		}
	}
	return "", ""
}

// valued are the options that have a value, besides those that say what to run.
var valued = []string{"executionpolicy", "version", "windowstyle", "inputformat", "outputformat", "configurationname", "psconsolefile"}

// decoded is -EncodedCommand's: base64 of UTF-16.
func decoded(text string) string {
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return ""
	}
	out, err := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Bytes(data)
	if err != nil {
		return ""
	}
	return string(out)
}
