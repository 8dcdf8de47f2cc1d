//go:build unix

package guest

// shellCommand and shellPrefix run ProxyCommand, as ssh_config(5) says.
var shellCommand = []string{"sh", "-c"}

const shellPrefix = "exec "
