package answer

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

// The namespaces and the key that every component of Windows carries.
const (
	namespace    = "urn:schemas-microsoft-com:unattend"
	wcmNamespace = "http://schemas.microsoft.com/WMIConfig/2002/State"
	publicKey    = "31bf3856ad364e35"
)

// file is the whole answer file.
type file struct {
	XMLName  xml.Name `xml:"unattend"`
	XMLNS    string   `xml:"xmlns,attr"`
	WCM      string   `xml:"xmlns:wcm,attr"`
	Settings []settings
}

// settings is one configuration pass.
type settings struct {
	XMLName    xml.Name `xml:"settings"`
	Pass       string   `xml:"pass,attr"`
	Components []any
}

// head is the attributes that tell Windows which component is meant.
type head struct {
	Name         string `xml:"name,attr"`
	Architecture string `xml:"processorArchitecture,attr"`
	PublicKey    string `xml:"publicKeyToken,attr"`
	Language     string `xml:"language,attr"`
	Scope        string `xml:"versionScope,attr"`
}

func component(name string) head {
	return head{Name: name, Architecture: "amd64", PublicKey: publicKey, Language: "neutral", Scope: "nonSxS"}
}

// action marks an item that is added to a list: Windows wants wcm:action on
// each of them.
type action struct {
	Action string `xml:"wcm:action,attr"`
}

var add = action{Action: "add"}

// when is a part of the file that Packer's templatefile keeps if condition, a
// variable of the template, is true, and takes Else otherwise.
type when struct {
	condition  string
	then, Else any
}

// MarshalXML writes the directives of an HCL template around the parts. They
// are text between elements, so the file stays XML with them in it.
func (w when) MarshalXML(e *xml.Encoder, _ xml.StartElement) error {
	for _, part := range []struct {
		directive string
		value     any
	}{{"if " + w.condition, w.then}, {"else", w.Else}} {
		if part.value == nil {
			continue
		}
		if err := e.EncodeToken(xml.CharData("%{ " + part.directive + " ~}\n")); err != nil {
			return err
		}
		if err := e.Encode(part.value); err != nil {
			return err
		}
	}
	return e.EncodeToken(xml.CharData("%{ endif ~}\n"))
}

// encode writes f with its declaration, indented.
func encode(f file) ([]byte, error) {
	f.XMLNS, f.WCM = namespace, wcmNamespace
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", "  ")
	if err := e.Encode(f); err != nil {
		return nil, fmt.Errorf("write the answer file: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
