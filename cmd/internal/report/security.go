package report

import (
	"crypto/sha256"
	"encoding/base64"
)

// contentPolicy lets the browser load nothing and run nothing but the page's
// own two blocks, known by their hashes (Content Security Policy Level 3,
// section 6.7.3.2): what is not in this package is text, whatever it looks like.
var contentPolicy = "default-src 'none'; style-src " + hashOf(style) + "; script-src " + hashOf(script) + "; base-uri 'none'; form-action 'none'"

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
