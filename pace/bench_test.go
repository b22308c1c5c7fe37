package pace

import "testing"

func BenchmarkAllow(b *testing.B) {
	l := must(b, rate(1e9, 1<<20))
	for b.Loop() {
		l.Allow()
	}
}

func BenchmarkSetAllow(b *testing.B) {
	s := mustSet[string](b, rate(1e9, 1<<20))
	keys := [...]string{"ada", "ben", "cat", "dan"}
	for n := 0; b.Loop(); n++ {
		s.Allow(keys[n%len(keys)])
	}
}
