package answer

// The placeholders that Packer fills in. Each is a variable of templatefile.
const (
	VarEFI        = "efi"             // bool: EFI or BIOS
	VarHasKey     = "has_product_key" // bool
	VarProductKey = "product_key"
	VarImageKey   = "image_key"   // NAME or INDEX
	VarImageValue = "image_value" // escaped for XML
	VarLanguage   = "language"    // en-US
	VarLocale     = "locale"      // formats and keyboard
	VarTimeZone   = "time_zone"   // UTC
	VarPassword   = "password"    // see PasswordSuffix
	VarAutoLogon  = "auto_logon"  // the same password, see AutoLogonSuffix
)

// PasswordSuffix and AutoLogonSuffix are what Windows wants appended to a
// password before it is encoded in base64 of UTF-16LE, with PlainText false.
// That hides nothing; it keeps & and < out of XML.
const (
	PasswordSuffix  = "AdministratorPassword"
	AutoLogonSuffix = "Password"
)
