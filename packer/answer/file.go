package answer

// The placeholders that Packer fills in. Each is a variable of templatefile;
// the template package gives all of them.
const (
	VarEFI            = "efi"             // bool: EFI or BIOS
	VarHasKey         = "has_product_key" // bool
	VarProductKey     = "product_key"
	VarImageKey       = "image_key"   // NAME or INDEX
	VarImageValue     = "image_value" // escaped for XML
	VarLanguage       = "language"    // en-US
	VarLocale         = "locale"      // formats and keyboard
	VarTimeZone       = "time_zone"   // UTC
	VarPassword       = "password"    // see Encoded
	VarAutoLogon      = "auto_logon"  // the same password, see Encoded
	VarHostPrefix     = "host_name_prefix"
	passwordName      = "AdministratorPassword"
	autoLogonName     = "Password"
	administrator     = "Administrator"
	buildComputerName = "winbake-build"
)

// PasswordSuffix and AutoLogonSuffix are what Windows wants appended to a
// password before it is encoded in base64 of UTF-16LE, with PlainText false.
// That hides nothing; it keeps & and < out of XML.
const (
	PasswordSuffix  = passwordName
	AutoLogonSuffix = autoLogonName
)

// BuildOptions shape autounattend.xml.
type BuildOptions struct {
	// DriverFolders are looked for on every likely drive letter, since letters
	// depend on how many CDs and disks there are: Program Files\...\pvscsi.
	DriverFolders []string
	// FirstLogon is the command line that makes the machine reachable.
	FirstLogon string
}

// driveLetters are those that Windows Setup may give to CDs; C: too, as long as
// the disk is empty. A path that isn't there is passed over.
const driveLetters = "CDEFGHI"

// Build is the answer file of the installation: unattended, one disk, the
// administrator logged on once to run FirstLogon.
func Build(o BuildOptions) ([]byte, error) {
	pe := []any{
		international{head: component("Microsoft-Windows-International-Core-WinPE"),
			SetupUILanguage: &setupLanguage{UILanguage: ref(VarLanguage)},
			InputLocale:     ref(VarLocale), SystemLocale: ref(VarLanguage), UILanguage: ref(VarLanguage), UserLocale: ref(VarLocale)},
	}
	if len(o.DriverFolders) > 0 {
		pe = append(pe, drivers{head: component("Microsoft-Windows-PnpCustomizationsWinPE"), Paths: driverPaths(driveLetters, o.DriverFolders)})
	}
	pe = append(pe, windowsSetup())
	s := shell{head: component("Microsoft-Windows-Shell-Setup"), ComputerName: buildComputerName, TimeZone: ref(VarTimeZone)}
	logon := shell{head: component("Microsoft-Windows-Shell-Setup"), OOBE: hiddenOOBE(),
		Accounts:   &accounts{AdministratorPassword: password{Value: ref(VarPassword)}},
		AutoLogon:  &autoLogon{Enabled: true, Username: administrator, LogonCount: 1, Password: &password{Value: ref(VarAutoLogon)}},
		FirstLogon: &logonRun{[]command{{action: add, Order: 1, Description: "Make the machine reachable for Packer", CommandLine: o.FirstLogon}}},
	}
	return encode(file{Settings: []settings{
		{Pass: "windowsPE", Components: pe},
		{Pass: "specialize", Components: append([]any{s}, quiet()...)},
		{Pass: "oobeSystem", Components: []any{spoken(), logon}},
	}})
}

// GeneralizeOptions shape unattend.xml.
type GeneralizeOptions struct {
	// Specialize is the command line that names the machine, "" for none. It
	// ends with 1 where Windows has to restart for that
	// (https://learn.microsoft.com/windows-hardware/customize/desktop/unattend/microsoft-windows-deployment-runsynchronous-runsynchronouscommand-willreboot).
	Specialize string
}

// Generalize is the answer file that sysprep leaves in the image: nobody is
// logged on by itself, and the password is one that nobody is told.
func Generalize(o GeneralizeOptions) ([]byte, error) {
	// No ComputerName: Windows would give the machine that one, or a random one
	// for "*", over the name that Specialize gives it. cloudbase-init's own
	// answer file names clones in the same way.
	specialize := quiet()
	if o.Specialize != "" {
		specialize = append(specialize, deployment{head: component("Microsoft-Windows-Deployment"),
			Run: commands(1, [2]string{"Give the machine its host name", o.Specialize})})
	}
	logon := shell{head: component("Microsoft-Windows-Shell-Setup"), OOBE: hiddenOOBE(), TimeZone: ref(VarTimeZone),
		Accounts:  &accounts{AdministratorPassword: password{Value: ref(VarPassword)}},
		AutoLogon: &autoLogon{Enabled: false},
	}
	return encode(file{Settings: []settings{
		// Clones get the same virtual hardware, and the network card has to
		// stay up until sysprep's end: Packer watches it over SSH.
		{Pass: "generalize", Components: []any{pnp{head: component("Microsoft-Windows-PnpSysprep"), PersistAllDeviceInstalls: true}}},
		{Pass: "specialize", Components: specialize},
		{Pass: "oobeSystem", Components: []any{spoken(), logon}},
	}})
}

