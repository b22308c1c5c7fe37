// Package wire says which headers of a message an HTTP/1.1 gateway passes on,
// drops and writes itself, for both directions.
//
// What belongs to one connection ends with it (RFC 9110, 7.6.1): Connection and
// everything it names, Keep-Alive, TE but for "trailers", Transfer-Encoding,
// Upgrade, and every Proxy header. All Connection lines count, empty ones and
// later ones too: a proxy that reads only the first lets a caller strip
// headers that the next hop relies on (O-29).
//
// Who asks is written by the gateway: X-Forwarded-For, -Host and -Proto. A
// trusted peer's are continued; anybody else's are dropped, with every other
// header that claims an origin (those of well-known proxies and spellings with
// underscores, which CGI takes for dashes), and begun anew. The same holds for
// the mark that another layer owns the retries, which would let a caller switch
// them off.
//
// The maps that are made share their values with the message that came in,
// and with each other; nobody may write into a value.
package wire
