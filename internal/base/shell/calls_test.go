package shell

import "testing"

func TestReplace(t *testing.T) {
	words := map[string]string{"oc": "oc --context 'a b'", "verify skew": "verify skew --accept SKEW001"}
	for text, want := range map[string]string{
		"oc get nodes":                                          "oc --context 'a b' get nodes",
		"oc get a | xargs -r oc -n x delete":                    "oc --context 'a b' get a | xargs -r oc --context 'a b' -n x delete",
		`test -s f && x="$(oc get a)" || oc b`:                  `test -s f && x="$(oc --context 'a b' get a)" || oc --context 'a b' b`,
		"verify skew --to 4.20":                                 "verify skew --accept SKEW001 --to 4.20",
		"verify payload":                                        "verify payload",
		"(\nfor n in $(oc get n); do\n oc label $n a-\ndone\n)": "(\nfor n in $(oc --context 'a b' get n); do\n oc --context 'a b' label $n a-\ndone\n)",
		`echo 'a; oc get b'`:                                    `echo 'a; oc get b'`,
		`patch "oc x"`:                                          `patch "oc x"`,
		"echo oc; # oc get":                                     "echo oc; # oc get",
		"what 'ends nowhere; oc x":                              "what 'ends nowhere; oc x",
		"":                                                      "",
	} {
		if got := Replace(text, words); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
