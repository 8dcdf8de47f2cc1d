package answer

import (
	"encoding/xml"
	"strconv"
)

// international is the language of Setup (windowsPE) and of Windows
// (oobeSystem), under two component names.
type international struct {
	XMLName xml.Name `xml:"component"`
	head
	SetupUILanguage *setupLanguage `xml:",omitempty"`
	InputLocale     string
	SystemLocale    string
	UILanguage      string
	UserLocale      string
}

type setupLanguage struct {
	XMLName    xml.Name `xml:"SetupUILanguage"`
	UILanguage string
}

// drivers has Setup load drivers before it looks for a disk.
type drivers struct {
	XMLName xml.Name `xml:"component"`
	head
	Paths []driverPath `xml:"DriverPaths>PathAndCredentials"`
}

type driverPath struct {
	action
	Key  string `xml:"wcm:keyValue,attr"`
	Path string
}

// setup is Microsoft-Windows-Setup in windowsPE.
type setup struct {
	XMLName xml.Name `xml:"component"`
	head
	Disk  when
	Image imageInstall `xml:"ImageInstall>OSImage"`
	User  userData     `xml:"UserData"`
}

type imageInstall struct {
	From       metadata  `xml:"InstallFrom>MetaData"`
	To         installTo `xml:"InstallTo"`
	WillShowUI string
}

type metadata struct {
	action
	Key, Value string
}

// installTo is the partition that Windows goes to.
type installTo struct {
	DiskID    int
	Partition when
}

type partitionID struct {
	XMLName xml.Name `xml:"PartitionID"`
	ID      int      `xml:",chardata"`
}

type userData struct {
	AcceptEula   bool
	FullName     string
	Organization string
	ProductKey   when
}

type productKey struct {
	XMLName    xml.Name `xml:"ProductKey"`
	Key        string
	WillShowUI string
}

// disk is the layout of the first disk.
type disk struct {
	XMLName    xml.Name `xml:"DiskConfiguration"`
	WillShowUI string
	Disk       diskLayout
}

type diskLayout struct {
	action
	DiskID       int
	WillWipeDisk bool
	Create       []createPartition `xml:"CreatePartitions>CreatePartition"`
	Modify       []modifyPartition `xml:"ModifyPartitions>ModifyPartition"`
}

type createPartition struct {
	action
	Order  int
	Type   string
	Size   int  `xml:",omitempty"` // MB
	Extend bool `xml:",omitempty"`
}

type modifyPartition struct {
	action
	Order       int
	PartitionID int
	Format      string `xml:",omitempty"`
	Label       string `xml:",omitempty"`
	Active      bool   `xml:",omitempty"`
}

// command is one synchronous command, of a pass or of the first logon.
type command struct {
	action
	Order       int
	Description string
	Path        string `xml:",omitempty"` // of RunSynchronousCommand
	CommandLine string `xml:",omitempty"` // of SynchronousCommand
	WillReboot  string `xml:",omitempty"` // of RunSynchronousCommand
}

// deployment runs commands in the specialize pass.
type deployment struct {
	XMLName xml.Name `xml:"component"`
	head
	Run []command `xml:"RunSynchronous>RunSynchronousCommand"`
}

// shell is Microsoft-Windows-Shell-Setup in specialize and oobeSystem.
type shell struct {
	XMLName xml.Name `xml:"component"`
	head
	ComputerName string     `xml:",omitempty"`
	TimeZone     string     `xml:",omitempty"`
	OOBE         *oobe      `xml:",omitempty"`
	Accounts     *accounts  `xml:"UserAccounts,omitempty"`
	AutoLogon    *autoLogon `xml:",omitempty"`
	FirstLogon   *logonRun  `xml:"FirstLogonCommands,omitempty"`
}

type logonRun struct {
	Commands []command `xml:"SynchronousCommand"`
}

type oobe struct {
	HideEULAPage              bool
	HideLocalAccountScreen    bool
	HideOEMRegistrationScreen bool
	HideOnlineAccountScreens  bool
	HideWirelessSetupInOOBE   bool
	ProtectYourPC             int
}

type accounts struct {
	AdministratorPassword password
}

// password is encoded as Windows wants it when PlainText is false: see
// Encoded.
type password struct {
	Value     string
	PlainText bool
}

type autoLogon struct {
	Enabled    bool
	Username   string    `xml:",omitempty"`
	LogonCount int       `xml:",omitempty"`
	Password   *password `xml:",omitempty"`
}

type activation struct {
	XMLName xml.Name `xml:"component"`
	head
	SkipAutoActivation bool
}

type experience struct {
	XMLName xml.Name `xml:"component"`
	head
	CEIPEnabled int
}

type pnp struct {
	XMLName xml.Name `xml:"component"`
	head
	PersistAllDeviceInstalls bool
}

func commands(first int, lines ...[2]string) []command {
	var out []command
	for i, l := range lines {
		out = append(out, command{action: add, Order: first + i, Description: l[0], Path: l[1], WillReboot: "OnRequest"})
	}
	return out
}

func driverPaths(letters string, folders []string) []driverPath {
	var out []driverPath
	for _, letter := range letters {
		for _, f := range folders {
			out = append(out, driverPath{action: add, Key: strconv.Itoa(len(out) + 1), Path: string(letter) + `:\` + f})
		}
	}
	return out
}
