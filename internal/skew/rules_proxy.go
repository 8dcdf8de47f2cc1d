package skew

// proxyRules judge whether csi-proxy is there and serves what drivers dial.
var proxyRules []rule
