package imagecheck

import (
	"errors"
	"fmt"
	"regexp"
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
	return func(w Windows) (Answer, error) {
		have, err := number(w, currentVersion, "CurrentBuildNumber")
		if err != nil {
			return Answer{}, err
		}
		patch, err := number(w, currentVersion, "UBR")
		if err != nil {
			return Answer{}, err
		}
		switch {
		case have == server2022 && patch < leastPatch:
		case have == server2022 || have == server2025:
			return right("%d.%d", have, patch)
		case have == server2019:
			maker, err := manufacturer(w)
			if err != nil {
				return Answer{}, err
			}
			if with2019(maker) {
				return right("%d.%d", have, patch)
			}
		}
		return wrong("%d.%d", have, patch)
	}
}

func number(w Windows, key, name string) (int, error) {
	v, err := w.Value(key, name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0, fmt.Errorf("%s is %q", name, v)
	}
	return n, nil
}

// notEvaluation wants an edition without an end.
func notEvaluation(w Windows) (Answer, error) {
	edition, err := w.Value(currentVersion, "EditionID")
	if err != nil {
		return Answer{}, err
	}
	return Answer{Observed: edition, Wrong: strings.HasSuffix(edition, "Eval")}, nil
}

// noKeys wants keys that are there only as long as Windows waits for a restart.
func noKeys(keys ...string) question {
	return func(w Windows) (Answer, error) {
		var there []string
		for _, key := range keys {
			_, err := w.Values(key)
			if err == nil {
				there = append(there, key)
			} else if !absent(err) {
				return Answer{}, err
			}
		}
		return none(there)
	}
}

// installState wants a feature of Windows: 1 is enabled, 2 disabled, 3 absent.
func installState(feature string) question {
	return func(w Windows) (Answer, error) {
		out, err := powershell(w, `'InstallState=' + (Get-CimInstance -ClassName Win32_OptionalFeature -Filter "Name='`+feature+`'" -ErrorAction Stop).InstallState`)
		if err != nil {
			return Answer{}, err
		}
		return Answer{Observed: out, Wrong: out != "InstallState=1"}, nil
	}
}

// decrypted wants C: without BitLocker. A drive whose protection is off may be
// encrypted all the same, and then sysprep refuses it. Where Windows hasn't the feature,
// the class's namespace isn't there (0x8004100e).
func decrypted(w Windows) (Answer, error) {
	out, err := powershell(w, `try { 'ConversionStatus=' + (Get-CimInstance -Namespace root/CIMV2/Security/MicrosoftVolumeEncryption -ClassName Win32_EncryptableVolume -Filter "DriveLetter='C:'" -ErrorAction Stop | Invoke-CimMethod -MethodName GetConversionStatus).ConversionStatus } catch { $_.FullyQualifiedErrorId }`)
	switch {
	case err != nil:
		return Answer{}, err
	case strings.Contains(strings.ToLower(out), "0x8004100e"):
		return right("the feature BitLocker isn't there")
	case strings.HasPrefix(out, "ConversionStatus="):
		return Answer{Observed: out, Wrong: out != "ConversionStatus=0"}, nil
	}
	return Answer{}, errors.New(out)
}

// forOneUser asks for packages that are installed for a user, and not for all.
func forOneUser(w Windows) (Answer, error) {
	if _, err := w.Service("AppXSvc"); absent(err) {
		return right("there is no service AppXSvc, so no packages")
	} else if err != nil {
		return Answer{}, err
	}
	out, err := powershell(w, `$all = (Get-AppxProvisionedPackage -Online -ErrorAction Stop).DisplayName; $one = @(Get-AppxPackage -AllUsers -ErrorAction Stop | Where-Object { -not $_.IsFramework -and -not $_.NonRemovable -and $_.SignatureKind -ne 'System' -and $all -notcontains $_.Name } | ForEach-Object { $_.PackageFullName }); if ($one) { $one -join ', ' } else { 'none' }`)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Observed: out, Wrong: out != "none"}, nil
}

