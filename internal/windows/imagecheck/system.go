package imagecheck

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
)

const currentVersion = `HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion`

// The builds of Windows Server's releases.
const (
	server2019 = 17763
	server2022 = 20348
	server2025 = 26100
)

// build wants a release that nodes may have. leastPatch is Windows Server 2022's.
func build(leastPatch int, with2019 func(maker string) bool) question {
	return func(w *asked) Answer {
		have, patch := w.number(currentVersion, "CurrentBuildNumber"), w.number(currentVersion, "UBR")
		good := have == server2025 || have == server2022 && patch >= leastPatch
		if have == server2019 {
			maker, err := manufacturer(w)
			good = w.answered(err) && with2019(maker)
		}
		return Answer{Observed: fmt.Sprintf("%d.%d", have, patch), Wrong: !good}
	}
}

func (w *asked) number(key, name string) int {
	v := w.must(key, name)
	n, err := strconv.Atoi(v)
	if err != nil {
		w.answered(fmt.Errorf("%s is %q", name, v))
	}
	return n
}

// notEvaluation wants an edition without an end.
func notEvaluation(w *asked) Answer {
	edition := w.must(currentVersion, "EditionID")
	return Answer{Observed: edition, Wrong: strings.HasSuffix(edition, "Eval")}
}

// noKeys wants keys that are there only as long as Windows waits for a restart.
func noKeys(keys ...string) question {
	return func(w *asked) Answer {
		return none(slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
			_, err := w.Values(key)
			return !w.there(err)
		}))
	}
}

// installState wants a feature of Windows: 1 is enabled, 2 disabled, 3 absent.
func installState(feature string) question {
	return func(w *asked) Answer {
		out := w.powershell(`'InstallState=' + (Get-CimInstance -ClassName Win32_OptionalFeature -Filter "Name='` + feature + `'" -ErrorAction Stop).InstallState`)
		return Answer{Observed: out, Wrong: out != "InstallState=1"}
	}
}

// decrypted wants C: without BitLocker. A drive whose protection is off may be
// encrypted all the same, and then sysprep refuses it. Where Windows hasn't the feature,
// the class's namespace isn't there (0x8004100e).
func decrypted(w *asked) Answer {
	out := w.powershell(`try { 'ConversionStatus=' + (Get-CimInstance -Namespace root/CIMV2/Security/MicrosoftVolumeEncryption -ClassName Win32_EncryptableVolume -Filter "DriveLetter='C:'" -ErrorAction Stop | Invoke-CimMethod -MethodName GetConversionStatus).ConversionStatus } catch { $_.FullyQualifiedErrorId }`)
	if strings.Contains(strings.ToLower(out), "0x8004100e") {
		return right("the feature BitLocker isn't there")
	}
	if !strings.HasPrefix(out, "ConversionStatus=") {
		w.answered(errors.New(out))
	}
	return Answer{Observed: out, Wrong: out != "ConversionStatus=0"}
}

// forOneUser asks for packages that are installed for a user, and not for all.
func forOneUser(w *asked) Answer {
	if _, there := w.service("AppXSvc"); !there {
		return right("there is no service AppXSvc, so no packages")
	}
	out := w.powershell(`$all = (Get-AppxProvisionedPackage -Online -ErrorAction Stop).DisplayName; $one = @(Get-AppxPackage -AllUsers -ErrorAction Stop | Where-Object { -not $_.IsFramework -and -not $_.NonRemovable -and $_.SignatureKind -ne 'System' -and $all -notcontains $_.Name } | ForEach-Object { $_.PackageFullName }); if ($one) { $one -join ', ' } else { 'none' }`)
	return Answer{Observed: out, Wrong: out != "none"}
}

// pageFile wants at least one.
func pageFile(w *asked) Answer {
	files := w.value(`HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management`, "PagingFiles")
	if strings.TrimSpace(files) == "" {
		return wrong("none")
	}
	return right("%s", strings.ReplaceAll(files, "\n", ", "))
}

// tls12 wants TLS 1.2 where it is by default: switched on.
func tls12(w *asked) Answer {
	var off []string
	for _, side := range []string{"Client", "Server"} {
		key := `HKLM\SYSTEM\CurrentControlSet\Control\SecurityProviders\SCHANNEL\Protocols\TLS 1.2\` + side
		on, byDefault := w.value(key, "Enabled"), w.value(key, "DisabledByDefault")
		if on == "0" || (byDefault != "" && byDefault != "0") {
			off = append(off, side)
		}
	}
	if len(off) > 0 {
		return wrong("switched off: %s", strings.Join(off, ", "))
	}
	return right("on")
}

// mayStart tells whether a service is there that isn't disabled.
func (w *asked) mayStart(name string) (Service, bool) {
	s, there := w.service(name)
	return s, there && s.Start != "disabled"
}

// operatorsProxy wants csi-proxy under WMCO's name and path, or none.
func operatorsProxy(w *asked) Answer {
	if _, there := w.mayStart("csiproxy"); there {
		return wrong("csiproxy")
	}
	s, there := w.mayStart("csi-proxy")
	if !there {
		return right("none")
	}
	return Answer{Observed: s.Command, Wrong: !strings.HasPrefix(strings.ToLower(strings.Trim(s.Command, `"`)), `c:\k\csi-proxy.exe`)}
}

// oneProxy wants csi-proxy under one name at most.
func oneProxy(w *asked) Answer {
	var there []string
	for _, name := range []string{"csi-proxy", "csiproxy"} {
		if _, is := w.mayStart(name); is {
			there = append(there, name)
		}
	}
	return Answer{Observed: fmt.Sprintf("services: %q", there), Wrong: len(there) > 1}
}

// threeNumbers is a version in what a program writes of itself.
var threeNumbers = regexp.MustCompile(`\d+\.\d+\.\d+`)

// atLeast wants a program of a version, or a later one.
func atLeast(want, program string, args ...string) question {
	return func(w *asked) Answer {
		out, err := w.Run(program, args...)
		if !w.there(err) {
			return wrong("%s isn't there", program)
		}
		have, err := semver.NewVersion(threeNumbers.FindString(out))
		if !w.answered(err) {
			return Answer{}
		}
		return Answer{Observed: have.String(), Wrong: have.LessThan(semver.MustParse(want))}
	}
}

// excludesNoCards wants the setting exclude-nics, and nothing in it.
func excludesNoCards(w *asked) Answer {
	data, there := w.read(`C:\ProgramData\VMware\VMware Tools\tools.conf`)
	if !there {
		return wrong("there is no tools.conf")
	}
	for line := range strings.Lines(string(data)) {
		name, v, _ := strings.Cut(line, "=")
		if strings.TrimSpace(name) == "exclude-nics" {
			return Answer{Observed: strings.TrimSpace(line), Wrong: strings.TrimSpace(v) != ""}
		}
	}
	return wrong("tools.conf has no exclude-nics")
}

// diskSerial wants disks that tell who they are.
func diskSerial(w *asked) Answer {
	serial, err := w.Serial()
	w.answered(err)
	if serial == "" {
		return wrong("the disk has no serial number")
	}
	return right("serial number %s", serial)
}
