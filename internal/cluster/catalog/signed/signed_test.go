package signed

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/winbake/winbake/internal/attest"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/image/oci"
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// bench is a folder with keys, and an empty cache.
type bench struct {
	t       *testing.T
	dir     string
	private *attest.Key
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(b.dir, "cache"))
	b.private = b.key("key")
	b.key("other")
	return b
}

func (b *bench) at(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) write(name string, data []byte) {
	b.t.Helper()
	if err := os.WriteFile(b.at(name), data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// key writes NAME.pem and NAME.pub.
func (b *bench) key(name string) *attest.Key {
	b.t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		b.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		b.t.Fatal(err)
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	b.write(name+".pem", secret)
	if der, err = x509.MarshalPKIXPublicKey(public); err != nil {
		b.t.Fatal(err)
	}
	b.write(name+".pub", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	k, err := attest.ParseKey(secret)
	if err != nil {
		b.t.Fatal(err)
	}
	return k
}

// edition is an envelope of the built-in catalog with another day, made so many days
// before now and good for thirty.
func (b *bench) edition(asOf string, daysAgo int) []byte {
	b.t.Helper()
	c, err := catalog.Load()
	if err != nil {
		b.t.Fatal(err)
	}
	c.AsOf = asOf
	made := now.AddDate(0, 0, -daysAgo)
	envelope, err := Make(b.t.Context(), c, made, made.AddDate(0, 0, 30), b.private)
	if err != nil {
		b.t.Fatal(err)
	}
	return envelope
}

func (b *bench) update(o Options) (*Edition, error) {
	o.Now = now
	if o.KeyFile == "" {
		o.KeyFile = b.at("key.pub")
	}
	e, _, err := Update(b.t.Context(), o)
	return e, err
}

// kept is the day of the catalog in use; "" for the built-in one.
func (b *bench) kept() (string, error) {
	e, err := Kept(b.t.Context())
	if e == nil {
		return "", err
	}
	return e.AsOf, err
}

func TestUpdateKeepsTheNewest(t *testing.T) {
	b := newBench(t)
	if got, err := b.kept(); got != "" || err != nil {
		t.Fatalf("before any update %q is kept, %v", got, err)
	}
	b.write("a", b.edition("2026-11-01", 9))
	b.write("b", b.edition("2026-11-02", 8))
	b.write("c", b.edition("2026-11-02", 7))
	b.write("old", b.edition("2026-08-01", 1))
	b.write("expired", b.edition("2026-11-03", 30))
	for _, c := range []struct {
		from         string
		o            Options
		want, inUse  string
		allowedAgain string
	}{
		{from: "old", want: "is older than the one in use, of " + catalog.BuiltIn()},
		{from: "b", inUse: "2026-11-02"},
		{from: "a", want: "is older than the one in use, of 2026-11-02, signed at 2026-11-15", inUse: "2026-11-02"},
		{from: "b", inUse: "2026-11-02"},
		{from: "c", inUse: "2026-11-02"},
		{from: "b", want: "is older", inUse: "2026-11-02"},
		{from: "expired", want: "expired on 2026-11-23", inUse: "2026-11-02"},
		{from: "expired", o: Options{AllowExpired: true}, want: "is older", inUse: "2026-11-02"},
		{from: "expired", o: Options{AllowExpired: true, AllowOlder: true}, inUse: "2026-11-03"},
		{from: "old", o: Options{AllowOlder: true}, inUse: "2026-08-01"},
	} {
		c.o.From = b.at(c.from)
		_, err := b.update(c.o)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.from, err, c.want)
		}
		if got, err := b.kept(); got != c.inUse || err != nil {
			t.Errorf("after %s %q is in use, %v; want %q", c.from, got, err, c.inUse)
		}
	}
	left, err := os.ReadDir(b.at("cache/winbake"))
	if err != nil || len(left) != 1 {
		t.Errorf("beside the kept catalog are %v, %v", left, err)
	}
}

func TestUpdateRefuses(t *testing.T) {
	b := newBench(t)
	good := b.edition("2026-11-01", 1)
	b.write("good", good)
	forged := bytes.Replace(good, []byte(`"payload":"`), []byte(`"payload":"`+base64.StdEncoding.EncodeToString([]byte("{}x"))), 1)
	b.write("forged", forged)
	b.write("half", good[:len(good)/2])
	b.write("empty", nil)
	strange, err := attest.Sign(t.Context(), b.private, payloadType, []byte(`{"made":"2026-11-23T00:00:00Z","expires":"2027-11-23T00:00:00Z","catalog":{"apiVersion":"winbake.dev/catalog/v1","asOf":"2026-11-23","news":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	b.write("strange", strange)
	noDate, err := attest.Sign(t.Context(), b.private, payloadType, []byte(`{"made":"today"}`))
	if err != nil {
		t.Fatal(err)
	}
	b.write("no-date", noDate)
	if err := os.Mkdir(b.at("folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o         Options
		want, fix string
	}{
		"forged":               {Options{From: b.at("forged")}, "forged or damaged", "get it again"},
		"another key":          {Options{From: b.at("good"), KeyFile: b.at("other.pub")}, "signed with another key than ", "--key FILE"},
		"half of it":           {Options{From: b.at("half")}, "only a part of one", "get it again"},
		"nothing":              {Options{From: b.at("empty")}, "only a part of one", "get it again"},
		"from the future":      {Options{From: b.at("strange")}, `unknown key "news"`, "install the newest verify"},
		"without dates":        {Options{From: b.at("no-date")}, "can't be read", "install the newest verify"},
		"no file":              {Options{From: b.at("none.json")}, "no such file", "--from"},
		"a folder without one": {Options{From: b.at("folder")}, "no such file or folder", "a folder with catalog.json"},
		"no key":               {Options{From: b.at("good"), KeyFile: b.at("none")}, "the key can't be read", "--key FILE"},
		"a private key":        {Options{From: b.at("good"), KeyFile: b.at("key.pem")}, "a private key", "openssl pkey"},
		"no such key":          {Options{From: b.at("good"), KeyFile: b.at("good")}, "not an Ed25519 or ECDSA P-256 key", "--key FILE"},
		"from nowhere":         {Options{}, "doesn't know where catalogs are", "--from"},
	} {
		_, err := b.update(c.o)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || !strings.Contains(f.What, c.want) || !strings.Contains(f.Fix, c.fix) {
			t.Errorf("%s: %v, want %q and %q", name, err, c.want, c.fix)
		}
	}
	if _, _, err := Update(t.Context(), Options{From: b.at("good"), Now: now}); err == nil || !strings.Contains(err.Error(), "no key to verify") {
		t.Errorf("without a key: %v", err)
	}
	if _, err := os.Stat(b.at("cache")); err == nil {
		t.Error("a refused catalog left something in the cache")
	}
}

// The key and the place that a release is built with.
func TestUpdateAsBuilt(t *testing.T) {
	b := newBench(t)
	b.write(FileName, b.edition("2026-11-01", 1))
	public, err := os.ReadFile(b.at("key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(public)
	if Command() != "" {
		t.Error("a build without a key has a command")
	}
	publicKey, source = base64.StdEncoding.EncodeToString(block.Bytes), b.dir
	defer func() { publicKey, source = "", "" }()
	if Command() != "verify catalog update" {
		t.Errorf("%q", Command())
	}
	if e, _, err := Update(t.Context(), Options{Now: now}); err != nil || e.AsOf != "2026-11-01" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := b.update(Options{KeyFile: b.at("other.pub")}); err == nil {
		t.Error("--key doesn't come before the key of the build")
	}
}

func TestUpdateFromARegistry(t *testing.T) {
	b := newBench(t)
	img, err := Artifact(b.edition("2026-11-01", 1))
	if err != nil {
		t.Fatal(err)
	}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	var login, cut bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch blob := strings.Contains(r.URL.Path, "/blobs/"); {
		case login:
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		case cut && blob:
			rec := httptest.NewRecorder()
			inner.ServeHTTP(rec, r)
			w.WriteHeader(rec.Code)
			_, _ = w.Write(append(rec.Body.Bytes()[:rec.Body.Len()/2], make([]byte, rec.Body.Len()-rec.Body.Len()/2)...))
		default:
			inner.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	if _, err := oci.Push(t.Context(), host+"/me/catalog:latest", img, oci.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := oci.WriteLayout(t.Context(), b.at("layout"), img, nil); err != nil {
		t.Fatal(err)
	}
	refused := func(name, from, want string) {
		t.Helper()
		f, ok := errors.AsType[*fault.Error](second(b.update(Options{From: from})))
		if !ok || !strings.Contains(f.Error(), want) || f.Fix == "" {
			t.Errorf("%s: %v, want %q", name, f, want)
		}
	}
	refused("no such tag", "oci://"+host+"/me/catalog:v2", "404")
	login = true
	refused("a login is wanted", "oci://"+host+"/me/catalog:latest", "podman login "+host)
	login, cut = false, true
	refused("other bytes", "oci://"+host+"/me/catalog:latest", "bytes have another digest")
	cut = false
	if _, err := os.Stat(b.at("cache")); err == nil {
		t.Error("a failed download left something in the cache")
	}
	for _, from := range []string{"oci://" + host + "/me/catalog:latest", b.at("layout"), "oci:" + b.at("layout")} {
		if e, err := b.update(Options{From: from}); err != nil || e.AsOf != "2026-11-01" {
			t.Errorf("%s: %+v, %v", from, e, err)
		}
	}
	// What was kept, and what is damaged later, is one or the other.
	path := b.at("cache/winbake/catalog.json")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"half": whole[:len(whole)/2], "empty": nil, "changed": bytes.Replace(whole, []byte(`"payload":"e`), []byte(`"payload":"f`), 1),
		"without a key": bytes.Replace(whole, []byte("BEGIN PUBLIC KEY"), []byte("BEGIN SOMETHING"), 1),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := b.kept()
		f, ok := errors.AsType[*fault.Error](err)
		if got != "" || !ok || !strings.Contains(f.What, "the kept catalog can't be used") || f.Fix != "verify catalog update, with --from and --key as it was fetched" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if e, err := b.update(Options{From: b.at("layout")}); err != nil || e == nil {
			t.Errorf("%s can't be replaced: %v", name, err)
		}
	}
}

func second(_ *Edition, err error) error { return err }