// pageFile wants at least one.
func pageFile(w Windows) (Answer, error) {
	files, err := value(w, `HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management`, "PagingFiles")
	if err != nil {
		return Answer{}, err
	}
	if strings.TrimSpace(files) == "" {
		return wrong("none")
	}
	return right("%s", strings.Join(strings.Split(files, "\n"), ", "))
}

// tls12 wants TLS 1.2 where it is by default: switched on.
func tls12(w Windows) (Answer, error) {
	var off []string
	for _, side := range []string{"Client", "Server"} {
		key := `HKLM\SYSTEM\CurrentControlSet\Control\SecurityProviders\SCHANNEL\Protocols\TLS 1.2\` + side
		on, err := value(w, key, "Enabled")
		if err != nil {
			return Answer{}, err
		}
		byDefault, err := value(w, key, "DisabledByDefault")
		if err != nil {
			return Answer{}, err
		}
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
func mayStart(w Windows, name string) (Service, bool, error) {
	s, err := w.Service(name)
	if absent(err) {
		return s, false, nil
	}
	return s, s.Start != "disabled", err
}

// operatorsProxy wants csi-proxy under WMCO's name and path, or none.
func operatorsProxy(w Windows) (Answer, error) {
	if _, there, err := mayStart(w, "csiproxy"); err != nil {
		return Answer{}, err
	} else if there {
		return wrong("csiproxy")
	}
	s, there, err := mayStart(w, "csi-proxy")
	if err != nil {
		return Answer{}, err
	}
	if !there {
		return right("none")
	}
	return Answer{Observed: s.Command, Wrong: !strings.HasPrefix(strings.ToLower(strings.Trim(s.Command, `"`)), `c:\k\csi-proxy.exe`)}, nil
}

// oneProxy wants csi-proxy under one name at most.
func oneProxy(w Windows) (Answer, error) {
	var there []string
	for _, name := range []string{"csi-proxy", "csiproxy"} {
		if _, is, err := mayStart(w, name); err != nil {
			return Answer{}, err
		} else if is {
			there = append(there, name)
		}
	}
	return Answer{Observed: fmt.Sprintf("services: %q", there), Wrong: len(there) > 1}, nil
}

// threeNumbers is a version in what a program writes of itself.
var threeNumbers = regexp.MustCompile(`\d+\.\d+\.\d+`)

// atLeast wants a program of a version, or a later one.
func atLeast(want, program string, args ...string) question {
	return func(w Windows) (Answer, error) {
		out, err := w.Run(program, args...)
		if absent(err) {
			return wrong("%s isn't there", program)
		}
		if err != nil {
			return Answer{}, err
		}
		have, err := semver.NewVersion(threeNumbers.FindString(out))
		if err != nil {
			return Answer{}, err
		}
		return Answer{Observed: have.String(), Wrong: have.LessThan(semver.MustParse(want))}, nil
	}
}

// excludesNoCards wants the setting exclude-nics, and nothing in it.
func excludesNoCards(w Windows) (Answer, error) {
	data, err := w.Read(`C:\ProgramData\VMware\VMware Tools\tools.conf`)
	if absent(err) {
		return wrong("there is no tools.conf")
	}
	if err != nil {
		return Answer{}, err
	}
	for line := range strings.Lines(string(data)) {
		name, v, _ := strings.Cut(line, "=")
		if strings.TrimSpace(name) == "exclude-nics" {
			return Answer{Observed: strings.TrimSpace(line), Wrong: strings.TrimSpace(v) != ""}, nil
		}
	}
	return wrong("tools.conf has no exclude-nics")
}

// diskSerial wants disks that tell who they are.
func diskSerial(w Windows) (Answer, error) {
	serial, err := w.Serial()
	if err != nil {
		return Answer{}, err
	}
	if serial == "" {
		return wrong("the disk has no serial number")
	}
	return right("serial number %s", serial)
}
