package fault

import (
	"context"
	"net/http"
)

// A Transport is an http.RoundTripper whose requests are hurt: the Base of a
// kalanhttp.Transport, or what stands below another guard. An answer that is lost
// is closed.
type Transport struct {
	// Base sends the requests; nil means http.DefaultTransport.
	Base http.RoundTripper
	// Injector hurts them; nil hurts none.
	Injector *Injector
}

// RoundTrip sends the request, or does to it what the draw says.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	base, sent := t.base(), false
	answer, err := do(r.Context(), t.Injector, func(context.Context) (*http.Response, error) {
		sent = true
		return base.RoundTrip(r)
	}, func(lost *http.Response) { lost.Body.Close() })
	if !sent && r.Body != nil {
		r.Body.Close() // as a RoundTripper owes
	}
	return answer, err
}

// CloseIdleConnections closes those of Base, as http.Client asks for.
func (t Transport) CloseIdleConnections() {
	if c, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (t Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}
