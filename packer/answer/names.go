package answer

import "strings"

// names are those of settings that answer files have. There are more.
var names = strings.Fields(`AcceptEula AdministratorPassword AsynchronousCommand AutoLogon CommandLine ComputerName
CopyProfile CreatePartition CreatePartitions DiskConfiguration DisableAutoDaylightTimeSet DomainAccounts DriverPaths
FirstLogonCommands FullName HideEULAPage HideLocalAccountScreen HideOEMRegistrationScreen HideOnlineAccountScreens
HideWirelessSetupInOOBE ImageInstall InputLocale InstallFrom InstallTo LocalAccount LocalAccounts LogonCount
LogonCommands MetaData ModifyPartition ModifyPartitions NetworkLocation Organization PartitionID PathAndCredentials
PersistAllDeviceInstalls PlainText ProductKey ProtectYourPC RegisteredOrganization RegisteredOwner RequiresUserInput
RunAsynchronous RunAsynchronousCommand RunSynchronous RunSynchronousCommand SetupUILanguage SkipMachineOOBE SkipRearm
SkipUserOOBE SynchronousCommand SystemLocale TimeZone UILanguage UILanguageFallback UserAccounts UserData UserLocale
WillReboot WillShowUI WillWipeDisk`)

// misspelt is the setting that is meant by a name that differs from it in one
// letter, or in case; "" for any other. Windows Setup ends at a setting that it
// doesn't know.
func misspelt(name string) string {
	meant := ""
	for _, known := range names {
		if known == name {
			return ""
		}
		if strings.EqualFold(known, name) || oneLetter(known, name) || oneLetter(name, known) {
			meant = known
		}
	}
	return meant
}

// oneLetter reports whether b is a with a letter more, or another one in its place.
func oneLetter(a, b string) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return i < len(b) && (a[i:] == b[i+1:] || i < len(a) && a[i+1:] == b[i+1:])
}
