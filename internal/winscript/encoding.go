package winscript

import (
	"bytes"

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
