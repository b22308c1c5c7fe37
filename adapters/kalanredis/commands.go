package kalanredis

import (
	"strings"

	"github.com/redis/go-redis/v9"
)

// readers are the commands that change nothing, those that COMMAND INFO flags
// readonly (a test asks a real server). Scripts and functions are not among
// them: what they do is their author's knowledge.
var readers = set(`
	bitcount bitfield_ro bitpos dbsize dump exists expiretime geodist geohash geopos
	georadius_ro georadiusbymember_ro geosearch get getbit getrange hexists hget
	hgetall hkeys hlen hmget hrandfield hscan hstrlen hvals keys lcs lindex llen
	lolwut lpos lrange memory mget object pexpiretime pfcount pttl randomkey scan
	scard sdiff sinter sintercard sismember smembers smismember sort_ro
	srandmember sscan strlen substr sunion touch ttl type xinfo xlen xpending xrange xrevrange
	zcard zcount zdiff zinter zintercard zlexcount zmscore zrandmember
	zrange zrangebylex zrangebyscore zrank zrevrange zrevrangebylex
	zrevrangebyscore zrevrank zscan zscore zunion ping echo`)

// waiters are the commands that wait on purpose, those that it flags blocking.
// XREAD and XREADGROUP do so only if they say BLOCK.
var waiters = set(`
	blpop brpop brpoplpush blmove blmpop bzpopmin bzpopmax bzmpop wait waitaof`)

// setup are the commands by which go-redis makes a connection ready.
var setup = set("hello auth select client readonly readwrite")

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// ReadOnly reports whether a command changes nothing, so that it may be done
// twice.
func ReadOnly(cmd redis.Cmder) bool {
	name := cmd.Name()
	return readers[name] || name == "xread" && !says(cmd, "block")
}

// Blocking reports whether a command waits on purpose.
func Blocking(cmd redis.Cmder) bool {
	name := cmd.Name()
	return waiters[name] || (name == "xread" || name == "xreadgroup") && says(cmd, "block")
}

// says reports whether the word is among the command's options. A stream's name
// may be the same word: then the command is taken for one that waits, and only
// loses its limit.
func says(cmd redis.Cmder, word string) bool {
	for _, arg := range cmd.Args() {
		switch a := arg.(type) {
		case string:
			if strings.EqualFold(a, word) {
				return true
			}
		case []byte:
			if strings.EqualFold(string(a), word) {
				return true
			}
		}
	}
	return false
}

// every reports whether all of them are.
func every(cmds []redis.Cmder, are func(redis.Cmder) bool) bool {
	for _, cmd := range cmds {
		if !are(cmd) {
			return false
		}
	}
	return true
}

// some reports whether one of them is.
func some(cmds []redis.Cmder, is func(redis.Cmder) bool) bool {
	return !every(cmds, func(cmd redis.Cmder) bool { return !is(cmd) })
}
