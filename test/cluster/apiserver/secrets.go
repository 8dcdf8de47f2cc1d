package apiserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"
)

// writeSecrets writes what kube-apiserver reads: the administrator's token and
// the key that signs ServiceAccounts' tokens.
func (s *Server) writeSecrets(token string) error {
	row := fmt.Sprintf("%s,admin,admin,system:masters\n", token)
	if err := os.WriteFile(s.path("tokens.csv"), []byte(row), 0o600); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	return os.WriteFile(s.path("sa.key"), text, 0o600)
}

// writeKubeconfig writes a kubeconfig with one context, "test".
func writeKubeconfig(file, user string, config *rest.Config) error {
	k := api.NewConfig()
	k.Clusters["test"] = &api.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	k.AuthInfos[user] = &api.AuthInfo{Token: config.BearerToken}
	k.Contexts["test"] = &api.Context{Cluster: "test", AuthInfo: user}
	k.CurrentContext = "test"
	return clientcmd.WriteToFile(*k, file)
}
