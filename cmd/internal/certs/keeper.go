package certs

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
)

// A Keeper has what a listener serves with, the newest of it that was good. It
// is safe for concurrent use.
type Keeper struct {
	files settings.TLS
	shape func(*tls.Config)
	now   func() time.Time

	config         atomic.Pointer[tls.Config]
	renewed, wrong atomic.Uint64

	mu     sync.Mutex        // guards what follows: one looks at a time
	seen   [sha256.Size]byte // the files as they were last read
	served [sha256.Size]byte // and as they were when they were taken over
	serve  *material
}

// Open reads the files. shape, if there is one, may add to each configuration
// before it is used.
func Open(files settings.TLS, shape func(*tls.Config)) (*Keeper, error) {
	k := &Keeper{files: files, shape: shape, now: time.Now}
	all := read(files)
	m, found := all.parse(files, k.now())
	if m == nil {
		if err := found.Err(); err != nil {
			return nil, err
		}
		return nil, errors.New("tls: write both certificate and key")
	}
	k.seen = all.sum()
	k.take(m)
	return k, nil
}

// Config returns what to serve the next connection with.
func (k *Keeper) Config() *tls.Config { return k.config.Load() }

// Expires returns when the certificate in use does.
func (k *Keeper) Expires() time.Time { return k.config.Load().Certificates[0].Leaf.NotAfter }

// Renewed returns how often changed files were taken over, and Wrong how often
// they were not good.
func (k *Keeper) Renewed() uint64 { return k.renewed.Load() }

// Wrong returns how often changed files were not good, and the old ones stayed.
func (k *Keeper) Wrong() uint64 { return k.wrong.Load() }

// Look reads the files again. It reports whether they have changed and were
// taken over. The error says what is wrong with files that have changed, once
// for each change.
//
// It goes by the content: a file's time of change is that of the archive it
// came from, as often as not, and does not move when a link is turned.
func (k *Keeper) Look() (renewed bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := read(k.files)
	sum := all.sum()
	if sum == k.seen {
		return false, nil
	}
	if k.seen = sum; sum == k.served { // what was wrong has been put back
		return false, nil
	}
	now := k.now()
	m, found := all.parse(k.files, now)
	switch {
	case m == nil:
		k.wrong.Add(1)
		return false, found.Err()
	case !m.good(now) && k.serve.good(now):
		k.wrong.Add(1)
		return false, fmt.Errorf("tls.certificate: %.200q is not valid now, and the old one is", k.files.Certificate)
	}
	k.take(m)
	k.renewed.Add(1)
	return true, nil
}

// take serves with m from now on. The configuration is a new one, whose session
// tickets are encrypted with new keys.
func (k *Keeper) take(m *material) {
	c := &tls.Config{
		Certificates: []tls.Certificate{m.certificate},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"http/1.1"},
	}
	if m.clients != nil {
		c.ClientCAs, c.ClientAuth = m.clients, tls.VerifyClientCertIfGiven
		if k.files.Require {
			c.ClientAuth = tls.RequireAndVerifyClientCert
		}
	}
	if k.shape != nil {
		k.shape(c)
	}
	k.serve, k.served = m, k.seen
	k.config.Store(c)
}
