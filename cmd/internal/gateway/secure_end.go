package gateway

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"time"
)

// An ending is how a handshake ended that no limit has refused.
type ending uint8

const (
	complete ending = iota
	resumed
	timeout
	certificate
	inTheClear
	left
	failure
)

// endings are the words in metrics.
var endings = [...]string{"complete", "resumed", "timeout", "certificate", "plain", "left", "failed"}

func (s *secrecy) end(of *secret, err error) {
	how := failure
	var wrong *tls.CertificateVerificationError
	var header tls.RecordHeaderError
	switch {
	case of.heard && of.place == nil:
		return // over a limit, and counted there
	case of.late.Load():
		how = timeout
	case err == nil && of.Conn.(*tls.Conn).ConnectionState().DidResume:
		how = resumed
	case err == nil:
		how = complete
	case errors.As(err, &wrong) || strings.Contains(err.Error(), "didn't provide a certificate"): // which has no type
		how = certificate
	case errors.As(err, &header) && isRequest(header.RecordHeader[:]):
		how = inTheClear
		of.sayWhatIsSpoken()
	case isGone(err):
		how = left
	}
	s.ended[how].Add(1)
	if err != nil {
		s.log.Debug("no handshake", "why", endings[how], "error", err)
	}
}

// isGone reports whether the other end has closed the connection, or ours has
// been closed.
func isGone(err error) bool {
	var network *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.As(err, &network) && network.Op != "remote error" && network.Op != "local error"
}

// isRequest reports whether bytes begin a request in the clear.
func isRequest(begin []byte) bool {
	return slices.ContainsFunc([]string{"GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO"}, func(method string) bool {
		return strings.HasPrefix(string(begin), method)
	})
}

// sayWhatIsSpoken answers a request in the clear, which a handshake cannot be.
func (s *secret) sayWhatIsSpoken() {
	s.below.SetWriteDeadline(time.Now().Add(goodbye))
	io.WriteString(s.below, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"+
		"This address speaks TLS: begin the URL with https.\n")
}