// windowsSetup is the disk, the edition and the key.
func windowsSetup() setup {
	efi, efiWindows := efiLayout()
	bios, biosWindows := biosLayout()
	return setup{
		head: component("Microsoft-Windows-Setup"),
		Disk: when{condition: VarEFI, then: efi, Else: bios},
		Image: imageInstall{
			From:       metadata{action: add, Key: "/IMAGE/" + ref(VarImageKey), Value: ref(VarImageValue)},
			To:         installTo{Partition: when{condition: VarEFI, then: partitionID{ID: efiWindows}, Else: partitionID{ID: biosWindows}}},
			WillShowUI: "OnError",
		},
		User: userData{AcceptEula: true, FullName: administrator, Organization: "winbake",
			ProductKey: when{condition: VarHasKey, then: productKey{Key: ref(VarProductKey), WillShowUI: "OnError"}}},
	}
}

func spoken() international {
	return international{head: component("Microsoft-Windows-International-Core"),
		InputLocale: ref(VarLocale), SystemLocale: ref(VarLanguage), UILanguage: ref(VarLanguage), UserLocale: ref(VarLocale)}
}

// quiet keeps activation and the customer experience programme from calling
// out of a machine that is still being made.
func quiet() []any {
	return []any{
		activation{head: component("Microsoft-Windows-Security-SPP-UX"), SkipAutoActivation: true},
		experience{head: component("Microsoft-Windows-SQMApi")},
	}
}

func hiddenOOBE() *oobe {
	return &oobe{HideEULAPage: true, HideLocalAccountScreen: true, HideOEMRegistrationScreen: true,
		HideOnlineAccountScreens: true, HideWirelessSetupInOOBE: true, ProtectYourPC: 3}
}

func ref(variable string) string { return "${" + variable + "}" }

// passes are the configuration passes of Windows Setup, in their order.
var passes = []string{"windowsPE", "offlineServicing", "generalize", "specialize", "auditSystem", "auditUser", "oobeSystem"}

// components are the passes in which Windows reads a component, from
// Microsoft's reference.
var components = map[string][]string{
	"Microsoft-Windows-International-Core-WinPE":                  {"windowsPE"},
	"Microsoft-Windows-International-Core":                        {"specialize", "oobeSystem"},
	"Microsoft-Windows-PnpCustomizationsWinPE":                    {"windowsPE"},
	"Microsoft-Windows-PnpCustomizationsNonWinPE":                 {"offlineServicing", "auditSystem"},
	"Microsoft-Windows-Setup":                                     {"windowsPE"},
	"Microsoft-Windows-PnpSysprep":                                {"generalize"},
	"Microsoft-Windows-Security-SPP":                              {"generalize"},
	"Microsoft-Windows-Security-SPP-UX":                           {"specialize"},
	"Microsoft-Windows-SQMApi":                                    {"specialize"},
	"Microsoft-Windows-Shell-Setup":                               {"generalize", "specialize", "auditSystem", "auditUser", "oobeSystem"},
	"Microsoft-Windows-Deployment":                                {"generalize", "specialize", "auditUser", "auditSystem", "oobeSystem"},
	"Microsoft-Windows-LUA-Settings":                              {"offlineServicing"},
	"Microsoft-Windows-ServerManager-SvrMgrNc":                    {"specialize"},
	"Microsoft-Windows-OutOfBoxExperience":                        {"specialize"},
	"Microsoft-Windows-IE-ESC":                                    {"specialize"},
	"Microsoft-Windows-IE-InternetExplorer":                       {"specialize"},
	"Microsoft-Windows-TerminalServices-LocalSessionManager":      {"specialize"},
	"Microsoft-Windows-TerminalServices-RDP-WinStationExtensions": {"specialize"},
	"Microsoft-Windows-TCPIP":                                     {"windowsPE", "specialize"},
	"Microsoft-Windows-DNS-Client":                                {"windowsPE", "specialize"},
	"Microsoft-Windows-UnattendedJoin":                            {"specialize"},
	"Networking-MPSSVC-Svc":                                       {"specialize"},
	"Microsoft-Windows-ErrorReportingCore":                        {"specialize"},
	"Microsoft-Windows-RemoteAssistance-Exe":                      {"specialize"},
}
