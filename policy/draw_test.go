package policy

import "testing"

// The first number of the reference implementation for the seed 0.
func TestDrawIsSplitmix64(t *testing.T) {
	const first = 0xe220a8397b1dcdaf
	if got, want := Draw(0), float64(first>>11)/(1<<53); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDrawStaysBelowOne(t *testing.T) {
	sum := 0.
	for seed := range uint64(10000) {
		x := Draw(seed)
		if sum += x; x < 0 || x >= 1 {
			t.Fatalf("Draw(%d) is %v", seed, x)
		}
	}
	if sum < 4800 || sum > 5200 {
		t.Errorf("the mean of ten thousand is %v", sum/10000)
	}
}
