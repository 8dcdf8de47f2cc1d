package answer

import (
	"strings"

	"github.com/agext/levenshtein"
)

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
		if strings.EqualFold(known, name) || levenshtein.Distance(known, name, nil) == 1 {
			meant = known
		}
	}
	return meant
}
