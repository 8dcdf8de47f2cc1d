package guest

// shellCommand and shellPrefix run ProxyCommand.
var shellCommand = []string{"cmd", "/c"}

const shellPrefix = ""
